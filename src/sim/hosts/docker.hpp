#pragma once

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"

namespace jobman::sim {

/// A docker daemon of this machine for its simulated hosts.
struct Docker {
  base::Path client = {};
  base::Path socket = {};
};
inline constexpr const char* kDockerSocket = "/var/run/docker.sock";

/// An error unless a daemon answers at the socket and there is a client to ask it with.
base::Result<Docker> FindDocker(const base::Path& socket);
/// Removes all containers that have a folder in `folder` mounted, also those that run. Containers
/// are processes of the daemon: they do not end with the host that started them.
void EndContainers(const Docker& docker, const base::Path& folder);

}  // namespace jobman::sim

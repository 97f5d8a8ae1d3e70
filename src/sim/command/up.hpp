#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "sim/hosts/docker.hpp"
#include "sim/wire/json.hpp"

namespace jobman::sim {

/// `jobman-sim up`, as the command line gives it.
struct UpOptions {
  std::vector<std::string> argv = {};  ///< the command line itself, for the daemon
  base::Path dir = {};
  int port = 0;
  int ssh_port = 0;
  int backlog = 0;  ///< of hosts without a sandbox; 0: as that of sshd
  bool detach = false;
  bool light = false;
  bool no_sandbox = false;
  bool fuse = false;
  bool json = false;
  std::vector<std::string> given = {};  ///< options that only a new simulator heeds: "--delays"
  std::string token = {};               ///< that requests must carry; empty: a random one
  std::string settings_file = {};
  std::vector<std::string> settings = {};  ///< KEY=VALUE
  std::vector<std::string> shared = {};    ///< folders for all hosts
  base::Path homes = {};              ///< holds the homes of all hosts; empty: each has its own
  std::string socket = {};            ///< of a docker daemon that hosts may use; empty: none
  std::optional<Docker> docker = {};  ///< set by RunUp: the daemon at the socket
  Json script = {};                   ///< ParseScript of the initial script; null: none
};

/// Serves until SIGINT, SIGTERM or `down`; with `detach` starts a daemon for that and returns when
/// it answers. If a simulator already serves this folder, reports it; that is a success unless one
/// of the options would change it. Returns the exit code.
int RunUp(const UpOptions& options);

}  // namespace jobman::sim

#pragma once

#include <string>

#include "jobman/base/result.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/base/task.hpp"

namespace jobman::client {

/// The endpoint that stands for the simulator of this home folder.
inline constexpr const char* kLocal = "local";

/// The simulator of this home folder, as described by its sim.json.
struct LocalCloud {
  std::string endpoint = {};
  int ssh_port = 22;
  std::int64_t pid = 0;
  std::string user = {};   ///< the only user who can log in, if hosts have no users of their own
  std::string token = {};  ///< the only credential that it may get; no other simulator has it
};

/// The running simulator, known by the lock that it holds on its folder. kNotFound if none runs;
/// kPermissionDenied if sim.json or its folder is not ours alone to write, or if it names an
/// endpoint that is not on this machine.
base::Result<LocalCloud> FindLocalCloud(const base::StatePaths& paths);
/// The same, but starts the simulator if none runs: `SIMULATOR up --detach`; `simulator` is a path
/// or a name on PATH. Returns when it answers; kDeadlineExceeded after a minute.
base::Task<base::Result<LocalCloud>> StartLocalCloud(base::StatePaths paths, base::Path simulator);

}  // namespace jobman::client

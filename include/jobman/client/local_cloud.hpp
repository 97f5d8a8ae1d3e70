#pragma once

#include <optional>
#include <string>

#include "jobman/base/result.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/base/task.hpp"

namespace jobman::client {

/// The endpoint that means the simulator of this home folder.
inline constexpr const char* kLocal = "local";

/// The simulator of this home folder, as its sim.json tells.
struct LocalCloud {
  std::string endpoint = {};
  int ssh_port = 22;
  std::int64_t pid = 0;
  std::string user = {};  ///< who alone can log in, where hosts have no users of their own
};

/// The running simulator; nothing when none runs.
std::optional<LocalCloud> FindLocalCloud(const base::StatePaths& paths);
/// The same, started when none runs: `jobman-sim up --detach`, found beside this program or on
/// PATH. Ends when it answers; kDeadlineExceeded after a minute.
base::Task<base::Result<LocalCloud>> StartLocalCloud(base::StatePaths paths);

}  // namespace jobman::client

#pragma once

#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/result.hpp"
#include "sim/wire/json.hpp"

namespace jobman::sim {

/// sim.json: facts about a running simulator.
struct SimFile {
  int pid = 0;
  std::string endpoint = {};  ///< "http://127.0.0.1:8400"
  int ssh_port = 0;
  int metadata_port = 0;     ///< of the hosts' metadata server; 0: there is none
  std::string sandbox = {};  ///< "bubblewrap", "none", "light"
  std::string user = {};     ///< the only login of hosts without a sandbox; else empty
  std::string started = {};  ///< RFC 3339
};

/// The lock that a running simulator holds on its folder; the kernel releases it when it dies.
base::UniqueFd TryLock(const base::Path& dir);
/// Whether a simulator runs in this folder, or is starting.
bool IsHeld(const base::Path& dir);

/// JOBMAN_SIM_DIR, else "sim" in jobman's state folder.
base::Path DefaultSimDir();
base::Path SimFilePath(const base::Path& dir);
Json ToJson(const SimFile& file);
base::Result<SimFile> ReadSimFile(const base::Path& dir);
base::Status WriteSimFile(const base::Path& dir, const SimFile& file);

}  // namespace jobman::sim

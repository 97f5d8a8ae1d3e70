#pragma once

#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/result.hpp"
#include "sim/wire/json.hpp"

namespace jobman::sim {

/// sim.json: facts about a running simulator. Only its user can read it: the token in it lets
/// anybody run programs as that user.
struct SimFile {
  int pid = 0;
  std::string endpoint = {};  ///< "http://127.0.0.1:8400"
  int ssh_port = 0;
  int metadata_port = 0;     ///< of the hosts' metadata server; 0: there is none
  std::string sandbox = {};  ///< "bubblewrap", "none", "light"
  std::string user = {};     ///< the only login of hosts without a sandbox; else empty
  std::string started = {};  ///< RFC 3339
  std::string token = {};    ///< the bearer token that requests must carry
};

/// The lock that a running simulator holds on its folder; the kernel releases it when it dies.
base::UniqueFd TryLock(const base::Path& dir);
/// Whether a simulator runs in this folder, or is starting.
bool IsHeld(const base::Path& dir);

/// JOBMAN_SIM_DIR, else "sim" in jobman's state folder.
base::Path DefaultSimDir();
base::Path SimFilePath(const base::Path& dir);
/// Refuses a folder that others could write to: whoever writes sim.json says where commands go.
base::Status CheckSimDir(const base::Path& dir);
/// What everybody may see: all but the token.
Json ToJson(const SimFile& file);
/// Refuses a file of another user (but not to root), one that others can write to, and an endpoint
/// that is not on this machine.
base::Result<SimFile> ReadSimFile(const base::Path& dir);
/// Writes sim.json, and the token alone into the file `token`, for other clients. Mode 0600.
base::Status WriteSimFile(const base::Path& dir, const SimFile& file);
void RemoveSimFile(const base::Path& dir);

}  // namespace jobman::sim

#pragma once

#include <string>
#include <vector>

#include "jobman/core/job_spec.hpp"
#include "jobman/core/stage.hpp"

/// What the stages of a job run on a host: the scripts of the built-in setup steps
/// (src/remote/setup/*.sh, called with the values of the job file), the user's own, and the command
/// in its environment. Pure text; the same job gives the same text, by whose hash a step that was
/// done is known.
namespace jobman::remote {

/// The script of a setup stage.
std::string SetupScript(const core::JobSpec& spec, const core::StageId& stage);
/// The script of the command stage: the command itself, within the environment that job.env_type
/// names. Without a command, one that never ends.
std::string CommandScript(const core::JobSpec& spec);

/// A local file that a stage needs: its content becomes the variable `name` of the run, and is
/// stored nowhere.
struct StageFile {
  std::string variable = {};
  std::string file = {};
  friend bool operator==(const StageFile&, const StageFile&) = default;
};
/// Of the step code: the variable that has the path of the archive.
inline constexpr const char* kCodeFile = "JOBMAN_CODE_FILE";
/// Of the step host-to-host: the variable that has the private key of the job.
inline constexpr const char* kPeersKey = "JOBMAN_PEERS_KEY";
/// Its file in the job's folder here.
inline constexpr const char* kPeersKeyFile = "peers_key";
/// And those that have the host keys of all hosts, as lines of a known_hosts file, and their SSH
/// port, unless it is the usual one.
inline constexpr const char* kPeersHosts = "JOBMAN_PEERS_HOSTS";
inline constexpr const char* kPeersPort = "JOBMAN_PEERS_PORT";
inline constexpr int kUsualSshPort = 22;
std::vector<StageFile> FilesOf(const core::JobSpec& spec, const core::StageId& stage);

}  // namespace jobman::remote

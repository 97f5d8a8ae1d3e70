#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/core/task.hpp"

namespace jobman::config {

// What Python jobman keeps on disk, read from the text of its files. Pure; the texts may be
// anything. The formats are those of its public history.

/// A job as `jobs/.jobman/meta.json` names it (versions 1 to 3). Paths are as written there.
struct OldJob {
  std::int64_t id = 0;
  std::string user = {};
  std::string name = {};  ///< version 3 only
  std::string folder = {};
  std::string config_file = {};
  std::string session = {};  ///< of tmux: while it is there, the old controller runs
  friend bool operator==(const OldJob&, const OldJob&) = default;
};
struct OldJobs {
  std::vector<OldJob> jobs = {};          ///< in the order of ids
  std::vector<std::string> unclear = {};  ///< a sentence for each entry that is left out
};
/// kInvalidArgument if the text is no JSON object. Keys are "job_000024" (version 2) or "000024".
base::Result<OldJobs> ReadOldJobs(std::string_view text);

/// Which log of a job a file of its `logs` is.
struct OldLog {
  std::string stage = {};  ///< as here: "run" for the command, else the step: "venv", "gcsfuse"
  int host = 0;
  friend bool operator==(const OldLog&, const OldLog&) = default;
};
/// From the file's name: "command_worker_0.log", "main_command_worker_0.log" (version 2),
/// "venv_worker_3.log". Nothing for a name of another form, such as "job.log".
std::optional<OldLog> OldLogOf(std::string_view file_name);

/// How the old tool left a task, from `TASKS_state.yaml` (version 3).
struct OldTask {
  std::string id = {};
  bool done = false;
  int runs = 0;
  int failures = 0;
  bool prioritized = false;
  std::vector<std::string> running = {};  ///< ids of the jobs that run it, as written
  std::string last = {};                  ///< status of its last run: "completed", "failed", ...
  friend bool operator==(const OldTask&, const OldTask&) = default;
};
struct OldTasks {
  std::vector<OldTask> tasks = {};  ///< in the order of the file
  std::vector<std::string> unclear = {};
};
/// kInvalidArgument if the text is no such file.
base::Result<OldTasks> ReadOldTasks(std::string_view text);
/// The record with which the task goes on here: a new one of that queue, with version 0. A task
/// that was recorded as done because it had failed too often is parked; a run that went on counts
/// as interrupted. Counts that contradict each other are made to agree.
core::Task ContinueOldTask(const OldTask& old, core::TaskDefinition definition, core::QueueId queue,
                           core::TimePoint now);

}  // namespace jobman::config

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"
#include "jobman/config/worker_file.hpp"
#include "jobman/core/task.hpp"

namespace jobman::config {

// The folder in which Python jobman keeps its state. Its generations, by what they leave there:
//
//   versions 1 to 3  jobs/.jobman/{meta.json,next_job_id.txt}, jobs/USER/ID/{config.yaml,logs}
//   version 0        jobs/.state/next_job_id.txt, jobs/ID/{config.yaml,logs}
//   lite             logs/tpus/ID-TYPE/config.yaml
//   refactor         workers.json, queue.json
//
// The formats are those of its public history. Files are read, and nothing else is done.

/// A job or worker of the old tool.
struct OldEntry {
  std::int64_t id = 0;                       ///< 0: a worker of `refactor`, which has a name alone
  std::string name = {};                     ///< empty: what its job file says
  std::string user = {};                     ///< empty: unknown
  base::Path config_file = {};               ///< its job file, absolute; empty for a worker
  std::optional<WorkerOptions> worker = {};  ///< of `refactor`, in place of a job file
  base::Path logs = {};                      ///< the folder of its logs; it need not exist
  std::vector<std::string> sessions = {};    ///< of tmux: while there is one, the old tool runs it
  std::int64_t process = 0;                  ///< that runs it; 0: unknown
  std::string node = {};                     ///< of its slice; empty: tpu.name of its job file
};

/// A submitted task of `refactor`.
struct OldSubmitted {
  core::Task task = {};      ///< with the definition, as it is to be recorded; of no queue yet
  std::string unclear = {};  ///< why it cannot be taken over; empty if it can
};

struct OldFolder {
  std::string generation = {};            ///< "version 3": for people
  base::Path dir = {};                    ///< as given, absolute
  std::vector<OldEntry> entries = {};     ///< by id, then by name
  std::int64_t last_id = 0;               ///< the largest given to a job, also to one that is gone
  std::vector<base::Path> queues = {};    ///< queue files with a state file beside them
  std::vector<OldSubmitted> tasks = {};   ///< in the order in which they were submitted
  base::Path task_logs = {};              ///< a folder for each task in it; it need not exist
  std::vector<std::string> unclear = {};  ///< a sentence for each entry that is left out
};

/// kNotFound if there is no such folder, kInvalidArgument if it is none of Python jobman or its
/// state cannot be read.
base::Result<OldFolder> ReadOldFolder(const base::Path& dir, core::TimePoint now);

/// The state file of a queue file: tasks_state.yaml beside tasks.yaml.
base::Path OldStateFileOf(const base::Path& queue_file);

}  // namespace jobman::config

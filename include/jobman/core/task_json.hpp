#pragma once

#include "jobman/base/json.hpp"
#include "jobman/core/task.hpp"

namespace jobman::core {

// A task and its runs as JSON: what the store keeps and what `--json` prints. Absent members take
// their defaults, so older records stay readable. What is unknown (a standing, how a run ended, a
// key of the definition) is an error with reason kNewerStore: a task that is done must not be read
// as one that is to be run. Times are RFC 3339 with milliseconds.

/// Without `queue` and `version`, which are the store's.
base::Json TaskToJson(const Task& task);
/// The inverse; queue and version keep their defaults. kInvalidArgument if it is no object.
base::Result<Task> TaskFromJson(const base::Json& json);

base::Json TaskRunToJson(const TaskRun& run);
base::Result<TaskRun> TaskRunFromJson(const base::Json& json);

}  // namespace jobman::core

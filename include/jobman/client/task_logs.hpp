#pragma once

#include <string>
#include <vector>

#include "jobman/base/state_paths.hpp"
#include "jobman/client/log_files.hpp"
#include "jobman/core/task_definition.hpp"

namespace jobman::client {

/// The runs of a task that have logs, ascending. They are kept when the worker is gone.
std::vector<base::TaskRunName> TaskLogRuns(const base::StatePaths& paths, core::QueueId queue,
                                           const std::string& task);
/// The logs of a run, by host.
std::vector<LogFile> TaskLogFiles(const base::StatePaths& paths, core::QueueId queue,
                                  const std::string& task, base::TaskRunName run);

}  // namespace jobman::client

#pragma once

#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/ports/job_store.hpp"
#include "jobman/ports/queue_store.hpp"

namespace jobman::client {

/// Adds to the turns of a copy's jobs, which are left to the original, that these run no task any
/// more: else nobody here would ever say how the runs ended, and no worker could take the tasks.
/// A task whose record is set aside stays as it is.
base::Task<base::Status> LeaveTasks(ports::QueueStore* queues, std::vector<ports::Turn>* turns,
                                    base::TimePoint now);

}  // namespace jobman::client

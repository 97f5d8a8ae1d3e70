#pragma once

#include <string>
#include <vector>

#include "jobman/ports/queue_store.hpp"
#include "store/sqlite.hpp"

// Rows of queues, tasks and runs <-> memory: the only place that knows their columns. What is
// written, is so in the caller's transaction.

namespace jobman::store {

/// The tasks of a queue that were written after a change; takes both. Uses an index on them.
const char* SelectTasksSql();
/// Overwrites a task's row if it still has its version. Uses an index.
const char* UpdateTaskSql();

/// kNotFound: no such queue.
Result<ports::TasksRead> SelectTasks(Database& db, core::QueueId queue, std::int64_t after);
/// kNewerStore for unknown words, kDataLoss if it is damaged or contradicts itself.
Result<core::Task> SelectTask(Database& db, core::QueueId queue, const std::string& id);
Result<std::vector<core::TaskRun>> SelectRuns(Database& db, core::QueueId queue,
                                              const std::string& id);
Result<std::vector<ports::Queue>> SelectQueues(Database& db);

/// Counts a write to the queue; kNotFound if there is none. Before the tasks are written: their
/// rows take the number.
Status CountChange(Database& db, core::QueueId queue);
Status UpdateReading(Database& db, core::QueueId queue, const ports::QueueReading& reading);
/// Inserts a task of version 0, overwrites another. False if its row is there already, or does not
/// have its version: nothing was written then.
Result<bool> WriteTask(Database& db, const core::Task& task);
/// A part of a job's turn: the task, its run, and the runs that are forgotten for it. kStale.
Status ApplyTaskWrite(Database& db, const core::TaskWrite& write);
/// With its runs. Counted by the caller before.
Status DeleteTask(Database& db, core::QueueId queue, const std::string& id);

}  // namespace jobman::store

#pragma once

#include <cstdint>
#include <string>

#include "jobman/ports/queue_store.hpp"

// Rules of task queues that all implementations of the store share.

namespace jobman::store {

/// Which tasks an answer has, given the `after` that was asked for and the queue's counters: the
/// present one, and the one at which a task was last erased, of which no change could tell. Also
/// all if `after` is of another store, whose place this one took.
bool IsComplete(std::int64_t after, std::int64_t change, std::int64_t erased);
/// Adds a record to the answer, or why it is set aside.
void AddToRead(ports::TasksRead& read, const std::string& id, base::Result<core::Task> task);
/// Puts the answer into the order that Tasks() promises.
void SortRead(ports::TasksRead& read);

/// The record, if it does not contradict itself; else kDataLoss.
base::Result<core::Task> Sound(core::Task task);
/// The largest number of a run that is forgotten when the task is as it is now.
int ForgottenUpTo(const core::Task& task);
/// kFailedPrecondition while it is run; kStale when its version has changed.
base::Status MayEraseTask(const core::Task& task, std::int64_t version);

base::Error NoSuchQueue(core::QueueId id);
base::Error NoSuchTask(const std::string& id);
base::Error StaleTask(const std::string& id);

}  // namespace jobman::store

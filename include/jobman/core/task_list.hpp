#pragma once

#include <string>
#include <vector>

#include "jobman/core/task_board.hpp"

namespace jobman::core {

/// A task of the file that cannot be used as it is written.
struct RefusedTask {
  std::string id = {};   ///< empty if it has none that can be used
  std::string why = {};  ///< one line: "tasks.yaml:12: unknown key ..."
  friend bool operator==(const RefusedTask&, const RefusedTask&) = default;
};

/// What a queue file says, as far as it can be used.
struct TaskList {
  std::vector<TaskDefinition> tasks = {};  ///< in the order of the file, each id once
  std::vector<RefusedTask> refused = {};
  friend bool operator==(const TaskList&, const TaskList&) = default;
};

/// The records to write so that the queue is what the file says. A task that is not in the file any
/// more is taken by no worker, and keeps its record; one that is there again goes on where it was.
/// A refused task stays as it is recorded. Runs that go on are not touched: a worker keeps the
/// definition that it began with. Nothing that is done is run again.
std::vector<Task> SyncTasks(const TaskList& list, const TaskBoard& board, QueueId queue,
                            TimePoint now);

/// Tasks that wait for each other in a circle, each circle as indices in its order. Without the
/// tasks named here, no circle is left. Dependencies on tasks that are not in the list are skipped.
std::vector<std::vector<std::size_t>> FindCycles(const std::vector<TaskDefinition>& tasks);

}  // namespace jobman::core

#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/core/task_board.hpp"

namespace jobman::client {

/// A job that serves a queue, and is not over.
struct QueueWorker {
  core::Job job = {};
  core::TaskWorker worker = {};
  std::string file = {};  ///< Queue::file of what it serves
};
/// All workers, by number. A job that cannot be read is none.
base::Task<base::Result<std::vector<QueueWorker>>> ReadWorkers(Context context);
/// Of these, how they appear to the queue of that file.
std::vector<core::TaskWorker> WorkersOf(const std::vector<QueueWorker>& workers,
                                        const std::string& file);

/// A queue as a command shows it: the records, and what its file says by now.
struct SeenQueue {
  ports::Queue queue = {};  ///< id 0: the store has no such queue yet
  core::TaskBoard board{};
  /// Tasks that are shown as the file has them: no controller has read that yet.
  std::set<std::string, std::less<>> previewed = {};
  std::vector<ports::TaskSetAside> set_aside = {};
  std::string error = {};  ///< why the file as a whole is not used; empty if it is
  std::vector<core::RefusedTask> refused = {};
  std::vector<std::string> warnings = {};
};

/// "submitted tasks", or the file's path.
std::string QueueTitle(const ports::Queue& queue);

/// The queue of the file (ports::kSubmittedQueue: that of submitted tasks). Without one, all queues
/// of the store; if it has none, that of tasks.yaml in the working folder, if there is one. Reads a
/// queue file that has changed since a controller read it, and writes nothing. kNotFound: neither
/// the store nor the disk has the file. It may take a second for ten thousand tasks.
base::Task<base::Result<std::vector<SeenQueue>>> SeeQueues(Context context,
                                                           std::optional<std::string> file);

/// A task, and where it is.
struct TaskPlace {
  const SeenQueue* queue = nullptr;
  const core::Task* task = nullptr;
};
/// Every task, in the order of the file. The places point into `queue`, here and below.
std::vector<TaskPlace> TasksOf(const SeenQueue& queue);
std::vector<TaskPlace> TasksOf(const std::vector<SeenQueue>& queues);
/// The tasks that `words` refer to, in that order, without duplicates. A word with * or ? that is
/// no task's id stands for every task whose id matches. kNotFound if a word finds nothing, with
/// the nearest id, or why its file's task is refused; kInvalidArgument if several queues have a
/// task of that id.
base::Result<std::vector<TaskPlace>> FindTasks(const std::vector<SeenQueue>& queues,
                                               const std::vector<std::string>& words);
/// Whether a queue of the store has a task of this id, or its file has one that is refused. No file
/// is read.
base::Task<base::Result<bool>> IsTaskOfStore(Context context, std::string id);

/// What a task becomes: core::ResetTask() and the like.
using TaskEdit = std::function<core::Task(core::Task task, core::TimePoint now)>;
/// A task of the store.
struct TaskKey {
  core::QueueId queue = {};
  std::string id = {};
  friend bool operator==(const TaskKey&, const TaskKey&) = default;
};
/// Changes each task as it is recorded by then, wakes the controller, and returns what was written,
/// in the order of `tasks`. One that somebody else writes in the same moment is tried again, a few
/// times: then kAborted. kNotFound if a task is gone. Either may come after others were written.
base::Task<base::Result<std::vector<core::Task>>> ChangeTasks(Context context,
                                                              std::vector<TaskKey> tasks,
                                                              TaskEdit edit);
/// Forgets a task, its runs and their logs. kFailedPrecondition while it is run, or as long as its
/// queue file has it: it would come back.
base::Task<base::Status> EraseTask(Context context, TaskKey key);

}  // namespace jobman::client

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/core/task_list.hpp"

namespace jobman::ports {

using base::Result;
using base::Status;
using base::Task;
using core::QueueId;

/// How many runs of a task a store remembers: those with the largest numbers. Each is about 200
/// bytes, so ten thousand tasks take 200 MB at most.
inline constexpr int kRunsKept = 100;

/// Queue::file of the store's own queue, which has the tasks of `task submit`. No file is behind
/// it, so it is never synced with one. A worker without `job.queue.config` serves it.
inline constexpr std::string_view kSubmittedQueue = "";

/// What was seen when a queue file was last read.
struct QueueReading {
  core::TimePoint at = {};  ///< the epoch: it never was
  /// Why the file as a whole is not used, and the last good one goes on; empty if it is used.
  std::string error = {};
  /// Of the content that the tasks were last taken from, in the caller's form; empty: of none.
  std::string fingerprint = {};
  std::vector<core::RefusedTask> refused = {};  ///< tasks of it that are not used, and why
  std::vector<std::string> warnings = {};       ///< what may not be what was meant
  friend bool operator==(const QueueReading&, const QueueReading&) = default;
};

struct Queue {
  QueueId id = {};
  std::string file = {};  ///< absolute, without links (base::RealPath); or kSubmittedQueue
  QueueReading reading = {};
  std::int64_t change = 0;  ///< grows with each write of its tasks, or of the reading
  friend bool operator==(const Queue&, const Queue&) = default;
};

/// A task whose record is of no use: a newer jobman wrote it, it is damaged, or it contradicts
/// itself. It is left alone: no worker takes it, and the others go on.
struct TaskSetAside {
  std::string id = {};
  std::string why = {};  ///< one sentence
  friend bool operator==(const TaskSetAside&, const TaskSetAside&) = default;
};

struct TasksRead {
  std::vector<core::Task> tasks = {};        ///< in the order of the file, then of ids
  std::vector<TaskSetAside> set_aside = {};  ///< in the order of ids
  std::int64_t change = 0;                   ///< Queue::change: `after` of the next call
  bool complete = true;  ///< all of the queue; if not, only those written since `after`
  friend bool operator==(const TasksRead&, const TasksRead&) = default;
};

/// Stores queues, their tasks, and the runs of these. The changes of a worker's turn are written by
/// JobStore::Commit(), with its job. As there: several processes may use one store, every call may
/// wait, and a write that returns an error was not carried out. Reasons of errors: kDiskFull,
/// kNotWritable, kNewerStore, kStale, kLeaseLost. The object must outlive its coroutines.
///
/// Versions: a task is written with the Task::version that it was read with, and has the next one
/// afterwards. Version 0 is a task that the store does not have yet; it is stored as version 1.
class QueueStore {
 public:
  virtual ~QueueStore() = default;

  /// The queue of that file, made if there is none. `file`: absolute, without links, so that one
  /// file has one queue; it is not looked at.
  virtual Task<Result<QueueId>> OpenQueue(std::string file) = 0;
  /// All queues, in the order of their ids.
  virtual Task<Result<std::vector<Queue>>> Queues() = 0;

  /// The tasks of the queue; with `after`, the `change` of an earlier call, those written since.
  /// Takes time by what it returns. A set-aside record does not make it fail. kNotFound: no such
  /// queue.
  virtual Task<Result<TasksRead>> Tasks(QueueId queue, std::int64_t after) = 0;
  /// kNotFound if there is none; kNewerStore or kDataLoss if it is set aside.
  virtual Task<Result<core::Task>> GetTask(QueueId queue, std::string id) = 0;
  /// The last kRunsKept runs of a task in the order of their numbers; none of an unknown task.
  virtual Task<Result<std::vector<core::TaskRun>>> Runs(QueueId queue, std::string id) = 0;

  /// Writes that the file was read, and what core::SyncTasks() made of it, at once or not at all.
  /// kStale when one of the tasks has changed since it was read, or is there already although it
  /// is new: read them again. A new task whose record is set aside is not written, and no error:
  /// Tasks() told the caller nothing of it. kLeaseLost when `lease_token` is not the current one.
  virtual Task<Status> SyncQueue(QueueId queue, QueueReading reading, std::vector<core::Task> tasks,
                                 std::int64_t lease_token) = 0;
  /// Writes what a user changed (core::ResetTask and the like), or a new task that is in no file.
  /// Needs no lease, as JobStore::SetWish(). Returns the ids of tasks that were not written since
  /// they have changed or are gone; the caller reads these again. The others are written.
  virtual Task<Result<std::vector<std::string>>> ChangeTasks(std::vector<core::Task> tasks) = 0;
  /// Ends runs whose worker does not have them any more: its job was erased, say. As with the
  /// releases of JobStore::Commit(), a claim that is not there any more is passed over. kLeaseLost
  /// when `lease_token` is not the current one; then nothing is written.
  virtual Task<Status> ReleaseTasks(std::vector<core::TaskRelease> releases,
                                    std::int64_t lease_token) = 0;
  /// Forgets a task and its runs, if its version is `version`: else kStale. kFailedPrecondition
  /// while it is run. If it comes back in the file, its runs count from 1 again: remove its logs.
  virtual Task<Status> EraseTask(QueueId queue, std::string id, std::int64_t version) = 0;
};

}  // namespace jobman::ports

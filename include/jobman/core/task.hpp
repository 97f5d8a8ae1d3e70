#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobman/base/id.hpp"
#include "jobman/core/job.hpp"
#include "jobman/core/task_definition.hpp"
#include "jobman/core/task_end.hpp"

namespace jobman::core {

// A task of a queue: what is to be run, how it stands, and who runs it. Pure: what follows is
// decided here, recorded by a store, and done by the worker's job (docs/adr/0023-task-queue.md).

/// A worker runs the task. Job, attempt and run together are never used again: news of a run that
/// names another claim is of an earlier one, and is dropped.
struct TaskClaim {
  JobId job = {};   ///< the worker
  int attempt = 0;  ///< of that job
  int run = 0;      ///< the number of the task's run
  TimePoint since = {};
  friend bool operator==(const TaskClaim&, const TaskClaim&) = default;
};
/// Whether both are the same claim.
bool IsSameClaim(const TaskClaim& one, const TaskClaim& other);

// --- How a task stands, apart from the runs that go on. ---

/// It is to be run, for the first time or again.
struct TaskOpen {
  friend bool operator==(const TaskOpen&, const TaskOpen&) = default;
};
struct TaskDone {
  TimePoint at = {};
  bool by_user = false;  ///< `queue --done`, and no run of its own
  friend bool operator==(const TaskDone&, const TaskDone&) = default;
};
/// It failed max_retries times, and is parked until the user puts it back.
struct TaskParked {
  TimePoint at = {};
  friend bool operator==(const TaskParked&, const TaskParked&) = default;
};
using TaskStanding = std::variant<TaskOpen, TaskDone, TaskParked>;

struct Task {
  QueueId queue = {};
  TaskDefinition definition = {};
  int order = 0;             ///< its place in the file, from 0
  bool listed = true;        ///< the file has it; if not, it is kept for its history
  bool paused = false;       ///< no other run begins; one that goes on ends by itself
  bool prioritized = false;  ///< taken before all others; until a worker takes it
  TaskStanding standing = TaskOpen{};
  std::vector<TaskClaim> claims = {};
  int runs = 0;               ///< begun so far; the number of the last one. Never goes back
  int failures = 0;           ///< since it was last put back, or done
  int interruptions = 0;      ///< runs that ended for no fault of the task
  int streak = 0;             ///< interruptions in a row that lost no slice
  TimePoint not_before = {};  ///< when the next run may begin
  TimePoint since = {};       ///< of the last change that `why` tells
  std::string why = {};       ///< the last change, in one sentence
  std::int64_t version = 0;   ///< counts writes; a stale writer is refused
  friend bool operator==(const Task&, const Task&) = default;
};

/// One run of a task, for the queue's history.
struct TaskRun {
  int number = 0;  ///< from 1
  JobId job = {};
  int attempt = 0;
  TimePoint started_at = {};
  std::optional<TimePoint> ended_at = {};
  std::optional<TaskEnd> end = {};
  friend bool operator==(const TaskRun&, const TaskRun&) = default;
};

/// How a worker appears to the queue.
enum class WorkerPhase {
  kIdle,       ///< its slice is set up and nothing runs there
  kBusy,       ///< it runs a task
  kPreparing,  ///< it waits for its slice, or sets it up
  kDraining,   ///< it takes no other task
};
struct TaskWorker {
  JobId job = {};
  int attempt = 0;
  std::string accelerator = {};
  std::string zone = {};
  WorkerPhase phase = WorkerPhase::kIdle;
  friend bool operator==(const TaskWorker&, const TaskWorker&) = default;
};

/// A task after a change, and the run that the change concerns. Both are written in the
/// transaction that writes the worker's job.
struct TaskChange {
  Task task = {};
  TaskRun run = {};
  friend bool operator==(const TaskChange&, const TaskChange&) = default;
};

/// The end of a run, as the worker's job records it. The store applies it to the task's record as
/// that is then, by ReleaseTask(), in the transaction that writes the job: what has changed in the
/// task meanwhile does not matter. A claim that is not there any more is passed over.
struct TaskRelease {
  QueueId queue = {};
  std::string task = {};  ///< its id
  TaskClaim claim = {};
  TaskEnd end = {};
  TimePoint at = {};
  friend bool operator==(const TaskRelease&, const TaskRelease&) = default;
};
/// What a decision about a worker writes of tasks. A record (TaskChange) is refused as kStale if
/// its version has changed, and the decision with it; a release never is. In the order of the list:
/// a run may begin and end in one transaction.
using TaskWrite = std::variant<TaskChange, TaskRelease>;

/// Whether the worker may run it now, its dependencies aside (see TaskBoard).
bool MayRun(const Task& task, const TaskWorker& worker, TimePoint now);
/// Begins a run on the worker. Nothing when MayRun() says no: the offer was made from an older
/// record.
std::optional<TaskChange> ClaimTask(Task task, const TaskWorker& worker, TimePoint now);
/// Ends the run of a claim. Nothing if the task has no such claim: it has ended already.
std::optional<TaskChange> ReleaseTask(Task task, const TaskClaim& claim, const TaskEnd& end,
                                      TimePoint now);

// --- What a user may change. A run that goes on is not touched by any of these. ---

/// `queue --reset`: as if it had never been run, except that its runs go on counting: their
/// numbers name folders of logs.
Task ResetTask(Task task, TimePoint now);
/// `task requeue`: to be run again, also if it is parked, done or paused. Its failures count anew.
Task RequeueTask(Task task, TimePoint now);
Task PauseTask(Task task, bool paused, TimePoint now);
/// `queue --prioritize`.
Task PrioritizeTask(Task task, bool prioritized);
/// `queue --done`: it needs no run (any more).
Task MarkTaskDone(Task task, TimePoint now);

/// The word for it in `queue`, docs/states.md and `--json`.
enum class TaskState { kQueued, kBlocked, kRunning, kDone, kFailed, kPaused, kRemoved };
/// `blocked`: a dependency is not done (TaskBoard::StateOf).
TaskState StateOfTask(const Task& task, bool blocked);
/// "QUEUED", "BLOCKED", ...
std::string_view TaskStateName(TaskState state);

/// How the record contradicts itself, in a sentence; nothing when it is sound.
std::optional<std::string> FlawOf(const Task& task);

/// How long the next run waits after so many interruptions in a row.
Duration PauseAfter(int streak);

}  // namespace jobman::core

#include "jobman/core/task.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/name_table.hpp"
#include "jobman/base/backoff.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

constexpr std::array<std::pair<TaskState, std::string_view>, 7> kTaskStateNames = {{
    {TaskState::kQueued, "QUEUED"},
    {TaskState::kBlocked, "BLOCKED"},
    {TaskState::kRunning, "RUNNING"},
    {TaskState::kDone, "DONE"},
    {TaskState::kFailed, "FAILED"},
    {TaskState::kPaused, "PAUSED"},
    {TaskState::kRemoved, "REMOVED"},
}};

/// After this many interruptions in a row the next run begins with a pause.
constexpr int kFirstPause = 2;
constexpr base::Backoff kInterrupted = {.base = std::chrono::seconds{15},
                                        .cap = std::chrono::minutes{10}};

bool IsOpen(const Task& task) {
  return std::holds_alternative<TaskOpen>(task.standing);
}

bool IsTaskDone(const Task& task) {
  return std::holds_alternative<TaskDone>(task.standing);
}

/// How often it may fail. Its first run is one, whatever the file says.
int MostFailures(const Task& task) {
  return std::max(task.definition.max_retries, 1);
}

void TellOfTask(Task& task, std::string why, TimePoint now) {
  task.why = std::move(why);
  task.since = now;
}

std::string RunOn(int run, JobId job) {
  return "run " + std::to_string(run) + " on job " + FormatJobId(job);
}

/// Forgets what stands against another run.
void PutBack(Task& task) {
  task.standing = TaskOpen{};
  task.paused = false;
  task.failures = 0;
  task.streak = 0;
  task.not_before = {};
}

void SucceedTask(Task& task, TimePoint now) {
  if (!IsTaskDone(task)) task.standing = TaskDone{.at = now};
  task.failures = 0;
  task.streak = 0;
}

/// Returns what follows, for the sentence.
std::string FailTask(Task& task, TimePoint now) {
  if (IsTaskDone(task)) return {};
  ++task.failures;
  task.streak = 0;
  const std::string count =
      std::to_string(task.failures) + " of " + base::Plural(MostFailures(task), "failure");
  if (IsOpen(task) && task.failures >= MostFailures(task)) task.standing = TaskParked{.at = now};
  return IsOpen(task) ? " (" + count + ")" : " (" + count + ", the most that max_retries allows)";
}

void InterruptTask(Task& task, bool slice_lost, TimePoint now) {
  ++task.interruptions;
  if (slice_lost) return;
  ++task.streak;
  task.not_before = now + PauseAfter(task.streak);
}

/// Returns what follows, for the sentence.
std::string Follow(Task& task, const TaskEnd& end, TimePoint now) {
  switch (end.kind) {
    case TaskEndKind::kSucceeded:
      SucceedTask(task, now);
      return {};
    case TaskEndKind::kFailed:
      return FailTask(task, now);
    case TaskEndKind::kInterrupted:
      InterruptTask(task, end.slice_lost, now);
      return {};
    case TaskEndKind::kStopped:
      return {};
  }
  return {};
}

/// " failed: exit code 3 on host 0", " was interrupted: slice S was preempted".
std::string EndText(const TaskEnd& end) {
  const bool passive = end.kind == TaskEndKind::kInterrupted || end.kind == TaskEndKind::kStopped;
  return (passive ? " was " : " ") + std::string(TaskEndName(end.kind)) +
         (end.why.empty() ? "" : ": " + end.why);
}

std::optional<std::string> FlawOfClaims(const Task& task) {
  for (auto claim = task.claims.begin(); claim != task.claims.end(); ++claim) {
    if (claim->run < 1 || claim->run > task.runs) return "a claim of a run that never began";
    const bool twice = std::any_of(task.claims.begin(), claim, [&](const TaskClaim& other) {
      return other.run == claim->run || other.job == claim->job;
    });
    if (twice) return "two claims of one run, or by one job";
  }
  return std::nullopt;
}

}  // namespace

bool IsSameClaim(const TaskClaim& one, const TaskClaim& other) {
  return one.job == other.job && one.attempt == other.attempt && one.run == other.run;
}

bool MayRun(const Task& task, const TaskWorker& worker, TimePoint now) {
  const TaskDefinition& wanted = task.definition;
  const bool fits = !wanted.zone.empty() && wanted.zone == worker.zone &&
                    wanted.accelerator == worker.accelerator;
  const bool open = task.listed && !task.paused && IsOpen(task) && now >= task.not_before;
  const bool own = std::any_of(task.claims.begin(), task.claims.end(),
                               [&](const TaskClaim& claim) { return claim.job == worker.job; });
  return fits && open && !own && static_cast<int>(task.claims.size()) < wanted.max_jobs;
}

std::optional<TaskChange> ClaimTask(Task task, const TaskWorker& worker, TimePoint now) {
  if (!MayRun(task, worker, now)) return std::nullopt;
  ++task.runs;
  task.prioritized = false;
  task.claims.push_back(
      {.job = worker.job, .attempt = worker.attempt, .run = task.runs, .since = now});
  TellOfTask(task, RunOn(task.runs, worker.job) + " began", now);
  const TaskRun run{
      .number = task.runs, .job = worker.job, .attempt = worker.attempt, .started_at = now};
  return TaskChange{.task = std::move(task), .run = run};
}

std::optional<TaskChange> ReleaseTask(Task task, const TaskClaim& claim, const TaskEnd& end,
                                      TimePoint now) {
  const auto found = std::find_if(task.claims.begin(), task.claims.end(),
                                  [&](const TaskClaim& one) { return IsSameClaim(one, claim); });
  if (found == task.claims.end()) return std::nullopt;
  TaskRun run{.number = found->run,
              .job = found->job,
              .attempt = found->attempt,
              .started_at = found->since,
              .ended_at = now,
              .end = end};
  task.claims.erase(found);
  const std::string follows = Follow(task, end, now);
  TellOfTask(task, RunOn(run.number, run.job) + EndText(end) + follows, now);
  return TaskChange{.task = std::move(task), .run = std::move(run)};
}

Task ResetTask(Task task, TimePoint now) {
  PutBack(task);
  task.prioritized = false;
  task.interruptions = 0;
  TellOfTask(task, "reset by the user", now);
  return task;
}

Task RequeueTask(Task task, TimePoint now) {
  PutBack(task);
  TellOfTask(task, "put back by the user", now);
  return task;
}

Task PauseTask(Task task, bool paused, TimePoint now) {
  if (task.paused == paused) return task;
  task.paused = paused;
  // What is over keeps the sentence that says how.
  if (!IsOpen(task)) return task;
  TellOfTask(task, paused ? "paused by the user" : "continued by the user", now);
  return task;
}

Task PrioritizeTask(Task task, bool prioritized) {
  task.prioritized = prioritized;
  return task;
}

Task MarkTaskDone(Task task, TimePoint now) {
  if (IsTaskDone(task)) return task;
  PutBack(task);
  task.standing = TaskDone{.at = now, .by_user = true};
  TellOfTask(task, "done, the user says", now);
  return task;
}

TaskState StateOfTask(const Task& task, bool blocked) {
  if (task.listed && IsTaskDone(task)) return TaskState::kDone;
  if (!task.claims.empty()) return TaskState::kRunning;
  if (!task.listed) return TaskState::kRemoved;
  if (!IsOpen(task)) return TaskState::kFailed;
  if (task.paused) return TaskState::kPaused;
  return blocked ? TaskState::kBlocked : TaskState::kQueued;
}

std::string_view TaskStateName(TaskState state) {
  return NameIn(kTaskStateNames, state);
}

std::optional<std::string> FlawOf(const Task& task) {
  if (task.definition.id.empty()) return "a task without an id";
  if (task.failures < 0 || task.failures > task.runs) return "more failures than runs";
  if (task.interruptions < task.streak || task.interruptions > task.runs || task.streak < 0) {
    return "interruptions that do not add up";
  }
  const bool parked = std::holds_alternative<TaskParked>(task.standing);
  if (parked && task.failures == 0) return "parked without a failure";
  return FlawOfClaims(task);
}

Duration PauseAfter(int streak) {
  return streak < kFirstPause ? Duration{0} : kInterrupted.Bound(streak - kFirstPause + 1);
}

}  // namespace jobman::core

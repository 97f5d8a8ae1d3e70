// A worker: a job that serves a queue. Its slice is set up once, then runs one task after the
// other; a run of a task is a stage.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/reconcile/turn.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

/// What the stage shows of the run.
TaskRunFacts FactsOf(const Stage& stage, const std::string& lost) {
  TaskRunFacts facts;
  const std::optional<int>& rule = stage.task->rule;
  if (rule) facts.rule = static_cast<std::size_t>(*rule);
  if (stage.AllSucceeded() && !rule) return facts;  // whatever became of the slice
  const HostRun* const culprit = Culprit(stage);
  if (!lost.empty()) {
    facts.lost = lost;
  } else if (culprit != nullptr && culprit->phase == HostPhase::kLost) {
    facts.lost = DescribeFailure(stage, *culprit);
  } else if (culprit != nullptr && stage.told) {
    facts.lost = fmt::format("notice of {} ({})", NoticeKindName(stage.told->notice.kind),
                             stage.told->notice.text);
  } else if (culprit != nullptr) {
    facts.exit_code = culprit->exit_code;
    facts.host = culprit->host;
  } else if (!stage.AllSucceeded()) {
    facts.lost = "its hosts were given up";
  }
  return facts;
}

bool IsStoppedByUser(const Job& job) {
  if (HasFailedTask(*job.stage)) return false;
  const auto& stop = job.stage->stop;
  return std::holds_alternative<Cancelling>(job.state) ||
         std::holds_alternative<Deleting>(job.state) ||
         (stop && std::holds_alternative<StoppedByUser>(*stop));
}

/// What has succeeded is not run again, whoever stopped it.
TaskEnd EndOf(const Job& job, const std::string& lost) {
  TaskEnd end = JudgeTaskRun(FactsOf(*job.stage, lost));
  if (end.kind == TaskEndKind::kSucceeded) return end;
  if (IsStoppedByUser(job)) {
    return {.kind = TaskEndKind::kStopped, .why = "the user stopped its worker"};
  }
  const Alarm* const alarm = job.stage->alarm();
  if (alarm == nullptr || !lost.empty()) return end;
  return {.kind = TaskEndKind::kFailed,
          .why = fmt::format("watchdog {}: {}", alarm->rule, alarm->text)};
}

TaskClaim ClaimOf(const Job& job) {
  return {.job = job.id,
          .attempt = job.attempt,
          .run = std::get<TaskStage>(job.stage->id).run,
          .since = job.stage->started_at};
}

TaskRelease ReleaseOf(const Turn& turn, const std::string& lost) {
  const TaskInHand& task = *turn.job.stage->task;
  TaskRelease release{.queue = task.queue,
                      .task = task.definition.id,
                      .claim = ClaimOf(turn.job),
                      .end = EndOf(turn.job, lost),
                      .at = turn.now};
  release.end.commit = task.commit;
  return release;
}

/// "run 3 of task lr1 failed: exit code 3 on host 0"
std::string ReleaseText(const TaskRelease& release) {
  const TaskEndKind kind = release.end.kind;
  const bool passive = kind == TaskEndKind::kInterrupted || kind == TaskEndKind::kStopped;
  return fmt::format("run {} of task {} {}{}: {}", release.claim.run, release.task,
                     passive ? "was " : "", TaskEndName(kind), release.end.why);
}

/// Whether something may be started on the slice, as far as is known.
bool MayTake(const Slice& slice) {
  const bool leaves = slice.notice && slice.notice->imminent;
  return slice.phase == SlicePhase::kCreated && slice.ready && !slice.unhealthy_since &&
         !slice.not_found_since && !leaves;
}

/// The first host that the task names and the slice does not have.
std::optional<int> HostBeyond(const TaskDefinition& task, const Slice& slice) {
  const auto count = static_cast<int>(slice.hosts.size());
  const auto& numbers = task.workers.numbers;
  const auto beyond = std::find_if(numbers.begin(), numbers.end(),
                                   [&](int number) { return number < 0 || number >= count; });
  if (task.workers.all || beyond == numbers.end()) return std::nullopt;
  return *beyond;
}

/// Offered again and again, it could be run nowhere: it is failed until it is parked.
void FailUnfit(Turn& turn, const TaskChange& claimed, int host) {
  const Task& task = claimed.task;
  const auto count = static_cast<int>(turn.job.slice->hosts.size());
  turn.tasks.push_back(
      TaskRelease{.queue = task.queue,
                  .task = task.definition.id,
                  .claim = task.claims.back(),
                  .end = {.kind = TaskEndKind::kFailed,
                          .why = fmt::format("its workers name host {}, and a {} has {}", host,
                                             task.definition.accelerator, HostsText(count))},
                  .at = turn.now});
  const auto& release = std::get<TaskRelease>(turn.tasks.back());
  turn.TellOfTask(release, ReleaseText(release));
  turn.Say(ReleaseText(release));
}

void BeginTask(Turn& turn, const TaskChange& claimed) {
  Job& job = turn.job;
  const TaskDefinition& task = claimed.task.definition;
  const StageId id = TaskStage{.task = task.id, .run = claimed.run.number};
  Stage stage{.id = id,
              .name = StageName(job.spec, id),
              .generation = job.slice->generation,
              .started_at = turn.now,
              .task = TaskInHand{.queue = claimed.task.queue, .definition = task}};
  const auto count = static_cast<int>(job.slice->hosts.size());
  for (int host = 0; host < count; ++host) {
    if (task.workers.Contains(host)) stage.hosts.push_back({.host = host});
  }
  const auto used = static_cast<std::int64_t>(stage.hosts.size());
  ++job.task_runs;
  job.stage = std::move(stage);
  turn.Do(RunStage{.attempt = job.attempt, .stage = id});
  if (job.slice->notice) turn.Do(NoticeToPass(job));
  turn.Enter(Running{}, fmt::format("run {} of task {} on {} of {}", claimed.run.number, task.id,
                                    used, base::Plural(count, "host")));
}

/// Returns whether the task was taken. An offer that was made from an older record is passed over.
bool TookTask(Turn& turn) {
  if (!turn.facts.offer || !MayTake(*turn.job.slice) || NoticeOfEnd(turn)) return false;
  auto claimed = ClaimTask(*turn.facts.offer, *WorkerOf(turn.job), turn.now);
  if (!claimed) return false;
  turn.tasks.push_back(*claimed);
  const auto beyond = HostBeyond(claimed->task.definition, *turn.job.slice);
  if (beyond) {
    FailUnfit(turn, *claimed, *beyond);
  } else {
    BeginTask(turn, *claimed);
  }
  return true;
}

void GiveBackWhenIdle(Turn& turn) {
  const auto& limit = turn.job.spec.queue->idle;
  if (!limit || turn.now - turn.job.since < *limit) return;
  const std::string name = turn.slice_name();
  const bool own = !turn.job.slice->ref.existing;
  GiveSliceUp(turn);
  turn.Rest(Done{.outcome = Outcome::kSucceeded}, {.outcome = AttemptOutcome::kSucceeded},
            fmt::format("idle for {}: {} {}, as job.queue.idle says", base::FormatDuration(*limit),
                        own ? "slice" : "node", name + (own ? " is given back" : " is let go")));
}

}  // namespace

void BeginWorkOn(Turn& turn) {
  Job& job = turn.job;
  if (!job.spec.queue) return BeginStage(turn, CommandStage{});
  job.search.reset();
  turn.set_up = true;
  turn.Enter(Idle{}, fmt::format("slice {} is set up: waiting for {}", turn.slice_name(),
                                 AwaitedTask(*job.spec.queue)));
  turn.Tell(HookEvent::kStarted, turn.why);
}

void DropStage(Turn& turn, const std::string& lost) {
  std::optional<Stage>& stage = turn.job.stage;
  if (stage && stage->task) {
    TaskRelease release = ReleaseOf(turn, lost);
    turn.TellOfTask(release, ReleaseText(release));
    turn.tasks.emplace_back(std::move(release));
  }
  stage.reset();
}

void EndTask(Turn& turn) {
  Job& job = turn.job;
  const std::string name = job.stage->task->definition.id;
  if (job.stage->told) {
    return EndAfterNotice(turn,
                          {.code = base::Code::kAborted, .message = "task " + name + " has ended"});
  }
  DropStage(turn);
  job.spent.streak = 0;
  std::string what = ReleaseText(std::get<TaskRelease>(turn.tasks.back()));
  const std::vector<int> unstopped = job.slice->unstopped;
  if (!unstopped.empty()) {
    what += "; " + HostNames(unstopped) + " did not answer";
    GiveSliceUp(turn);
    return Recover(turn, InfraFault(AttemptOutcome::kInfra, {.code = base::Code::kUnavailable,
                                                             .message = std::move(what)}));
  }
  if (EndDrained(turn, what)) return;
  turn.Enter(Idle{}, what + "; waiting for another task");
}

bool HasFailedTask(const Stage& stage) {
  return stage.task && stage.stop &&
         (std::holds_alternative<HostFailed>(*stage.stop) ||
          std::holds_alternative<Alarm>(*stage.stop));
}

bool IsDraining(const Job& job) {
  // In any other state a wish to cancel is carried out at once.
  const bool ends = IsFinal(job.state) || std::holds_alternative<Cancelling>(job.state) ||
                    std::holds_alternative<Deleting>(job.state);
  return job.spec.queue && job.wish == Wish::kCancel && !ends;
}

bool EndDrained(Turn& turn, const std::string& what) {
  if (!IsDraining(turn.job)) return false;
  turn.Enter(Cancelling{}, what + "; cancelled by the user, so no other task is taken");
  return true;
}

void ServeAnew(Turn& turn) {
  if (!std::holds_alternative<Idle>(turn.job.state)) return;
  turn.job.restart = Restart{.cause = RestartCause::kResumed};
  turn.Rest(Queued{}, {.outcome = AttemptOutcome::kResumed},
            "the job file was changed: setting the hosts up again");
}

void Advance(Turn& turn, const Idle&) {
  if (SliceIsDead(turn)) return LoseSlice(turn, Preempted(LossOfSlice(turn)));
  if (GaveUpUnhealthy(turn)) return;
  const bool replaced = turn.AboutSlice() && turn.facts.machines_replaced && !turn.set_up;
  if (replaced) return StartOverReplaced(turn);
  if (!TookTask(turn)) GiveBackWhenIdle(turn);
}

std::optional<TaskWorker> WorkerOf(const Job& job) {
  if (!job.spec.queue || IsFinal(job.state)) return std::nullopt;
  TaskWorker worker{.job = job.id,
                    .attempt = job.attempt,
                    .accelerator = job.spec.tpu.accelerator,
                    .zone = job.spec.tpu.zone,
                    .phase = WorkerPhase::kPreparing};
  const bool ends = job.wish == Wish::kCancel || job.wish == Wish::kDelete;
  const bool busy = job.stage && job.stage->task;
  if (ends) {
    worker.phase = WorkerPhase::kDraining;
  } else if (std::holds_alternative<Idle>(job.state)) {
    worker.phase = WorkerPhase::kIdle;
  } else if (busy) {
    worker.phase = WorkerPhase::kBusy;
  }
  return worker;
}

}  // namespace jobman::core

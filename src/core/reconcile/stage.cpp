// Setup steps and the command: one stage at a time, on all its hosts.
#include <fmt/format.h>

#include <algorithm>

#include "core/overloaded.hpp"
#include "core/reconcile/fold_parts.hpp"
#include "core/reconcile/turn.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

constexpr int kBadHost = 76;           // of the step `checks`: see src/remote/setup/checks.sh
constexpr int kTemporaryFailure = 75;  // EX_TEMPFAIL of sysexits.h: the command asks for a retry
constexpr int kSetupFailed = 1;        // the job's exit code; the step's own is not the command's

std::int64_t Count(const auto& list) {
  return static_cast<std::int64_t>(list.size());
}

bool IsOptional(const Job& job) {
  const SetupStep* const step = StepOf(job.spec, job.stage->id);
  return step != nullptr && !step->required;
}

Stage MakeStage(const Job& job, const StageId& id, TimePoint now) {
  const SetupStep* const step = StepOf(job.spec, id);
  const HostSet& wanted = step == nullptr ? job.spec.command.workers : step->hosts;
  Stage stage{.id = id,
              .name = StageName(job.spec, id),
              .generation = job.slice->generation,
              .started_at = now};
  for (int host = 0; host < static_cast<int>(job.slice->hosts.size()); ++host) {
    if (wanted.Contains(host)) stage.hosts.push_back({.host = host});
  }
  return stage;
}

/// A retry cannot help until the user has done something.
bool NeedsUserAction(const base::Error& error) {
  return error.reason == base::Reason::kHostKeyChanged ||
         error.reason == base::Reason::kKeyUnreadable || error.reason == base::Reason::kDiskFull ||
         error.reason == base::Reason::kNotWritable ||
         error.code == base::Code::kFailedPrecondition ||
         error.code == base::Code::kInvalidArgument;
}

/// Machines of the slice were replaced since the stage began.
bool ReplacedUnderStage(const Turn& turn) {
  const Job& job = turn.job;
  return turn.AboutSlice() && turn.facts.machines_replaced && job.stage &&
         job.stage->generation != job.slice->generation;
}

/// Returns whether the slice was lost, and the stage with it.
bool SliceIsLost(Turn& turn) {
  if (!SliceIsDead(turn)) return false;
  const base::Error error = LossOfSlice(turn);
  if (StopSurvivors(turn, error)) return false;
  LoseSlice(turn, Preempted(error));
  return true;
}

/// One node of several has new machines: the others would wait for it for ever.
void HandleReplacedMachines(Turn& turn) {
  if (!ReplacedUnderStage(turn)) return;
  StopFor(turn, MachinesReplaced{},
          fmt::format("some machines of slice {} were replaced: stopping {} on the others",
                      turn.slice_name(), turn.job.stage->name));
}

void CheckStepLimit(Turn& turn) {
  const Stage& stage = *turn.job.stage;
  const SetupStep* const step = StepOf(turn.job.spec, stage.id);
  if (step == nullptr || !step->timeout || stage.stop || !stage.AnyRuns()) return;
  if (turn.now - stage.started_at < *step->timeout) return;
  StopFor(turn, StepTimedOut{},
          fmt::format("{} passed its limit of {}: stopping it", stage.name,
                      base::FormatDuration(*step->timeout)));
}

/// A failure on one host ends the stage on all: a collective would hang for ever. The failed host
/// is stopped too, since leftover processes may hold the chips. After a notice an exit is not a
/// failure, and the other hosts may still be saving their state.
void StopAfterFailure(Turn& turn) {
  Stage& stage = *turn.job.stage;
  const HostRun* const culprit = Culprit(stage);
  if (culprit == nullptr || IsOptional(turn.job) || stage.stop) return;
  if (stage.told && !stage.told->first_failed) stage.told->first_failed = culprit->host;
  if (stage.AnyRuns() && NoticeGraceLasts(turn)) return;
  const std::string what = DescribeFailure(stage, *culprit);
  StopFor(turn, HostFailed{culprit->host},
          what + (stage.AnyRuns() ? ": stopping the others" : ": ending what it left behind"));
}

void FailTimedOutStep(Turn& turn) {
  const Stage& stage = *turn.job.stage;
  base::Error late{.code = base::Code::kDeadlineExceeded,
                   .message = stage.name + " passed its time limit",
                   .hint = "raise the step's timeout, or see jobman logs " +
                           FormatJobId(turn.job.id) + " --stage " + stage.name};
  if (!TakeFromBudget(turn, Fault::kFailure)) {
    return FailForGood(turn, std::move(late), kSetupFailed);
  }
  Recover(turn, {.fault = Fault::kFailure,
                 .end = {.outcome = AttemptOutcome::kFailure},
                 .restart = {.cause = RestartCause::kFailure},
                 .error = std::move(late)});
}

base::Error FailureOf(const Job& job, const HostRun& culprit) {
  const bool lost = culprit.phase == HostPhase::kLost;
  base::Error error{.code = lost ? base::Code::kUnavailable : base::Code::kAborted,
                    .message = DescribeFailure(*job.stage, culprit)};
  if (culprit.error) {
    const base::Code code = culprit.error->code;
    const bool of_input =
        code == base::Code::kFailedPrecondition || code == base::Code::kInvalidArgument;
    if (of_input) error.code = code;
    error.reason = culprit.error->reason;
    error.hint = culprit.error->hint;
  }
  if (error.hint.empty()) {
    error.hint = fmt::format("jobman logs {} --stage {} --host {}", FormatJobId(job.id),
                             job.stage->name, culprit.host);
  }
  return error;
}

/// The first host that did not start the stage because its setup is not done any more.
const HostRun* FindLapsed(const Stage& stage) {
  const auto lapsed = std::find_if(stage.hosts.begin(), stage.hosts.end(), [](const HostRun& run) {
    return run.error && run.error->reason == base::Reason::kSetupLapsed;
  });
  return lapsed == stage.hosts.end() ? nullptr : &*lapsed;
}

/// The first time in a row is free, as nothing failed. A host that is restarted again and again is
/// a fault, and may be restarted by a setup step.
void StartOverLapsed(Turn& turn, const HostRun& lapsed) {
  Job& job = turn.job;
  base::Error error = FailureOf(job, lapsed);
  job.slice->setup_done.reset();
  const bool dead = !job.slice->unstopped.empty();
  if (dead || job.slice->lapses++ > 0) {
    if (dead) GiveSliceUp(turn);
    return Recover(turn, InfraFault(AttemptOutcome::kInfra, std::move(error)));
  }
  // No host got far, so what the command restarts from stays what it was.
  if (!job.restart) job.restart = Restart{.cause = RestartCause::kMaintenance};
  StartOver(turn, error.message);
}

/// A mount may have died under the command, and its step mounts it anew.
void DoubtMounts(Turn& turn) {
  const auto steps = BuiltInsOf(turn.job.spec);
  if (std::any_of(steps.begin(), steps.end(), MayVanish)) turn.job.slice->setup_done.reset();
}

/// The step `checks` found that a host lacks chips: nothing that runs there will help.
bool IsBadHost(const Job& job, const HostRun& culprit) {
  return culprit.phase == HostPhase::kExited && culprit.exit_code == kBadHost &&
         BuiltInOf(job.spec, job.stage->id) == BuiltIn::kChecks;
}

/// Hosts of the stage failed, and nothing else explains it.
void FailStage(Turn& turn) {
  const Stage stage = *turn.job.stage;
  const HostRun& culprit = *Culprit(stage);
  base::Error error = FailureOf(turn.job, culprit);
  if (culprit.error && NeedsUserAction(*culprit.error)) {
    return FailForGood(turn, std::move(error), 0);
  }
  if (stage.told) return EndAfterNotice(turn, std::move(error));
  if (const HostRun* const lapsed = FindLapsed(stage)) return StartOverLapsed(turn, *lapsed);
  if (IsBadHost(turn.job, culprit)) {
    GiveSliceUp(turn);
    return Recover(turn, InfraFault(AttemptOutcome::kInfra, std::move(error)));
  }
  DoubtMounts(turn);
  if (culprit.phase == HostPhase::kLost || culprit.exit_code == kTemporaryFailure) {
    if (!turn.job.slice->unstopped.empty()) GiveSliceUp(turn);
    return Recover(turn, InfraFault(AttemptOutcome::kInfra, std::move(error)));
  }
  if (!TakeFromBudget(turn, Fault::kFailure)) {
    const bool command = IsCommand(stage.id);
    return FailForGood(turn, std::move(error), command ? culprit.exit_code : kSetupFailed);
  }
  Recover(turn, {.fault = Fault::kFailure,
                 .end = {.outcome = AttemptOutcome::kFailure},
                 .restart = {.cause = RestartCause::kFailure},
                 .error = std::move(error)});
}

void Succeed(Turn& turn) {
  Job& job = turn.job;
  const std::int64_t hosts = Count(job.stage->hosts);
  DropStage(turn);
  job.spent.streak = 0;
  turn.Rest(Done{.outcome = Outcome::kSucceeded}, {.outcome = AttemptOutcome::kSucceeded},
            "the command ended with exit code 0 on " + base::Plural(hosts, "host"));
}

/// Nobody asks a host for an optional step later, so a job with one asks for all of them each time.
void NoteSetup(Turn& turn) {
  const auto& steps = turn.job.spec.setup;
  const bool all_required =
      std::all_of(steps.begin(), steps.end(), [](const SetupStep& step) { return step.required; });
  if (!all_required) return;
  turn.job.slice->setup_done =
      SetupDone{.generation = turn.job.stage->generation, .epoch = turn.job.setup_epoch};
}

/// The step succeeded, or was optional.
void BeginNext(Turn& turn) {
  const auto* const step = std::get_if<SetupStage>(&turn.job.stage->id);
  if (step == nullptr) return Succeed(turn);
  if (IsUnhealthy(turn)) {
    if (GaveUpUnhealthy(turn)) return;
    return turn.Say("slice " + turn.slice_name() + " is " + turn.job.slice->cloud_state +
                    ": nothing is started there before it is repaired");
  }
  const int next = step->index + 1;
  const bool last = next == CountSteps(turn.job.spec);
  if (last) NoteSetup(turn);
  if (last) {
    DropStage(turn);
    return BeginWorkOn(turn);
  }
  BeginStage(turn, SetupStage{next});
}

/// The stage was a task, and no host of it was lost: the worker goes on.
bool IsTaskOver(const Job& job) {
  const HostRun* const culprit = Culprit(*job.stage);
  const bool lost = culprit != nullptr && culprit->phase == HostPhase::kLost;
  return IsTask(job.stage->id) && !lost;
}

/// The results of the runs alone decide what follows.
void JudgeRuns(Turn& turn) {
  if (IsTaskOver(turn.job)) return EndTask(turn);
  if (turn.job.stage->AllSucceeded() || IsOptional(turn.job)) return BeginNext(turn);
  FailStage(turn);
}

/// Where others of the slice answered, a host that did not may still run its part.
void NoteDeadHosts(Turn& turn) {
  std::vector<int> dead;
  for (const HostRun& run : turn.job.stage->hosts) {
    if (IsDeadHost(*turn.job.stage, run)) dead.push_back(run.host);
  }
  if (!dead.empty()) turn.job.slice->unstopped = std::move(dead);
}

/// A run that is gone was on a machine that was restarted, most likely. Asking is cheap.
void DoubtSetup(Turn& turn) {
  const auto& hosts = turn.job.stage->hosts;
  const bool lost = std::any_of(hosts.begin(), hosts.end(),
                                [](const HostRun& run) { return run.phase == HostPhase::kLost; });
  if (lost) turn.job.slice->setup_done.reset();
}

void EndStage(Turn& turn) {
  NoteDeadHosts(turn);
  DoubtSetup(turn);
  if (!IsSetup(turn.job.stage->id)) {
    if (FindLapsed(*turn.job.stage) == nullptr) turn.job.slice->lapses = 0;
    auto& done = turn.job.slice->setup_done;
    // That was for one attempt, which goes on after a task.
    if (done && done->vouched && IsCommand(turn.job.stage->id)) done.reset();
  }
  const Stage& stage = *turn.job.stage;
  if (!stage.stop) return JudgeRuns(turn);
  const StopCause cause = *stage.stop;
  std::visit(Overloaded{
                 [&](const NodeLost& lost) {
                   const bool well = IsCommand(stage.id) && stage.AllSucceeded();
                   return well ? Succeed(turn) : LoseSlice(turn, Preempted(lost.error));
                 },
                 [&](const Alarm&) { EndAlarmed(turn); },
                 [&](const MachinesReplaced&) { StartOverReplaced(turn); },
                 [&](const StepTimedOut&) {
                   return IsOptional(turn.job) ? BeginNext(turn) : FailTimedOutStep(turn);
                 },
                 [&](const NoticeGraceOver&) { JudgeRuns(turn); },
                 [&](const HostFailed&) { JudgeRuns(turn); },
                 [&](const StoppedByUser&) { JudgeRuns(turn); },
             },
             cause);
}

void AdvanceStage(Turn& turn) {
  if (AlarmEndsJobUnstopped(turn)) return EndAlarmed(turn);
  if (SliceIsLost(turn)) return;
  if (IsSilentAndUnhealthy(turn) && GaveUpUnhealthy(turn)) return;
  if (AllReplaced(turn)) return StartOverReplaced(turn);
  HandleReplacedMachines(turn);
  HandleNotice(turn);
  CheckStepLimit(turn);
  CheckDuration(turn);
  HandleAlarm(turn);
  CheckNoticeGrace(turn);
  StopAfterFailure(turn);
  if (turn.job.stage->Over()) EndStage(turn);
}

}  // namespace

std::string DescribeFailure(const Stage& stage, const HostRun& run) {
  if (run.phase == HostPhase::kExited) {
    return ExitText(run.host, stage.name, run.exit_code);
  }
  return fmt::format("host {} {} {}{}", run.host, run.started ? "was lost in" : "could not start",
                     stage.name, run.error ? ": " + run.error->message : std::string{});
}

void StartOver(Turn& turn, const std::string& what_happened) {
  Job& job = turn.job;
  if (job.stage) turn.Do(AbandonStage{.attempt = job.attempt, .stage = job.stage->id});
  DropStage(turn, what_happened);
  job.slice->setup_done.reset();
  if (EndDrained(turn, what_happened)) return;
  turn.Rest(Queued{}, {.outcome = AttemptOutcome::kMaintenance},
            what_happened + ": setting the hosts up again");
}

void StartOverReplaced(Turn& turn) {
  turn.job.restart = Restart{.cause = RestartCause::kMaintenance};
  StartOver(turn, "machines of slice " + turn.slice_name() + " were replaced");
}

void BeginStage(Turn& turn, StageId id) {
  Job& job = turn.job;
  job.search.reset();
  job.stage = MakeStage(job, id, turn.now);
  turn.Do(RunStage{.attempt = job.attempt, .stage = id});
  const std::int64_t hosts = Count(job.stage->hosts);
  const auto* const step = std::get_if<SetupStage>(&id);
  if (step == nullptr) {
    if (job.slice->notice) turn.Do(NoticeToPass(job));
    if (job.spec.command.cmd.empty()) {
      return turn.Enter(Running{}, "holding slice " + turn.slice_name() + ": there is no command");
    }
    return turn.Enter(Running{}, fmt::format("running the command on {} of {}", hosts,
                                             base::Plural(Count(job.slice->hosts), "host")));
  }
  turn.Enter(Setup{.step = step->index},
             fmt::format("setup step {} of {}, {}, on {}", step->index + 1, CountSteps(job.spec),
                         StepOf(job.spec, id)->name, base::Plural(hosts, "host")));
}

void StopFor(Turn& turn, StopCause cause, std::string why) {
  Stage& stage = *turn.job.stage;
  if (!stage.stop) stage.stop_since = turn.now;
  const bool first = !stage.stop;
  if (first || Outranks(cause, *stage.stop)) stage.stop = std::move(cause);
  if (!first || stage.Over()) return;
  turn.Do(StopStage{.attempt = turn.job.attempt, .stage = stage.id});
  turn.Say(std::move(why));
}

base::Error LossOfSlice(const Turn& turn) {
  const std::optional<Stage>& stage = turn.job.stage;
  if (stage && stage->stop) {
    if (const auto* const lost = std::get_if<NodeLost>(&*stage->stop)) return lost->error;
  }
  const SliceView view = turn.view();
  const std::string what = view == SliceView::kForeign
                               ? "was replaced by a resource that is not ours"
                           : LentTimeIsOver(turn)        ? HowItRanOut(turn)
                           : view == SliceView::kAbsent  ? "vanished"
                           : view == SliceView::kPartial ? "lost a node"
                                                         : HowTaken(turn);
  return {.code = base::Code::kAborted,
          .message = fmt::format("slice {} {} {}", turn.slice_name(), what,
                                 stage ? "during " + stage->name : "while it was idle")};
}

bool StopSurvivors(Turn& turn, const base::Error& error) {
  const std::vector<int>& up = turn.facts.hosts_up;
  if (up.empty()) return false;
  Stage& stage = *turn.job.stage;
  std::vector<int> down;
  for (const HostRun& run : stage.hosts) {
    if (std::find(up.begin(), up.end(), run.host) == up.end()) down.push_back(run.host);
  }
  LoseRuns(stage, down, "its machine was taken away");
  if (!stage.AnyRuns()) return false;
  StopFor(turn, NodeLost{error},
          error.message + ": stopping " + stage.name + " on the nodes that are left");
  return true;
}

bool AllReplaced(const Turn& turn) {
  return ReplacedUnderStage(turn) && turn.facts.hosts_replaced.empty();
}

void Advance(Turn& turn, const Setup&) {
  AdvanceStage(turn);
}
void Advance(Turn& turn, const Running&) {
  AdvanceStage(turn);
}

}  // namespace jobman::core

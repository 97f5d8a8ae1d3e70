// Setup steps and the command: one stage at a time, on all its hosts.
#include <fmt/format.h>

#include <algorithm>

#include "core/decider.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

constexpr int kTemporaryFailure = 75;  // EX_TEMPFAIL of sysexits.h: the command asks to be repeated
constexpr int kSetupFailed = 1;        // the job's exit code: a step's own is not the command's

bool Failed(const HostRun& run) {
  return run.phase == HostPhase::kLost || (run.phase == HostPhase::kExited && run.exit_code != 0);
}

bool AnyRuns(const Stage& stage) {
  return std::any_of(stage.hosts.begin(), stage.hosts.end(), [](const HostRun& run) {
    return run.phase == HostPhase::kPending || run.phase == HostPhase::kRunning;
  });
}

const SetupStep& StepOf(const JobSpec& spec, int number) {
  return spec.setup[static_cast<std::size_t>(number)];
}

Stage MakeStage(const Job& job, int number, TimePoint now) {
  const bool command = number < 0;
  const HostSet& wanted = command ? job.spec.command.workers : StepOf(job.spec, number).hosts;
  Stage stage;
  stage.number = number;
  stage.name = command ? "run" : fmt::format("setup-{}-{}", number, StepOf(job.spec, number).name);
  stage.started_at = now;
  stage.generation = job.slice->generation;
  for (int host = 0; host < static_cast<int>(job.slice->hosts.size()); ++host) {
    if (wanted.Contains(host)) stage.hosts.push_back({.host = host});
  }
  return stage;
}

/// The host whose end failed the stage: the one on record, else the first that failed.
const HostRun* Culprit(const Stage& stage) {
  for (const HostRun& run : stage.hosts) {
    if (stage.culprit == run.host) return &run;
  }
  const auto failed = std::find_if(stage.hosts.begin(), stage.hosts.end(), Failed);
  return failed == stage.hosts.end() ? nullptr : &*failed;
}

std::string DescribeFailure(const Stage& stage, const HostRun& run) {
  if (run.phase == HostPhase::kLost) {
    return fmt::format("host {} was lost in {}{}", run.host, stage.name,
                       run.error ? ": " + run.error->message : std::string{});
  }
  return fmt::format("host {} ended {} with exit code {}", run.host, stage.name, run.exit_code);
}

/// No second try helps before somebody mends it.
bool NeedsHands(const base::Error& error) {
  return error.reason == base::Reason::kHostKeyChanged ||
         error.reason == base::Reason::kKeyUnreadable || error.reason == base::Reason::kDiskFull ||
         error.reason == base::Reason::kNotWritable ||
         error.code == base::Code::kFailedPrecondition ||
         error.code == base::Code::kInvalidArgument;
}

}  // namespace

bool DidNotAnswer(const HostRun& run) {
  return run.phase == HostPhase::kLost && run.error && IsUnreachable(*run.error);
}

bool IsDeadAmongTheLiving(const Stage& stage, const HostRun& host) {
  return DidNotAnswer(host) &&
         std::any_of(stage.hosts.begin(), stage.hosts.end(),
                     [](const HostRun& run) { return run.phase == HostPhase::kExited; });
}

void Decider::BeginStage(int number) {
  job_.stage = MakeStage(job_, number, now_);
  Do(RunStage{});
  if (number < 0 && job_.slice->notice) Do(NotifyStage{});
  const auto hosts = static_cast<std::int64_t>(job_.stage->hosts.size());
  if (number < 0) {
    return Enter(
        Running{},
        fmt::format("running the command on {} of {}", hosts,
                    base::Plural(static_cast<std::int64_t>(job_.slice->hosts.size()), "host")));
  }
  Enter(Setup{.step = number},
        fmt::format("setup step {} of {}, {}, on {}", number + 1, job_.spec.setup.size(),
                    StepOf(job_.spec, number).name, base::Plural(hosts, "host")));
}

void Decider::AdvanceStage() {
  if (!job_.slice || !job_.stage) {  // cannot be; but no job may hang for it
    return Enter(Queued{}, "the record of the stage is missing: starting again");
  }
  if (EndsJobUnstopped()) return EndAlarmed();
  if (SliceIsLost()) return;
  if (moved_) return StartOverMoved();
  StopMoved();
  HeedNotice();
  CheckStepLimit();
  CheckDuration();
  StopAlarmed();
  CheckNoticeGrace();
  StopWhatFailed();
  if (job_.stage->Over()) EndStage();
}

/// One node of several has new machines: what runs on the others would wait for it for ever.
void Decider::StopMoved() {
  Stage& stage = *job_.stage;
  if (!stage.moved || stage.stopping) return;
  stage.stopping = true;
  if (!stage.Over()) Do(StopStage{});
  Say("some machines of slice " + slice_name() + " were replaced: stopping " + stage.name +
      " on the others");
}

void Decider::StartOverMoved() {
  moved_ = false;
  Do(AbandonStage{});
  job_.stage.reset();
  job_.restart_reason = "maintenance";
  Enter(Queued{}, "machines of slice " + slice_name() + " were replaced: setting them up again");
}

/// This observation shows that nothing runs on the slice any more.
bool Decider::SliceIsDead() const {
  switch (view_) {
    case SliceView::kHusk:
    case SliceView::kFailed:
    case SliceView::kForeign:
      return true;
    case SliceView::kAbsent:
      return job_.slice && job_.slice->absences >= 2;
    case SliceView::kPartial:
      return job_.slice && job_.slice->gaps >= 2;
    case SliceView::kNotLooked:
    case SliceView::kWaiting:
    case SliceView::kProvisioning:
    case SliceView::kReady:
    case SliceView::kUnclear:
    case SliceView::kLeaving:
      return false;
  }
  return false;
}

base::Error Decider::LossOfSlice() const {
  if (job_.stage->lost) return *job_.stage->lost;
  const bool foreign = view_ == SliceView::kForeign;
  const bool absent = view_ == SliceView::kAbsent;
  const bool partial = view_ == SliceView::kPartial;
  const std::string what = foreign   ? "was replaced by a resource that is not ours"
                           : absent  ? "vanished"
                           : partial ? "lost a node"
                                     : "became " + job_.slice->cloud_state;
  return {.code = base::Code::kAborted,
          .message = fmt::format("slice {} {} during {}", slice_name(), what, job_.stage->name)};
}

bool Decider::SliceIsLost() {
  if (!SliceIsDead()) return false;
  const base::Error error = LossOfSlice();
  if (StopSurvivors(error)) return false;
  LoseSlice(Fault::kPreemption, "preempted", error);
  return true;
}

/// The nodes that are left of a multislice are deleted with it: what runs there is stopped first,
/// as before every end that jobman orders. Tells whether that is to be waited for.
bool Decider::StopSurvivors(const base::Error& error) {
  if (up_.empty()) return false;
  Stage& stage = *job_.stage;
  for (HostRun& run : stage.hosts) {
    if (std::find(up_.begin(), up_.end(), run.host) != up_.end()) continue;
    if (run.phase == HostPhase::kPending || run.phase == HostPhase::kRunning) {
      run.phase = HostPhase::kLost;
      run.error = {.code = base::Code::kAborted, .message = "its machine was taken away"};
    }
    run.settled = true;
  }
  if (!AnyRuns(stage)) return false;
  stage.lost = error;
  if (stage.stopping) return true;
  stage.stopping = true;
  Do(StopStage{});
  Say(error.message + ": stopping " + stage.name + " on the nodes that are left");
  return true;
}

void Decider::CheckStepLimit() {
  Stage& stage = *job_.stage;
  if (stage.number < 0 || stage.stopping || !AnyRuns(stage)) return;
  const auto& limit = StepOf(job_.spec, stage.number).timeout;
  if (!limit || now_ - stage.started_at < *limit) return;
  stage.stopping = true;
  stage.timed_out = true;
  Do(StopStage{});
  Say(fmt::format("{} passed its limit of {}: stopping it", stage.name,
                  base::FormatDuration(*limit)));
}

/// One host's failure ends the stage on all: a collective would hang for ever. The failed host is
/// stopped too, since what its command left behind may hold the chips. After a notice to end is no
/// failure, and the others may still be saving what they have.
void Decider::StopWhatFailed() {
  Stage& stage = *job_.stage;
  const bool failed = std::any_of(stage.hosts.begin(), stage.hosts.end(), Failed);
  const bool optional = stage.number >= 0 && !StepOf(job_.spec, stage.number).required;
  if (!failed || optional || stage.stopping) return;
  const HostRun& culprit = *Culprit(stage);
  stage.culprit = culprit.host;
  if (AnyRuns(stage) && NoticeGraceLasts()) return;
  stage.stopping = true;
  if (stage.Over()) return;  // all are lost
  Do(StopStage{});
  Say(DescribeFailure(stage, culprit) +
      (AnyRuns(stage) ? ": stopping the others" : ": ending what it left behind"));
}

void Decider::EndStage() {
  const bool all_well = job_.stage->number < 0 && job_.stage->AllSucceeded();
  if (const auto lost = job_.stage->lost; lost && !all_well && !AlarmEndsJob()) {
    return LoseSlice(Fault::kPreemption, "preempted", *lost);
  }
  if (job_.stage->alarm) return EndAlarmed();
  if (job_.stage->moved) return StartOverMoved();
  const int number = job_.stage->number;
  const bool succeeded = job_.stage->AllSucceeded() && !job_.stage->timed_out;
  const bool optional = number >= 0 && !StepOf(job_.spec, number).required;
  if (!succeeded && !optional) return FailStage();
  if (number < 0) {
    const auto hosts = static_cast<std::int64_t>(job_.stage->hosts.size());
    job_.stage.reset();
    job_.spent.streak = 0;
    return Enter(Done{.outcome = Outcome::kSucceeded},
                 "the command ended with exit code 0 on " + base::Plural(hosts, "host"));
  }
  const bool last = number + 1 == static_cast<int>(job_.spec.setup.size());
  BeginStage(last ? -1 : number + 1);
}

void Decider::FailStage() {
  const Stage stage = *job_.stage;
  const HostRun* culprit = Culprit(stage);
  if (stage.timed_out || culprit == nullptr) {
    base::Error late{.code = base::Code::kDeadlineExceeded,
                     .message = stage.name + " passed its time limit",
                     .hint = "raise the step's timeout, or see jobman logs " +
                             FormatJobId(job_.id) + " --stage " + stage.name};
    if (TakeFromBudget(Fault::kFailure)) return Recover(Fault::kFailure, std::move(late));
    return FailForGood(std::move(late), kSetupFailed);
  }
  const bool lost = culprit->phase == HostPhase::kLost;
  base::Error error{.code = lost ? base::Code::kUnavailable : base::Code::kAborted,
                    .message = DescribeFailure(stage, *culprit)};
  if (culprit->error) {
    error.reason = culprit->error->reason;
    error.hint = culprit->error->hint;
  }
  if (error.hint.empty()) {
    error.hint = fmt::format("jobman logs {} --stage {} --host {}", FormatJobId(job_.id),
                             stage.name, culprit->host);
  }
  const int exit_code = culprit->exit_code;
  if (culprit->error && NeedsHands(*culprit->error)) return FailForGood(std::move(error), 0);
  if (stage.notice) return EndAfterNotice(std::move(error));
  if (lost || exit_code == kTemporaryFailure) {
    job_.restart_reason = "infra";
    if (IsDeadAmongTheLiving(stage, *culprit)) GiveSliceUp();
    return Recover(Fault::kInfra, std::move(error));
  }
  if (TakeFromBudget(Fault::kFailure)) return Recover(Fault::kFailure, std::move(error));
  FailForGood(std::move(error), stage.number < 0 ? exit_code : kSetupFailed);
}

void Decider::LoseSlice(Fault fault, std::string restart_reason, base::Error error) {
  if (job_.stage) Do(AbandonStage{});
  // The cloud took away a slice that worked: no sign of trouble that asks for a longer wait.
  const bool worked = job_.stage && job_.stage->number < 0;
  if (worked && fault == Fault::kPreemption) job_.spent.streak = 0;
  job_.stage.reset();
  if (fault == Fault::kPreemption) Tell(HookEvent::kPreempted, error.message);
  GiveSliceUp();
  job_.restart_reason = std::move(restart_reason);
  Recover(fault, std::move(error));
}

}  // namespace jobman::core

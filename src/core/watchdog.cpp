// The watchdog: the command is given up although it runs, since it hangs, says that it is in
// trouble, or takes too long. What goes wrong is put down as the stage's alarm, the stage is
// stopped on all hosts, and when it is over the alarm says what follows, whatever the exit codes
// are.
#include <fmt/format.h>

#include <algorithm>

#include "core/decider.hpp"

namespace jobman::core {
namespace {

constexpr int kGivenUp = 1;  // the job's exit code: TERM's would not be the command's own

/// A host that we cannot reach may have written something.
bool IsBlind(const Stage& stage) {
  return std::any_of(stage.hosts.begin(), stage.hosts.end(), [](const HostRun& run) {
    return run.phase == HostPhase::kPending ||
           (run.phase == HostPhase::kRunning && run.silent_since);
  });
}

}  // namespace

/// The news is about the command of this attempt, and nothing else has been found wrong yet: what
/// it says while its slice is being taken away is no fault of its own.
bool Decider::MayAlarm(int attempt, const std::string& stage) const {
  return std::holds_alternative<Running>(job_.state) && job_.stage && job_.stage->number < 0 &&
         !job_.stage->alarm && !job_.stage->notice && !job_.stage->lost &&
         attempt == job_.attempt && stage == job_.stage->name;
}

void Decider::Observe(const Silence& silence) {
  const WatchdogSpec& watchdog = job_.spec.watchdog;
  if (!MayAlarm(silence.attempt, silence.stage) || !watchdog.no_output) return;
  const TimePoint since = std::max(silence.since, job_.stage->started_at);
  if (job_.stage->stopping || IsBlind(*job_.stage) || now_ - since < *watchdog.no_output) return;
  job_.stage->alarm = Alarm{.rule = "no_output",
                            .action = watchdog.on_no_output,
                            .text = fmt::format("no host wrote anything for {}",
                                                base::FormatDuration(*watchdog.no_output))};
}

/// Counts also in a stage that is being stopped since a host failed: of two causes, the one that
/// was asked for by name decides.
void Decider::Observe(const BadOutput& bad) {
  const auto& rules = job_.spec.watchdog.bad_output;
  const bool known = bad.rule >= 0 && static_cast<std::size_t>(bad.rule) < rules.size();
  if (!known || !MayAlarm(bad.attempt, bad.stage)) return;
  const OutputRule& rule = rules[static_cast<std::size_t>(bad.rule)];
  job_.stage->alarm = Alarm{.rule = "bad_output",
                            .action = rule.action,
                            .text = fmt::format("host {} wrote a line that matches \"{}\": {}",
                                                bad.host, rule.match, bad.line),
                            .host = bad.host};
}

void Decider::CheckDuration() {
  Stage& stage = *job_.stage;
  const auto& most = job_.spec.watchdog.max_duration;
  if (!most || !MayAlarm(job_.attempt, stage.name) || stage.stopping || stage.Over()) return;
  if (now_ - stage.started_at < *most) return;
  stage.alarm = Alarm{.rule = "max_duration",
                      .action = job_.spec.watchdog.on_max_duration,
                      .text = "the command ran for " + base::FormatDuration(*most)};
}

void Decider::StopAlarmed() {
  Stage& stage = *job_.stage;
  if (!stage.alarm || stage.stopping) return;
  stage.stopping = true;
  if (!stage.Over()) Do(StopStage{});
  Say(fmt::format("watchdog {}: {}: stopping it", stage.alarm->rule, stage.alarm->text));
}

bool Decider::AlarmEndsJob() const {
  return job_.stage->alarm && job_.stage->alarm->action == WatchdogAction::kFail;
}

/// Machines that are gone need no stop, and must not give a job another try that was to end.
bool Decider::EndsJobUnstopped() const {
  const bool nothing_left = (SliceIsDead() && up_.empty()) || moved_;
  return nothing_left && AlarmEndsJob();
}

void Decider::EndAlarmed() {
  const Stage stage = *job_.stage;
  const Alarm& alarm = *stage.alarm;
  const std::string rule = "watchdog " + alarm.rule;
  base::Error error{
      .code = base::Code::kAborted,
      .message = rule + ": " + alarm.text,
      .hint = fmt::format("jobman logs {} --stage {}", FormatJobId(job_.id), stage.name)};
  if (alarm.host) error.hint += fmt::format(" --host {}", *alarm.host);
  if (!stage.Over()) Do(AbandonStage{});
  if (alarm.action == WatchdogAction::kFail) return FailForGood(std::move(error), kGivenUp);
  job_.restart_reason = error.message;
  const bool dead = std::any_of(stage.hosts.begin(), stage.hosts.end(), [&](const HostRun& run) {
    return IsDeadAmongTheLiving(stage, run);
  });
  if (dead || alarm.action == WatchdogAction::kNewSlice) GiveSliceUp();
  Recover(Fault::kInfra, std::move(error));
}

}  // namespace jobman::core

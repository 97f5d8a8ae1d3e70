// The watchdog gives up a running command that hangs, reports trouble or takes too long. The alarm
// stops the stage on all hosts and then decides what follows, whatever the exit codes.
#include <fmt/format.h>

#include <algorithm>

#include "core/reconcile/fold_parts.hpp"
#include "core/reconcile/turn.hpp"

namespace jobman::core {
namespace {

constexpr int kWatchdogExit = 1;  // the job's exit code: TERM's would not be the command's own

/// A host that we cannot reach may have written something.
bool HasUnreachableHost(const Stage& stage) {
  return std::any_of(stage.hosts.begin(), stage.hosts.end(), [](const HostRun& run) {
    return run.phase == HostPhase::kPending ||
           (run.phase == HostPhase::kRunning && run.silent_since);
  });
}

/// The command of this attempt, or this run of a task, goes on and had no notice that it will lose
/// its machines: what it writes while they are taken away is not its fault.
bool MayAlarm(const Job& job, int attempt, const StageId& stage) {
  return std::holds_alternative<Running>(job.state) && job.stage && attempt == job.attempt &&
         stage == job.stage->id && !job.stage->told;
}

}  // namespace

Facts FoldOutputSilence(const Job& job, const Silence& silence, TimePoint now) {
  const WatchdogSpec& watchdog = job.spec.watchdog;
  if (!watchdog.no_output || !MayAlarm(job, silence.attempt, silence.stage)) return {};
  const TimePoint since = std::max(silence.since, job.stage->started_at);
  if (job.stage->stop || HasUnreachableHost(*job.stage) || now - since < *watchdog.no_output)
    return {};
  return {.alarm = Alarm{.rule = "no_output",
                         .action = watchdog.on_no_output,
                         .text = fmt::format("no host wrote anything for {}",
                                             base::FormatDuration(*watchdog.no_output))}};
}

Facts FoldBadOutput(const Job& job, const BadOutput& bad) {
  const auto& rules = job.spec.watchdog.bad_output;
  const bool known = bad.rule >= 0 && static_cast<std::size_t>(bad.rule) < rules.size();
  if (!known || !MayAlarm(job, bad.attempt, bad.stage)) return {};
  const OutputRule& rule = rules[static_cast<std::size_t>(bad.rule)];
  return {.alarm = Alarm{.rule = "bad_output",
                         .action = rule.action,
                         .text = fmt::format("host {} wrote a line that matches \"{}\": {}",
                                             bad.host, rule.match, bad.line),
                         .host = bad.host}};
}

namespace {

void Raise(Turn& turn, const Alarm& alarm) {
  StopFor(turn, alarm, fmt::format("watchdog {}: {}: stopping it", alarm.rule, alarm.text));
}

}  // namespace

void CheckDuration(Turn& turn) {
  const Stage& stage = *turn.job.stage;
  const WatchdogSpec& watchdog = turn.job.spec.watchdog;
  if (!watchdog.max_duration || !MayAlarm(turn.job, turn.job.attempt, stage.id)) return;
  if (stage.stop || stage.Over() || turn.now - stage.started_at < *watchdog.max_duration) return;
  Raise(turn,
        {.rule = "max_duration",
         .action = watchdog.on_max_duration,
         .text = WhatRuns(stage.id) + " ran for " + base::FormatDuration(*watchdog.max_duration)});
}

void HandleAlarm(Turn& turn) {
  if (turn.facts.alarm) Raise(turn, *turn.facts.alarm);
}

bool AlarmEndsJobUnstopped(const Turn& turn) {
  const Alarm* const alarm = turn.job.stage->alarm();
  if (alarm == nullptr || alarm->action != WatchdogAction::kFail) return false;
  if (IsTask(turn.job.stage->id)) return false;  // it ends the task
  return (SliceIsDead(turn) && turn.facts.hosts_up.empty()) || AllReplaced(turn);
}

void EndAlarmed(Turn& turn) {
  Job& job = turn.job;
  const Stage stage = *job.stage;
  const Alarm& alarm = *stage.alarm();
  const std::string what = alarm.rule + ": " + alarm.text;
  base::Error error{
      .code = base::Code::kAborted,
      .message = "watchdog " + what,
      .hint = fmt::format("jobman logs {} --stage {}", FormatJobId(job.id), stage.name)};
  if (alarm.host) error.hint += fmt::format(" --host {}", *alarm.host);
  if (!stage.Over()) turn.Do(AbandonStage{.attempt = job.attempt, .stage = stage.id});
  const bool new_slice = alarm.action == WatchdogAction::kNewSlice || !job.slice->unstopped.empty();
  if (IsTask(stage.id) && !new_slice) return EndTask(turn);
  if (alarm.action == WatchdogAction::kFail && !IsTask(stage.id))
    return FailForGood(turn, std::move(error), kWatchdogExit);
  if (new_slice) GiveSliceUp(turn);
  Recover(turn, {.fault = Fault::kInfra,
                 .end = {.outcome = AttemptOutcome::kWatchdog, .detail = alarm.rule},
                 // Not what was seen: a command that prints its environment would write it again.
                 .restart = {.cause = RestartCause::kWatchdog, .detail = alarm.rule},
                 .error = std::move(error)});
}

}  // namespace jobman::core

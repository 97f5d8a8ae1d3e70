// The cloud announces that it will take the machines away. The command is told, and however it ends
// after that is not a failure.
#include <fmt/format.h>

#include <algorithm>

#include "core/reconcile/turn.hpp"

namespace jobman::core {
namespace {

constexpr std::string_view kNoSignal = "none";

bool IsWorse(const Notice& notice, const Notice& than) {
  return than.kind == Notice::Kind::kMaintenance && notice.kind == Notice::Kind::kPreemption;
}

}  // namespace

PassNotice NoticeToPass(const Job& job) {
  const bool told = job.stage->told.has_value();
  return {.attempt = job.attempt,
          .notice = told ? job.stage->told->notice : *job.slice->notice,
          .signal = told ? job.spec.command.on_notice.signal : std::string(kNoSignal),
          .stage = job.stage->id};
}

/// Passes the cloud's notice on to the command on all hosts: a notice for one host ends the whole
/// slice. A preemption outranks maintenance.
void HandleNotice(Turn& turn) {
  Stage& stage = *turn.job.stage;
  const auto notice = turn.facts.notice ? turn.facts.notice : NoticeOfEnd(turn);
  if (!notice || IsSetup(stage.id)) return;
  const std::string kind{NoticeKindName(notice->kind)};
  if (!notice->imminent) {
    const PassNotice pass{.attempt = turn.job.attempt,
                          .notice = *notice,
                          .signal = std::string(kNoSignal),
                          .stage = stage.id};
    if (!stage.Over()) turn.Do(pass);
    return turn.Say(fmt::format("the cloud announces {} of slice {}: {}", kind, turn.slice_name(),
                                notice->text));
  }
  if (stage.told && !IsWorse(*notice, stage.told->notice)) return;
  if (!stage.told) stage.told = Told{.at = turn.now};
  stage.told->notice = *notice;
  if (stage.stop || stage.Over()) return;  // nothing is left to tell
  turn.Do(NoticeToPass(turn.job));
  const std::string& signal = turn.job.spec.command.on_notice.signal;
  turn.Say(fmt::format("notice of {} ({}): {} is {}", kind, notice->text, WhatRuns(stage.id),
                       signal == kNoSignal ? "told" : "sent " + signal));
}

bool NoticeGraceLasts(const Turn& turn) {
  const OnNotice& on_notice = turn.job.spec.command.on_notice;
  const auto& told = turn.job.stage->told;
  return told && on_notice.signal != kNoSignal && turn.now - told->at < on_notice.grace;
}

/// If a host does not answer, the machines are already gone and there is nothing to stop.
bool StopsAfterNotice(const Job& job) {
  const Stage& stage = *job.stage;
  const bool silent = std::any_of(stage.hosts.begin(), stage.hosts.end(),
                                  [](const HostRun& run) { return run.silent_since.has_value(); });
  return !silent && stage.told && !stage.stop && !stage.Over() &&
         job.spec.command.on_notice.signal != kNoSignal;
}

void CheckNoticeGrace(Turn& turn) {
  if (!StopsAfterNotice(turn.job) || NoticeGraceLasts(turn)) return;
  StopFor(
      turn, NoticeGraceOver{},
      fmt::format("{} goes on {} after the notice of {}: stopping it", WhatRuns(turn.job.stage->id),
                  base::FormatDuration(turn.job.spec.command.on_notice.grace),
                  NoticeKindName(turn.job.stage->told->notice.kind)));
}

/// However the command ended, it was told to. A preempted slice is as good as gone. One under
/// maintenance comes back; a start before that would be cut short.
void EndAfterNotice(Turn& turn, base::Error error) {
  const Notice notice = turn.job.stage->told->notice;
  error = {.code = base::Code::kAborted,
           .message = fmt::format("{}, after notice of {} ({})", error.message,
                                  NoticeKindName(notice.kind), notice.text)};
  if (notice.kind == Notice::Kind::kPreemption) {
    return LoseSlice(turn, Preempted(std::move(error)));
  }
  error.retry_after = std::chrono::ceil<std::chrono::seconds>(turn.policy.maintenance_wait);
  turn.job.spent.streak = 0;
  Recover(turn, {.fault = Fault::kPreemption,
                 .end = {.outcome = AttemptOutcome::kMaintenance},
                 .restart = {.cause = RestartCause::kMaintenance},
                 .error = std::move(error)});
  if (auto* waiting = std::get_if<BackingOff>(&turn.job.state)) waiting->for_maintenance = true;
}

}  // namespace jobman::core

// The cloud says that it will take the machines away: the command is told, and however it ends
// then, that was no failure.
#include <fmt/format.h>

#include <algorithm>

#include "core/decider.hpp"

namespace jobman::core {

/// What the cloud announces is passed on to the command, on all its hosts: a notice to one of them
/// is the end of the slice. A preemption is a worse one than a maintenance.
void Decider::HeedNotice() {
  Stage& stage = *job_.stage;
  if (!notice_ || stage.number >= 0) return;
  const std::string kind{NoticeKindName(notice_->kind)};
  if (!notice_->imminent) {
    if (!stage.Over()) Do(NotifyStage{});
    return Say(
        fmt::format("the cloud announces {} of slice {}: {}", kind, slice_name(), notice_->text));
  }
  const bool worse = stage.notice && stage.notice->kind == Notice::Kind::kMaintenance &&
                     notice_->kind == Notice::Kind::kPreemption;
  if (stage.notice && !worse) return;
  if (!stage.notice) stage.noticed_at = now_;
  stage.notice = notice_;
  if (stage.stopping || stage.Over()) return;  // nobody is left to be told
  Do(NotifyStage{});
  const std::string& signal = job_.spec.command.on_notice.signal;
  Say(fmt::format("notice of {} ({}): the command is {}", kind, notice_->text,
                  signal == "none" ? "told" : "sent " + signal));
}

/// The signal was sent, and the command may go on for a while.
bool Decider::NoticeGraceLasts() const {
  const OnNotice& told = job_.spec.command.on_notice;
  const Stage& stage = *job_.stage;
  return stage.notice && told.signal != "none" && now_ - stage.noticed_at < told.grace;
}

/// Where a host does not answer, the machines are gone already, and there is nothing to stop.
bool Decider::StopsAfterNotice() const {
  const Stage& stage = *job_.stage;
  const bool silent = std::any_of(stage.hosts.begin(), stage.hosts.end(),
                                  [](const HostRun& run) { return run.silent_since.has_value(); });
  if (silent) return false;
  return stage.notice && !stage.stopping && !stage.Over() &&
         job_.spec.command.on_notice.signal != "none";
}

void Decider::CheckNoticeGrace() {
  if (!StopsAfterNotice() || NoticeGraceLasts()) return;
  job_.stage->stopping = true;
  Do(StopStage{});
  Say(fmt::format("the command goes on {} after the notice of {}: stopping it",
                  base::FormatDuration(job_.spec.command.on_notice.grace),
                  NoticeKindName(job_.stage->notice->kind)));
}

/// However the command ended, it was told to. A preempted slice is as good as gone; one under
/// maintenance comes back, and until it goes a new start would not live long.
void Decider::EndAfterNotice(base::Error error) {
  const Notice notice = *job_.stage->notice;
  error = {.code = base::Code::kAborted,
           .message = fmt::format("{}, after notice of {} ({})", error.message,
                                  NoticeKindName(notice.kind), notice.text)};
  if (notice.kind == Notice::Kind::kPreemption) {
    return LoseSlice(Fault::kPreemption, "preempted", std::move(error));
  }
  error.retry_after = std::chrono::ceil<std::chrono::seconds>(policy_.maintenance_wait);
  job_.spent.streak = 0;
  job_.restart_reason = "maintenance";
  Recover(Fault::kPreemption, std::move(error));
  if (auto* waiting = std::get_if<BackingOff>(&job_.state)) waiting->for_maintenance = true;
}

}  // namespace jobman::core

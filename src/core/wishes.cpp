// What the user asked for, and the states that make it true: CANCELLING and DELETING.
#include <fmt/format.h>

#include "core/decider.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {

void Decider::AdoptWish() {
  if (!job_.wish_new) return;
  job_.wish_new = false;
  const auto* done = std::get_if<Done>(&job_.state);
  switch (job_.wish) {
    case Wish::kRun:
      if (done == nullptr) return;
      job_.spent = {};
      job_.restart_reason = "resumed";
      return Enter(Queued{}, "resumed by the user");
    case Wish::kCancel:
      if (done != nullptr) return;
      return Enter(Cancelling{}, "cancelled by the user");
    case Wish::kReboot:
    case Wish::kRequeue:
      job_.spent = {};
      job_.restart_reason = job_.wish == Wish::kReboot ? "rebooted" : "requeued";
      return Enter(Cancelling{}, job_.restart_reason + " by the user");
    case Wish::kDelete:
      if (done != nullptr && done->outcome == Outcome::kDeleted && !job_.slice) return;
      return Enter(Deleting{}, "deleted by the user");
  }
}

/// Sees to it that the stage's processes end; tells whether some may still be there.
bool Decider::StillStopping() {
  if (!job_.stage || job_.stage->Over()) return false;
  const bool gone = SliceIsDead() && !StopSurvivors(LossOfSlice());
  if (gone || moved_) {
    Do(AbandonStage{});
    return false;
  }
  if (!job_.stage->stopping) {
    job_.stage->stopping = true;
    Do(StopStage{});
    Say(fmt::format("stopping {} on {}: TERM, at most {} of grace, KILL", job_.stage->name,
                    base::Plural(static_cast<std::int64_t>(job_.stage->hosts.size()), "host"),
                    base::FormatDuration(job_.spec.command.grace)));
  }
  return true;
}

void Decider::Advance(const Cancelling&) {
  if (StillStopping()) return;
  if (job_.stage) NoteUnstopped();
  job_.stage.reset();
  if (job_.slice) {
    const bool usable = job_.slice->phase == SlicePhase::kCreated && !job_.slice->hosts.empty() &&
                        view_ != SliceView::kHusk && view_ != SliceView::kFailed;
    // A request still in the queue would bill some night with nobody there to use it.
    if (!usable || job_.wish == Wish::kRequeue) GiveSliceUp();
    if (job_.slice && job_.slice->phase != SlicePhase::kCreated) {
      return Say("waiting until slice " + slice_name() + " is deleted");
    }
  }
  AfterStop();
}

/// Hosts that could not be asked to stop: what runs there may go on.
void Decider::NoteUnstopped() {
  std::vector<int> unstopped;
  for (const HostRun& run : job_.stage->hosts) {
    if (DidNotAnswer(run)) unstopped.push_back(run.host);
  }
  if (!unstopped.empty())
    unstopped_ = "; host " + base::FormatRanges(unstopped) + " did not answer";
}

void Decider::AfterStop() {
  std::string kept = job_.slice ? "; slice " + slice_name() + " is kept" : std::string{};
  kept += unstopped_;
  switch (job_.wish) {
    case Wish::kRun:
      return Enter(Queued{}, "stopped, then resumed by the user");
    case Wish::kReboot:
    case Wish::kRequeue:
      job_.wish = Wish::kRun;
      return Enter(Queued{}, job_.restart_reason + ": stopped, starting again" + kept);
    case Wish::kCancel:
      return Enter(Done{.outcome = Outcome::kCancelled}, "cancelled by the user" + kept);
    case Wish::kDelete:
      return Enter(Deleting{}, "deleted by the user");
  }
}

void Decider::Advance(const Deleting&) {
  if (StillStopping()) return;
  job_.stage.reset();
  GiveSliceUp();
  if (job_.slice) return Say("waiting until slice " + slice_name() + " is deleted");
  if (job_.wish != Wish::kDelete) return AfterStop();
  Enter(Done{.outcome = Outcome::kDeleted}, "every cloud resource of the job is deleted");
}

}  // namespace jobman::core

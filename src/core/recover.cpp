// What follows a fault: another attempt after a wait, or the end.
#include <fmt/format.h>

#include <algorithm>

#include "core/decider.hpp"
#include "jobman/base/backoff.hpp"

namespace jobman::core {
namespace {

/// Waiting does not help: the request itself must change, or somebody must grant something.
bool IsPermanent(const base::Error& error) {
  switch (error.reason) {
    case base::Reason::kQuotaZero:
    case base::Reason::kPermission:
    case base::Reason::kApiDisabled:
    case base::Reason::kZoneNotAllowed:
    case base::Reason::kBadAccelerator:
    case base::Reason::kBadZone:
    case base::Reason::kBadRuntime:
    case base::Reason::kExpired:
    case base::Reason::kHostKeyChanged:
    case base::Reason::kKeyUnreadable:
    case base::Reason::kNotSupported:
      return true;
    case base::Reason::kStockout:
    case base::Reason::kQuota:
    case base::Reason::kRateLimit:
    case base::Reason::kReservation:
    case base::Reason::kNoToken:
    case base::Reason::kUnreachable:
    case base::Reason::kHostRefused:
    case base::Reason::kHostTimeout:
    case base::Reason::kHostAuth:
    case base::Reason::kChipsBusy:
    case base::Reason::kDiskFull:
    case base::Reason::kNotWritable:
    case base::Reason::kNewerStore:
    case base::Reason::kLeaseLost:
    case base::Reason::kStale:
      return false;
    case base::Reason::kNone:
      break;
  }
  return error.code == base::Code::kInvalidArgument || error.code == base::Code::kUnauthenticated ||
         error.code == base::Code::kPermissionDenied;
}

/// The world is short of something, which is nobody's fault: no budget pays for the wait. Nor for
/// that of a job whose controller has no token at the moment.
bool IsFree(const base::Error& error) {
  return error.reason == base::Reason::kStockout || error.reason == base::Reason::kQuota ||
         error.reason == base::Reason::kRateLimit || error.reason == base::Reason::kUnreachable ||
         error.reason == base::Reason::kNoToken;
}

std::string_view FaultWord(Fault fault) {
  switch (fault) {
    case Fault::kPreemption:
      return "preemption";
    case Fault::kFailure:
      return "failure";
    case Fault::kInfra:
      return "infra";
  }
  return "infra";
}

}  // namespace

bool Decider::TakeFromBudget(Fault fault) {
  const RetrySpec& retries = job_.spec.retries;
  const auto take = [](int& spent, const std::optional<int>& limit) {
    if (limit && spent >= *limit) return false;
    ++spent;
    return true;
  };
  switch (fault) {
    case Fault::kPreemption:
      return take(job_.spent.preemption, retries.preemption);
    case Fault::kFailure:
      return take(job_.spent.failure, retries.failure);
    case Fault::kInfra:
      return take(job_.spent.infra, retries.infra);
  }
  return false;
}

void Decider::Recover(Fault fault, base::Error error) {
  if (IsPermanent(error)) return FailForGood(std::move(error), 0);
  // The failure budget was asked before: a failing command without one ends the job.
  const bool paid = fault == Fault::kFailure || IsFree(error) || TakeFromBudget(fault);
  if (!paid) {
    error.hint = fmt::format("retries.{} is used up: raise it, or jobman resume {}",
                             FaultWord(fault), FormatJobId(job_.id));
    return FailForGood(std::move(error), 0);
  }
  const bool worked = job_.stage.has_value();
  job_.stage.reset();
  if (fault == Fault::kFailure || job_.restart_reason.empty()) {
    job_.restart_reason = FaultWord(fault);
  }
  ++job_.spent.streak;
  const base::Backoff backoff{.base = job_.spec.retries.backoff,
                              .cap = job_.spec.retries.backoff_cap};
  // The first preemption after a good run is answered at once: capacity may still be there.
  const bool at_once = fault == Fault::kPreemption && job_.spent.streak == 1;
  Duration wait{0};
  // Never none at all: what was refused rests for a decision, from which others learn
  // (ZoneBackoff).
  if (!at_once) {
    wait = std::max(backoff.FullJitter(job_.spent.streak, unit_random_), Duration{1});
  }
  if (error.retry_after) wait = std::max<Duration>(wait, *error.retry_after);
  std::string why = error.message;
  if (why.ends_with('.')) why.pop_back();  // the cloud's own sentences
  why += ": trying again";
  if (wait > Duration{0}) why += " in " + base::FormatDuration(wait);
  if (worked) Tell(HookEvent::kRestarting, why);
  Enter(BackingOff{.until = now_ + wait, .error = std::move(error)}, std::move(why));
}

void Decider::FailForGood(base::Error error, int exit_code) {
  job_.stage.reset();
  std::string why = error.message;
  Enter(Done{.outcome = Outcome::kFailed, .exit_code = exit_code, .error = std::move(error)},
        std::move(why));
}

void Decider::Advance(const BackingOff& backing_off) {
  // It took the slice away for good: this was the preemption that is paid for already.
  const bool taken = backing_off.for_maintenance && SliceIsDead();
  if (taken) job_.restart_reason = "preempted";
  const bool leaving = taken || (job_.slice && job_.slice->phase != SlicePhase::kCreated);
  if (leaving) GiveSliceUp();
  const bool left = job_.slice && job_.slice->phase != SlicePhase::kCreated;
  // Over as soon as the slice came back on other machines, or is gone.
  const bool maintained = backing_off.for_maintenance && (moved_ || !job_.slice);
  if (left || (now_ < backing_off.until && !maintained)) return;
  Enter(Queued{}, "trying again");
}

void Decider::Advance(const Done&) {
  if (!job_.slice) return;
  // One that was never ready has no use for the user, and would bill some night.
  const bool held = job_.slice->phase == SlicePhase::kCreated && !job_.slice->hosts.empty();
  if (held && view_ == SliceView::kAbsent && job_.slice->absences >= 2) return job_.slice.reset();
  if (!held || SliceIsDead()) GiveSliceUp();
}

/// Complete listings without the slice, or "not found", mean that it is gone: what was just
/// created may be invisible for a moment. What counts is when the deciding call began: this machine
/// may have slept since, and its answer have been overtaken.
bool Decider::AbsenceIsFact(TimePoint looked) const {
  const Duration age = looked - job_.slice->created_at;
  return age >= (job_.slice->unshown.empty() ? Duration{0} : policy_.vanish_grace);
}

/// A request without an answer is given up: a delete could miss it (not there yet) or hit somebody
/// else's slice of that name. It is known what to do when it is seen, or is absent for long.
void Decider::DropUnansweredRequest() {
  const TimePoint last = std::max(job_.slice->asked_at, job_.since);
  // The deciding look is a fresh one: earlier ones may have come before the request arrived.
  const bool absent = view_ == SliceView::kAbsent && job_.slice->absences >= 2 &&
                      looked_at_ - last >= policy_.vanish_grace;
  const bool refused = create_error_ && !AskedBefore();
  if (refused) return job_.slice.reset();
  if (absent) ForgetSlice();
}

/// The request was sent more than once, so a refusal may be of one, and the slice of another.
bool Decider::AskedBefore() const {
  return job_.slice->asked_at != job_.slice->created_at;
}

/// What no listing has ever shown may still come.
void Decider::ForgetSlice() {
  if (!job_.slice->unshown.empty()) {
    job_.given_up.push_back({.ref = job_.slice->ref, .until = now_ + policy_.late_watch});
  }
  job_.slice.reset();
}

/// Deletes the slice, or sees that it is gone. Called again as long as it is not.
void Decider::GiveSliceUp() {
  if (!job_.slice) return;
  Slice& slice = *job_.slice;
  // Of a multislice some nodes were seen: they must go, whatever becomes of the others.
  if (slice.phase == SlicePhase::kIntended && view_ == SliceView::kPartial) {
    slice.phase = SlicePhase::kCreated;
    slice.created_at = now_;  // the others may be as young as that
  }
  if (slice.phase == SlicePhase::kIntended) return DropUnansweredRequest();
  const bool first = slice.phase != SlicePhase::kDeleting;
  const bool absent =
      !first && view_ == SliceView::kAbsent && slice.absences >= 2 && AbsenceIsFact(looked_at_);
  if (slice.phase == SlicePhase::kGone || absent) return ForgetSlice();
  if (!first && now_ - slice.asked_at < policy_.delete_again) return;
  slice.phase = SlicePhase::kDeleting;
  slice.absences = 0;
  slice.asked_at = now_;
  slice.operations.clear();
  Do(DeleteSlice{});
}

}  // namespace jobman::core

// What follows a setback: another attempt after a wait, or the end.
#include <fmt/format.h>

#include <algorithm>

#include "core/reconcile/turn.hpp"
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
    case base::Reason::kNotPublished:
    case base::Reason::kNoToken:
    case base::Reason::kUnreachable:
    case base::Reason::kHostRefused:
    case base::Reason::kHostTimeout:
    case base::Reason::kConnectionBroke:
    case base::Reason::kHostHangs:
    case base::Reason::kHostAuth:
    case base::Reason::kAgentSilent:
    case base::Reason::kChipsBusy:
    case base::Reason::kSetupLapsed:
    case base::Reason::kDiskFull:
    case base::Reason::kNotWritable:
    case base::Reason::kNewerStore:
    case base::Reason::kCopiedStore:
    case base::Reason::kLeaseLost:
    case base::Reason::kStale:
      return false;
    case base::Reason::kNone:
      break;
  }
  return error.code == base::Code::kInvalidArgument || error.code == base::Code::kPermissionDenied;
}

/// Credentials can be mended at any time, here or at their source.
bool LacksToken(const base::Error& error) {
  return error.reason == base::Reason::kNoToken ||
         (error.reason == base::Reason::kNone && error.code == base::Code::kUnauthenticated);
}

/// Shortages do not use a retry budget, nor does a controller whose token is missing or refused.
bool IsFree(const base::Error& error) {
  return error.reason == base::Reason::kStockout || error.reason == base::Reason::kQuota ||
         error.reason == base::Reason::kRateLimit || error.reason == base::Reason::kUnreachable ||
         LacksToken(error);
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

base::Backoff BackoffOf(const RetrySpec& retries) {
  return {.base = retries.backoff, .cap = retries.backoff_cap};
}

/// How long the next attempt waits.
Duration WaitAfter(const Turn& turn, const Setback& setback) {
  const base::Backoff backoff = BackoffOf(turn.job.spec.retries);
  const int streak = turn.job.spent.streak;
  Duration wait{0};
  // The first preemption after a good run is retried at once: capacity may still be there.
  // Otherwise there is always a wait: a refused job pauses for at least one decision, from which
  // other jobs learn (RequestHolds).
  const bool at_once = setback.fault == Fault::kPreemption && streak == 1;
  if (!at_once) wait = std::max(backoff.FullJitter(streak, turn.unit_random), Duration{1});
  if (setback.error.retry_after) wait = std::max<Duration>(wait, *setback.error.retry_after);
  return wait;
}

}  // namespace

Setback Preempted(base::Error error) {
  return {.fault = Fault::kPreemption,
          .end = {.outcome = AttemptOutcome::kPreempted},
          .restart = {.cause = RestartCause::kPreempted},
          .error = std::move(error)};
}

Setback InfraFault(AttemptOutcome outcome, base::Error error) {
  return {.fault = Fault::kInfra,
          .end = {.outcome = outcome},
          .restart = {.cause = RestartCause::kInfra},
          .error = std::move(error)};
}

bool TakeFromBudget(Turn& turn, Fault fault) {
  const RetrySpec& retries = turn.job.spec.retries;
  Spent& spent = turn.job.spent;
  const auto take = [](int& used, const std::optional<int>& limit) {
    if (limit && used >= *limit) return false;
    ++used;
    return true;
  };
  switch (fault) {
    case Fault::kPreemption:
      return take(spent.preemption, retries.preemption);
    case Fault::kFailure:
      return take(spent.failure, retries.failure);
    case Fault::kInfra:
      return take(spent.infra, retries.infra);
  }
  return false;
}

void Recover(Turn& turn, Setback setback) {
  Job& job = turn.job;
  base::Error& error = setback.error;
  if (IsPermanent(error)) return FailForGood(turn, std::move(error), 0);
  if (IsDraining(job)) {
    DropStage(turn);
    EndDrained(turn, error.message);
    return;
  }
  // The failure budget was checked before: without it, a failing command ends the job.
  const bool paid =
      setback.fault == Fault::kFailure || IsFree(error) || TakeFromBudget(turn, setback.fault);
  if (!paid) {
    error.hint = fmt::format("retries.{} is used up: raise it, or jobman resume {}",
                             FaultWord(setback.fault), FormatJobId(job.id));
    return FailForGood(turn, std::move(error), 0);
  }
  const bool worked = job.stage.has_value();
  DropStage(turn);
  job.restart = std::move(setback.restart);
  if (!job.search) job.search = Search{.since = turn.now};
  const Duration quiet = turn.now - job.spent.waited_until;
  job.spent.streak = base::StreakAfter(job.spent.streak, quiet, BackoffOf(job.spec.retries)) + 1;
  const Duration wait = WaitAfter(turn, setback);
  job.spent.waited_until = turn.now + wait;
  std::string why = error.message;
  if (why.ends_with('.')) why.pop_back();  // messages of the cloud end in one
  why += ": trying again";
  if (wait > Duration{0}) why += " in " + base::FormatDuration(wait);
  if (const auto tries = TriesText(job.search, turn.now); !tries.empty()) why += "; " + tries;
  if (worked) turn.Tell(HookEvent::kRestarting, why);
  turn.Rest(BackingOff{.until = turn.now + wait, .error = std::move(error)}, std::move(setback.end),
            std::move(why));
}

void FailForGood(Turn& turn, base::Error error, int exit_code) {
  DropStage(turn);
  std::string why = error.message;
  turn.Rest(Done{.outcome = Outcome::kFailed, .exit_code = exit_code, .error = std::move(error)},
            {.outcome = AttemptOutcome::kFailed}, std::move(why));
}

void Advance(Turn& turn, const BackingOff& backing_off) {
  Job& job = turn.job;
  // The cloud took the slice for good: this is the preemption that was already counted.
  const bool taken = backing_off.for_maintenance && SliceIsDead(turn);
  if (taken) job.restart = Restart{.cause = RestartCause::kPreempted};
  const bool leaving = taken || (job.slice && job.slice->phase != SlicePhase::kCreated);
  if (leaving) GiveSliceUp(turn);
  const bool left = job.slice && job.slice->phase != SlicePhase::kCreated;
  // Over once the slice is back on new machines, or gone.
  const bool maintained =
      backing_off.for_maintenance && (turn.facts.machines_replaced || !job.slice);
  if (left || (turn.now < backing_off.until && !maintained)) return;
  turn.Enter(Queued{}, "trying again");
}

namespace {

/// Why the job is over, without what was said of its slice.
std::string WhyOver(const Turn& turn) {
  const std::string& why = turn.why.empty() ? turn.job.why : turn.why;  // over just now
  return why.substr(0, why.find("; slice " + turn.slice_name()));
}

}  // namespace

void Advance(Turn& turn, const Done&) {
  std::optional<Slice>& slice = turn.job.slice;
  if (!slice) return;
  const bool held = IsHeld(*slice);
  if (held && turn.view() == SliceView::kAbsent && IsMissing(turn)) {
    turn.Say(WhyOver(turn) + "; slice " + turn.slice_name() + " is not there any more");
    // Should it be there after all, nobody else would give it back.
    if (!slice->ref.existing)
      turn.job.abandoned.push_back({.ref = slice->ref, .until = turn.now + turn.policy.late_watch});
    return slice.reset();
  }
  // A slice that was never ready is of no use to the user, and would be billed once granted.
  const auto until = GivenBackAt(turn.job);
  const bool due = until && *until <= turn.now;
  if (held && due) {
    const std::string what = slice->ref.existing ? "node " + turn.slice_name() + " is let go"
                                                 : std::string("its slice is given back");
    turn.Say(WhyOver(turn) + "; " + what + ", as job.when_done says");
  }
  const bool dead = SliceIsDead(turn);
  if (held && !due && dead) {
    turn.Say(fmt::format("{}; slice {} was lost: {}", WhyOver(turn), turn.slice_name(),
                         slice->cloud_state));
  }
  if (!held || due || dead) GiveSliceUp(turn);
}

}  // namespace jobman::core

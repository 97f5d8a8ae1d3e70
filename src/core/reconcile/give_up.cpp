// Giving a slice up: it is deleted, and stays on record until it is known to be gone. A node that
// is the user's own is left as it is.
#include <fmt/format.h>

#include <algorithm>

#include "core/reconcile/turn.hpp"

namespace jobman::core {
namespace {

/// A slice that no listing ever showed may still be created.
void ForgetSlice(Turn& turn) {
  Job& job = turn.job;
  if (!job.slice->unshown.empty()) {
    job.abandoned.push_back({.ref = job.slice->ref, .until = turn.now + turn.policy.late_watch});
  }
  job.slice.reset();
}

/// Gives up a request without an answer. A delete could miss the slice (not created yet) or hit
/// somebody else's of that name. So it waits until the slice is seen, or a lookup by name finds
/// nothing.
void DropUnansweredRequest(Turn& turn) {
  const Slice& slice = *turn.job.slice;
  const bool refused = turn.AboutSlice() && turn.facts.create_refused && slice.requests_sent == 1;
  if (refused) return turn.job.slice.reset();
  if (turn.view() != SliceView::kAbsent) return;
  if (turn.facts.by_name) ForgetSlice(turn);
}

/// The observation shows that nothing is left of the slice that is being deleted.
bool IsGone(const Turn& turn) {
  if (!turn.AboutSlice()) return false;
  const Slice& slice = *turn.job.slice;
  // Decided a moment ago, in this turn: its answer is awaited.
  const Effect asked = DeleteSlice{slice.ref};
  if (std::find(turn.effects.begin(), turn.effects.end(), asked) != turn.effects.end()) {
    return false;
  }
  if (turn.facts.view == SliceView::kForeign) return true;
  const bool absent = turn.facts.view == SliceView::kAbsent && turn.facts.by_name;
  return (turn.facts.not_found || absent) &&
         AbsenceIsFact(slice, turn.facts.looked_at, turn.policy);
}

}  // namespace

Duration PauseOfDeletes(const std::optional<DeleteRefused>& refused, const Policy& policy) {
  Duration pause = policy.delete_again;
  for (int time = 0; refused && time < refused->times; ++time) {
    if (pause >= policy.delete_again_cap) break;
    pause = std::min(2 * pause, policy.delete_again_cap);
  }
  return pause;
}

TimePoint LastNewsOf(const Slice& slice) {
  const TimePoint requested =
      std::max(slice.requested_at, slice.delete_requested_at.value_or(TimePoint{}));
  return std::max(requested, slice.last_evidence_at);
}

bool AbsenceIsFact(const Slice& slice, TimePoint looked, const Policy& policy) {
  const Duration age = looked - slice.last_evidence_at;
  return age >= (slice.unshown.empty() ? Duration{0} : policy.vanish_grace);
}

base::Error NameTaken(const std::string& name) {
  return {.code = base::Code::kAlreadyExists,
          .message = "the name " + name + " is taken by a resource that is not ours",
          .hint = "the next try takes another name; tpu.name sets how they begin"};
}

bool SliceIsDead(const Turn& turn) {
  switch (turn.view()) {
    case SliceView::kDead:
      return !turn.facts.orphaned || !IsContradicted(turn);
    case SliceView::kFailed:
    case SliceView::kForeign:
      return true;
    case SliceView::kAbsent:
    case SliceView::kPartial:
      return IsMissing(turn);
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

std::string HowTaken(const Turn& turn) {
  if (LentTimeIsOver(turn)) return HowItRanOut(turn);
  constexpr std::string_view kPreempted = "PREEMPTED";
  const std::string& state = turn.job.slice->cloud_state;
  if (state.starts_with(kPreempted)) return "was preempted" + state.substr(kPreempted.size());
  const Pricing pricing = turn.job.spec.tpu.pricing;
  const bool preemptible = pricing == Pricing::kSpot || pricing == Pricing::kPreemptible;
  if (preemptible && turn.facts.suspended) return "was preempted (" + state + ")";
  return "became " + state;
}

void GiveSliceUp(Turn& turn) {
  if (!turn.job.slice) return;
  if (turn.job.slice->ref.existing) return turn.job.slice.reset();
  Slice& slice = *turn.job.slice;
  // Some nodes of the multislice were seen: they must be deleted, whatever becomes of the others.
  if (slice.phase == SlicePhase::kIntended && turn.view() == SliceView::kPartial) {
    slice.phase = SlicePhase::kCreated;
  }
  if (slice.phase == SlicePhase::kIntended) return DropUnansweredRequest(turn);
  const bool first = slice.phase != SlicePhase::kDeleting;
  if (!first && IsGone(turn)) return ForgetSlice(turn);
  const Duration pause = PauseOfDeletes(slice.delete_refused, turn.policy);
  const bool asked_recently =
      slice.delete_requested_at && turn.now - *slice.delete_requested_at < pause;
  if (!first && asked_recently) return;
  slice.phase = SlicePhase::kDeleting;
  slice.absences = 0;
  slice.delete_requested_at = turn.now;
  slice.operations.clear();
  turn.Do(DeleteSlice{slice.ref});
}

namespace {

/// jobman does not create the user's node again.
void LoseExisting(Turn& turn, const SliceRef& node, base::Error error) {
  error.hint =
      fmt::format("once node {} is READY: jobman resume {}", node.name, FormatJobId(turn.job.id));
  FailForGood(turn, std::move(error), 0);
}

}  // namespace

void LoseSlice(Turn& turn, Setback setback) {
  Job& job = turn.job;
  const SliceRef ref = job.slice->ref;
  if (job.stage) turn.Do(AbandonStage{.attempt = job.attempt, .stage = job.stage->id});
  // The cloud took away a working slice: no reason for a longer backoff.
  const bool worked =
      std::holds_alternative<Idle>(job.state) || (job.stage && !IsSetup(job.stage->id));
  const bool preempted = setback.fault == Fault::kPreemption;
  if (worked && preempted) job.spent.streak = 0;
  DropStage(turn, setback.error.message);
  if (preempted) turn.Tell(HookEvent::kPreempted, setback.error.message);
  GiveSliceUp(turn);
  if (ref.existing && preempted) return LoseExisting(turn, ref, std::move(setback.error));
  Recover(turn, std::move(setback));
}

}  // namespace jobman::core

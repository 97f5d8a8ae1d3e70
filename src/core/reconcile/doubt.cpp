// What listings omit, or show as lost: a list may be wrong, so the slice is asked for by name.
#include <algorithm>

#include "core/reconcile/turn.hpp"

namespace jobman::core {
namespace {

/// A host of a part that was not found has a living session, so that part exists, whatever the
/// cloud says.
bool AHostContradicts(const Turn& turn) {
  if (!turn.job.stage) return false;
  const std::vector<int>& up = turn.facts.hosts_up;
  const auto& hosts = turn.job.stage->hosts;
  return std::any_of(hosts.begin(), hosts.end(), [&](const HostRun& run) {
    const bool answers = run.phase == HostPhase::kRunning && !run.error && !run.silent_since;
    const bool shown = std::find(up.begin(), up.end(), run.host) != up.end();
    return answers && (turn.facts.orphaned || !shown);
  });
}

/// A request without an answer that is waited for is repeated, which is safe.
bool Awaits(const Turn& turn) {
  return std::holds_alternative<Requesting>(turn.job.state);
}

/// The request of a slice that was given up has had time to arrive.
bool IsLongAgo(const Turn& turn) {
  const TimePoint last = std::max(turn.job.slice->requested_at, turn.job.since);
  return turn.facts.looked_at - last >= turn.policy.vanish_grace;
}

/// An answer "not found" would settle something.
bool WouldMatter(const Turn& turn) {
  const Slice& slice = *turn.job.slice;
  switch (turn.facts.view) {
    case SliceView::kAbsent:
      if (slice.absences < 2) return false;
      if (slice.phase == SlicePhase::kIntended) return !Awaits(turn) && IsLongAgo(turn);
      return AbsenceIsFact(slice, turn.facts.looked_at, turn.policy);
    case SliceView::kPartial:
      return slice.gaps >= 2 && MayLackNodes(turn);
    case SliceView::kNotLooked:
    case SliceView::kForeign:
    case SliceView::kWaiting:
    case SliceView::kProvisioning:
    case SliceView::kReady:
    case SliceView::kUnclear:
    case SliceView::kDead:
    case SliceView::kFailed:
    case SliceView::kLeaving:
      return false;
  }
  return false;
}

}  // namespace

void AskByName(Turn& turn) {
  if (!turn.AboutSlice() || turn.facts.by_name) return;
  if (turn.facts.doubtful || WouldMatter(turn)) turn.Do(LookUpSlice{turn.job.slice->ref});
}

bool IsConfirmed(Turn& turn) {
  if (!turn.facts.by_name) turn.Do(LookUpSlice{turn.job.slice->ref});
  return turn.facts.by_name;
}

bool MayLackNodes(const Turn& turn) {
  const Slice& slice = *turn.job.slice;
  if (!slice.hosts.empty()) return true;  // it was whole
  // The nodes of a queued resource may appear at any time.
  return slice.ref.mode == AllocationMode::kTpuVm &&
         turn.facts.looked_at - slice.last_evidence_at >= turn.policy.vanish_grace;
}

bool IsMissing(const Turn& turn) {
  if (!turn.AboutSlice() || !turn.facts.by_name) return false;
  const Slice& slice = *turn.job.slice;
  if (turn.facts.view == SliceView::kPartial && !MayLackNodes(turn)) return false;
  if (!AbsenceIsFact(slice, turn.facts.looked_at, turn.policy)) return false;
  return !IsContradicted(turn);
}

bool IsContradicted(const Turn& turn) {
  const TimePoint looked = turn.facts.looked_at;
  const TimePoint since = turn.job.slice->not_found_since.value_or(looked);
  return looked - since < turn.policy.doubt_limit && AHostContradicts(turn);
}

}  // namespace jobman::core

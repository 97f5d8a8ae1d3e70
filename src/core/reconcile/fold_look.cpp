// How a look at the cloud changes the record of a slice.
#include <algorithm>

#include "core/reconcile/fold_parts.hpp"
#include "core/reconcile/hold.hpp"

namespace jobman::core {
namespace {

/// "READY", or "READY, UNHEALTHY_MAINTENANCE" with a health problem.
std::string NodeStateText(const NodeSeen& node) {
  return IsHealthy(node) ? node.raw_state : node.raw_state + ", " + node.health;
}

/// The state that matters most; for a multislice with the name of its node.
std::string CloudState(const SliceSeen& seen, const SliceRef& ref) {
  const NodeSeen* const node = TellingNode(seen);
  const bool of_node =
      node != nullptr && (!seen.queued || seen.queued->state == QueuedState::kActive);
  if (!of_node) return seen.queued ? seen.queued->raw_state : std::string{};
  if (IsOrphaned(seen, ref)) return NodeStateText(*node) + ", without its queued resource";
  const bool one_of_many = ref.nodes > 1 && (node->state != NodeState::kReady || !IsHealthy(*node));
  return one_of_many ? NodeStateText(*node) + " (node " + node->id + ")" : NodeStateText(*node);
}

/// The machines of the nodes, as they are recorded.
struct Machines {
  std::vector<SliceNode> nodes = {};
  std::vector<HostAddress> hosts = {};
};
Machines MachinesOf(const std::vector<NodeSeen>& seen) {
  Machines machines;
  for (const NodeSeen& node : seen) {
    machines.nodes.push_back({.uid = node.uid, .hosts = static_cast<int>(node.hosts.size())});
    machines.hosts.insert(machines.hosts.end(), node.hosts.begin(), node.hosts.end());
  }
  return machines;
}

/// Records the addresses; returns whether machines were replaced. A look that began earlier may
/// show those before.
bool RecordHosts(Slice& slice, const std::vector<NodeSeen>& seen, TimePoint now) {
  Machines shown = MachinesOf(seen);
  if (slice.nodes == shown.nodes && slice.hosts == shown.hosts) return false;
  const bool first = slice.hosts.empty();
  slice.last_evidence_at = now;
  std::erase_if(slice.unstopped, [&](int host) {  // replaced: nothing of ours runs there any more
    const auto at = static_cast<std::size_t>(host);
    return at >= shown.hosts.size() || at >= slice.hosts.size() ||
           shown.hosts[at] != slice.hosts[at];
  });
  slice.nodes = std::move(shown.nodes);
  slice.hosts = std::move(shown.hosts);
  if (first) return false;
  ++slice.generation;
  return true;
}

/// Recorded hosts whose node the look shows READY.
std::vector<int> HostsThatAreUp(const Slice& slice, const std::vector<NodeSeen>& nodes) {
  std::vector<int> up;
  for (int host = 0; host < static_cast<int>(slice.hosts.size()); ++host) {
    const HostPosition position = PositionOf(slice, host);
    const bool ready = std::any_of(nodes.begin(), nodes.end(), [&](const NodeSeen& node) {
      return node.uid == position.node_uid && node.state == NodeState::kReady;
    });
    if (ready) up.push_back(host);
  }
  return up;
}

/// Hosts of the nodes that were replaced while others of the slice were not; empty when all may
/// have been.
std::vector<int> ReplacedAmongOthers(const Slice& before, const Slice& after) {
  std::vector<int> replaced;
  if (before.nodes.size() != after.nodes.size()) return replaced;
  int first = 0;
  for (std::size_t node = 0; node < after.nodes.size(); ++node) {
    const int count = after.nodes[node].hosts;
    if (before.nodes[node].hosts != count) return {};
    const auto now = after.hosts.begin() + first;
    const bool same = before.nodes[node].uid == after.nodes[node].uid &&
                      std::equal(now, now + count, before.hosts.begin() + first);
    for (int host = first; !same && host < first + count; ++host) replaced.push_back(host);
    first += count;
  }
  return replaced.size() == after.hosts.size() ? std::vector<int>{} : replaced;
}

/// The worst notice of the nodes: one that is imminent for a node is imminent for all.
std::optional<Notice> WorstOf(const std::vector<NodeSeen>& nodes) {
  std::optional<Notice> worst;
  for (const NodeSeen& node : nodes) {
    if (node.notice && (!worst || (node.notice->imminent && !worst->imminent))) worst = node.notice;
  }
  return worst;
}

/// Some of it exists. A delete already under way may have missed a part that was only seen now: its
/// "not found" proves nothing.
void RecordSighting(Slice& slice, const SliceSeen& seen, TimePoint now) {
  const auto before = slice.unshown.size();
  if (slice.ref.mode == AllocationMode::kQueuedResources) slice.unshown.clear();
  for (const NodeSeen& node : seen.nodes) std::erase(slice.unshown, node.id);
  const bool more = slice.unshown.size() != before;
  if (more && slice.phase == SlicePhase::kDeleting) slice.last_evidence_at = now;
}

/// A multislice requested node by node can never be complete if somebody else has one of the names.
/// (A queued resource reports its own failure.)
void RecordTakenNames(Slice& slice, const SliceSeen& seen, Facts& facts) {
  if (seen.taken.empty() || slice.ref.mode != AllocationMode::kTpuVm) return;
  for (const std::string& name : seen.taken) std::erase(slice.unshown, name);
  if (slice.phase != SlicePhase::kCreated || !slice.hosts.empty()) return;
  facts.doubtful = !seen.by_name;
  facts.view = facts.doubtful ? SliceView::kNotLooked : SliceView::kFailed;
  if (facts.doubtful) return;
  facts.failure = NameTaken(seen.taken.front());
}

/// Its nodes hold quota and must be deleted, as soon as a lookup by name proves that the queued
/// resource is gone (doubt.cpp).
void RecordOrphaned(const SliceSeen& seen, Facts& facts) {
  facts.orphaned = true;
  facts.view = seen.by_name ? SliceView::kDead : SliceView::kUnclear;
  facts.doubtful = !seen.by_name;
}

/// A node that is no longer READY, for its repair or to be deleted, is not well for that.
void RecordHealth(Slice& slice, const std::vector<NodeSeen>& nodes, TimePoint now) {
  const bool well = std::none_of(nodes.begin(), nodes.end(), IsIll);
  if (well && !nodes.empty()) slice.unhealthy_since.reset();
  const bool broken = std::any_of(nodes.begin(), nodes.end(), IsBroken);
  if (broken && !slice.unhealthy_since) slice.unhealthy_since = now;
}

void RecordState(Slice& slice, const SliceSeen& seen, Facts& facts, TimePoint now) {
  slice.cloud_state = CloudState(seen, slice.ref);
  slice.ready = facts.view == SliceView::kReady;
  RecordHealth(slice, seen.nodes, now);
  slice.absences = 0;
  slice.gaps = facts.view == SliceView::kPartial ? std::min(slice.gaps + 1, 2) : 0;
  if (IsOrphaned(seen, slice.ref) && slice.gaps >= 2) RecordOrphaned(seen, facts);
  if (slice.phase == SlicePhase::kIntended) {
    slice.last_evidence_at = now;
    // Nodes requested one by one appear one by one: the request may still be under way.
    const bool all_requested = facts.view != SliceView::kPartial || seen.queued;
    if (all_requested) slice.phase = SlicePhase::kCreated;
  }
  if (seen.queued) facts.failure = seen.queued->failure;
}

void RecordNotice(Slice& slice, const SliceSeen& seen, Facts& facts) {
  if (seen.nodes.empty()) return;
  const auto notice = WorstOf(seen.nodes);
  if (slice.notice == notice) return;
  // It would end the command, so a list alone is not believed.
  if (notice && notice->imminent && !seen.by_name) {
    facts.doubtful = true;
    return;
  }
  slice.notice = notice;
  facts.notice = notice;
}

void RecordMachines(Slice& slice, const SliceSeen& seen, Facts& facts, TimePoint now) {
  slice.operations.clear();
  const Slice before = slice;
  facts.first_ready = before.hosts.empty();
  if (!RecordHosts(slice, seen.nodes, now)) return;
  facts.machines_replaced = true;
  facts.hosts_replaced = ReplacedAmongOthers(before, slice);
}

bool Lacks(SliceView view) {
  return view == SliceView::kAbsent || view == SliceView::kPartial;
}

/// A look by name runs beside the listings and may be answered after a newer one, which has shown
/// what was not found.
bool IsOvertaken(const Slice& slice, const SliceSeen& seen, SliceView view) {
  if (!seen.by_name || !Lacks(view) || slice.phase == SlicePhase::kIntended) return false;
  const auto& since = view == SliceView::kAbsent ? slice.omitted_since : slice.lacking_since;
  return !since || seen.began < *since;
}

/// Since when listings do not show the slice, or not all of it. What they show as lost is there.
void RecordOmission(Slice& slice, const SliceSeen& seen, SliceView view, bool doubtful) {
  const bool omitted = view == SliceView::kAbsent || view == SliceView::kForeign;
  if (!omitted) slice.omitted_since.reset();
  if (omitted && !slice.omitted_since) slice.omitted_since = seen.began;
  const bool lacking = Lacks(view) || doubtful;
  if (!lacking) slice.lacking_since.reset();
  if (lacking && !slice.lacking_since) slice.lacking_since = seen.began;
}

/// A list may be old, cut short, or changed on the way. What would end the use of the slice is
/// believed when it was asked for by name (doubt.cpp).
bool IsDoubtful(const Slice& slice, const SliceSeen& seen, SliceView view) {
  if (seen.by_name) return false;
  if (view == SliceView::kForeign) return true;
  const bool ends = view == SliceView::kDead || view == SliceView::kFailed;
  return ends && slice.phase != SlicePhase::kDeleting;
}

/// Other machines than those on record would end the attempt.
bool ShowsOtherMachines(const Slice& slice, const SliceSeen& seen) {
  const auto [nodes, hosts] = MachinesOf(seen.nodes);
  return slice.nodes != nodes || slice.hosts != hosts;
}

/// A listing that shows it as lost may be wrong, but the request has arrived: a "not found" that
/// was asked for before is no answer to it.
void RecordDoubtfulSighting(Slice& slice, const SliceSeen& seen, TimePoint now) {
  RecordSighting(slice, seen, now);
  if (slice.phase == SlicePhase::kIntended) slice.last_evidence_at = now;
}

}  // namespace

Facts FoldLook(Slice& slice, const SliceSeen& seen, TimePoint now) {
  const SliceView view = ViewOf(seen, slice.ref);
  const bool there = view != SliceView::kAbsent && view != SliceView::kForeign;
  if (seen.began < LastNewsOf(slice)) {
    if (there) RecordSighting(slice, seen, now);
    return {};
  }
  if (IsOvertaken(slice, seen, view)) return {};
  slice.no_answer.reset();
  Facts facts{.slice = seen.slice, .view = view, .looked_at = seen.began, .by_name = seen.by_name};
  facts.suspended = seen.queued && (seen.queued->state == QueuedState::kSuspending ||
                                    seen.queued->state == QueuedState::kSuspended);
  if (slice.ref.nodes > 1) facts.hosts_up = HostsThatAreUp(slice, seen.nodes);
  const bool lacks = Lacks(view) || (there && IsOrphaned(seen, slice.ref));
  const bool doubtful = IsDoubtful(slice, seen, view);
  RecordOmission(slice, seen, view, doubtful);
  if (doubtful) {
    if (there) RecordDoubtfulSighting(slice, seen, now);
    facts.view = SliceView::kNotLooked;
    facts.doubtful = true;
    return facts;
  }
  // Somebody else holds the name, so ours does not exist; a delete by name would hit theirs.
  if (view == SliceView::kForeign) {
    slice.phase = SlicePhase::kDeleting;
    slice.unshown.clear();
    return facts;
  }
  if (!lacks) slice.not_found_since.reset();
  if (lacks && seen.by_name && !slice.not_found_since) slice.not_found_since = seen.began;
  if (view == SliceView::kAbsent) {
    slice.absences = std::min(slice.absences + 1, 2);
    RecordTakenNames(slice, seen, facts);
    return facts;
  }
  RecordSighting(slice, seen, now);
  RecordState(slice, seen, facts, now);
  RecordTakenNames(slice, seen, facts);
  RecordNotice(slice, seen, facts);
  if (facts.view != SliceView::kReady) return facts;
  if (!seen.by_name && IsHeld(slice) && ShowsOtherMachines(slice, seen)) {
    facts.view = SliceView::kNotLooked;
    facts.doubtful = true;
  } else {
    RecordMachines(slice, seen, facts, now);
  }
  return facts;
}

void FoldFailedLook(Slice& slice, const LookFailed& failed, TimePoint now) {
  std::optional<NoAnswer>& known = slice.no_answer;
  // Messages of one failure vary; to record each would be a commit for every look.
  const bool same =
      known && known->error.code == failed.error.code && known->error.reason == failed.error.reason;
  if (same) return;
  known = NoAnswer{.since = known ? known->since : now, .error = failed.error};
}

}  // namespace jobman::core

#include "core/reconcile/slice_view.hpp"

#include <algorithm>

namespace jobman::core {
namespace {

SliceView ViewOfNode(const NodeSeen& node) {
  switch (node.state) {
    case NodeState::kReady:
      // UNHEALTHY_MAINTENANCE: under maintenance, goes on once rescheduled (API, Node.health).
      // Others are bad chips or a silent machine: nothing is started there.
      if (!IsHealthy(node) || node.hosts.empty()) return SliceView::kUnclear;
      return SliceView::kReady;
    case NodeState::kCreating:
    case NodeState::kStarting:
      return SliceView::kProvisioning;
    case NodeState::kPreempted:
    case NodeState::kTerminated:
    case NodeState::kStopped:
      return SliceView::kDead;
    case NodeState::kDeleting:
      return SliceView::kLeaving;
    case NodeState::kUnspecified:
    case NodeState::kRestarting:
    case NodeState::kReimaging:
    case NodeState::kRepairing:
    case NodeState::kStopping:
    case NodeState::kHiding:
    case NodeState::kHidden:
    case NodeState::kUnhiding:
    case NodeState::kUnknown:
      return SliceView::kUnclear;
  }
  return SliceView::kUnclear;
}

/// The highest weight decides for a slice of several nodes: one lost node loses them all.
int Weight(SliceView view) {
  switch (view) {
    case SliceView::kReady:
      return 0;
    case SliceView::kProvisioning:
      return 1;
    case SliceView::kUnclear:
      return 2;
    case SliceView::kPartial:
      return 3;
    case SliceView::kLeaving:
      return 4;
    case SliceView::kDead:
      return 5;
    case SliceView::kNotLooked:
    case SliceView::kAbsent:
    case SliceView::kForeign:
    case SliceView::kWaiting:
    case SliceView::kFailed:
      break;
  }
  return 0;
}

SliceView ViewOfNodes(const SliceSeen& seen, const SliceRef& ref) {
  const bool whole = static_cast<int>(seen.nodes.size()) >= ref.nodes;
  const NodeSeen* const telling = TellingNode(seen);
  const SliceView view = telling == nullptr ? SliceView::kPartial : ViewOfNode(*telling);
  return whole || Weight(view) > Weight(SliceView::kPartial) ? view : SliceView::kPartial;
}

SliceView ViewOfQueued(const SliceSeen& seen, const SliceRef& ref) {
  const QueuedSeen& queued = *seen.queued;
  switch (queued.state) {
    case QueuedState::kCreating:
    case QueuedState::kAccepted:
    case QueuedState::kWaitingForResources:
      return SliceView::kWaiting;
    case QueuedState::kProvisioning:
      return SliceView::kProvisioning;
    case QueuedState::kActive:
      return ViewOfNodes(seen, ref);
    case QueuedState::kFailed:
      return SliceView::kFailed;
    case QueuedState::kSuspending:
    case QueuedState::kSuspended:
      return SliceView::kDead;
    case QueuedState::kDeleting:
      return SliceView::kLeaving;
    case QueuedState::kUnspecified:
    case QueuedState::kUnknown:
      return SliceView::kUnclear;
  }
  return SliceView::kUnclear;
}

}  // namespace

bool IsHealthy(const NodeSeen& node) {
  return node.health.empty() || node.health == "HEALTHY" || node.health == "HEALTH_UNSPECIFIED";
}

bool IsIll(const NodeSeen& node) {
  return !IsHealthy(node) && node.health != "UNHEALTHY_MAINTENANCE";
}

bool IsBroken(const NodeSeen& node) {
  return node.state == NodeState::kReady && IsIll(node);
}

const NodeSeen* TellingNode(const SliceSeen& seen) {
  const auto most = std::max_element(seen.nodes.begin(), seen.nodes.end(),
                                     [](const NodeSeen& one, const NodeSeen& other) {
                                       return Weight(ViewOfNode(one)) < Weight(ViewOfNode(other));
                                     });
  return most == seen.nodes.end() ? nullptr : &*most;
}

bool IsOrphaned(const SliceSeen& seen, const SliceRef& ref) {
  return ref.mode == AllocationMode::kQueuedResources && !seen.queued;
}

SliceView ViewOf(const SliceSeen& seen, const SliceRef& ref) {
  if (seen.foreign) return SliceView::kForeign;
  if (seen.nodes.empty() && !seen.queued) return SliceView::kAbsent;
  // If so, its nodes hold quota and must be deleted (fold_look.cpp).
  if (IsOrphaned(seen, ref)) return SliceView::kPartial;
  return seen.queued ? ViewOfQueued(seen, ref) : ViewOfNodes(seen, ref);
}

}  // namespace jobman::core

#include "core/slice_view.hpp"

namespace jobman::core {
namespace {

SliceView ViewOfNode(const NodeSeen& node) {
  switch (node.state) {
    case NodeState::kReady:
      // UNHEALTHY_MAINTENANCE: under maintenance, goes on once rescheduled (API, Node.health).
      if (node.health == "UNHEALTHY_MAINTENANCE" || node.hosts.empty()) return SliceView::kUnclear;
      return SliceView::kReady;
    case NodeState::kCreating:
    case NodeState::kStarting:
      return SliceView::kProvisioning;
    case NodeState::kPreempted:
    case NodeState::kTerminated:
    case NodeState::kStopped:
      return SliceView::kHusk;
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

SliceView ViewOfQueued(const QueuedSeen& queued, const std::optional<NodeSeen>& node) {
  switch (queued.state) {
    case QueuedState::kCreating:
    case QueuedState::kAccepted:
    case QueuedState::kWaitingForResources:
      return SliceView::kWaiting;
    case QueuedState::kProvisioning:
      return SliceView::kProvisioning;
    // The node list may be older than that of the queued resources: an active one without a node
    // is no fact yet.
    case QueuedState::kActive:
      return node ? ViewOfNode(*node) : SliceView::kUnclear;
    case QueuedState::kFailed:
      return SliceView::kFailed;
    case QueuedState::kSuspending:
    case QueuedState::kSuspended:
      return SliceView::kHusk;
    case QueuedState::kDeleting:
      return SliceView::kLeaving;
    case QueuedState::kUnspecified:
    case QueuedState::kUnknown:
      return SliceView::kUnclear;
  }
  return SliceView::kUnclear;
}

}  // namespace

SliceView ViewOf(const SliceSeen& seen, AllocationMode mode) {
  if (seen.foreign) return SliceView::kForeign;
  if (!seen.node && !seen.queued) return SliceView::kAbsent;
  if (mode == AllocationMode::kTpuVm) {
    return seen.node ? ViewOfNode(*seen.node) : SliceView::kUnclear;
  }
  // A node that outlives its queued resource still holds quota: it must go.
  if (!seen.queued) return SliceView::kHusk;
  return ViewOfQueued(*seen.queued, seen.node);
}

}  // namespace jobman::core

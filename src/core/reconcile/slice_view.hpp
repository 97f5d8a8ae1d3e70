#pragma once

#include "jobman/core/reconcile.hpp"

namespace jobman::core {

/// What a look at the cloud means for a job: one word for the many states of nodes and queued
/// resources.
enum class SliceView {
  kNotLooked,     ///< no fresh observation
  kAbsent,        ///< not in a complete listing
  kForeign,       ///< the name belongs to somebody else
  kWaiting,       ///< accepted, in the queue
  kProvisioning,  ///< being created, or coming back
  kReady,         ///< usable, addresses known
  kPartial,       ///< some of its nodes are not in a complete listing
  kUnclear,       ///< repair, maintenance, unknown states: keep it and look again
  kDead,          ///< preempted, suspended, terminated, stopped: holds quota, must be deleted
  kFailed,        ///< the queued resource, or the create operation, failed
  kLeaving,       ///< being deleted
};

SliceView ViewOf(const SliceSeen& seen, const SliceRef& ref);
/// The service has no complaint about its health.
bool IsHealthy(const NodeSeen& node);
/// The service calls it unhealthy, and not for maintenance, which ends by itself.
bool IsIll(const NodeSeen& node);
/// READY and ill.
bool IsBroken(const NodeSeen& node);
/// Nodes were seen without their queued resource: they are left over, or a listing omitted it.
bool IsOrphaned(const SliceSeen& seen, const SliceRef& ref);
/// The seen node that matters most for the slice; nullptr if none was seen.
const NodeSeen* TellingNode(const SliceSeen& seen);

}  // namespace jobman::core

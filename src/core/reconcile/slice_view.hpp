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
  kUnclear,       ///< repair, maintenance, unknown words: keep what we have and look again
  kDead,          ///< preempted, suspended, terminated, stopped: holds quota, must be deleted
  kFailed,        ///< the queued resource, or the create operation, failed
  kLeaving,       ///< being deleted
};

SliceView ViewOf(const SliceSeen& seen, const SliceRef& ref);
/// Of a queued resource, and it was not seen: its nodes are left over, or a listing left it out.
bool IsOrphaned(const SliceSeen& seen, const SliceRef& ref);
/// Of the nodes that were seen, the one that says most about the slice; none seen: nullptr.
const NodeSeen* TellingNode(const SliceSeen& seen);

}  // namespace jobman::core

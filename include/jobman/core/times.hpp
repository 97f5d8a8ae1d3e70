#pragma once

#include "jobman/base/time.hpp"

/// Times by which the reconciler looks at the cloud and gives up waiting for it, and how they hang
/// together.
namespace jobman::core {

/// The longest time between two looks at the cloud.
inline constexpr base::Duration kPoll = std::chrono::seconds{15};
/// What was just created may be in no listing for this long.
inline constexpr base::Duration kVanishGrace = std::chrono::seconds{60};
/// A delete without effect is repeated after it.
inline constexpr base::Duration kDeleteAgain = std::chrono::seconds{30};
/// An abandoned request is looked for that long.
inline constexpr base::Duration kLateWatch = std::chrono::minutes{10};
/// A slice that is not READY after it is given back.
inline constexpr base::Duration kProvisioningLimit = std::chrono::minutes{60};
/// After a notice of maintenance ended the command: how long its start may wait for that.
inline constexpr base::Duration kMaintenanceWait = std::chrono::minutes{2};
/// A request that stays in the queue for this long is no refusal: others may ask.
inline constexpr base::Duration kQueueHolds = std::chrono::minutes{2};

static_assert(2 * kPoll <= kVanishGrace, "two listings, which make a fact, fit into the grace");
static_assert(kPoll < kDeleteAgain, "a delete is looked for before it is repeated");
static_assert(kVanishGrace < kLateWatch, "what may be invisible still is watched for");
static_assert(kVanishGrace < kProvisioningLimit, "a slice is seen before it is late");
static_assert(kPoll < kMaintenanceWait, "a slice that came back is seen before the wait is over");
static_assert(kPoll < kQueueHolds, "that a request is in the queue is seen before it counts");

}  // namespace jobman::core

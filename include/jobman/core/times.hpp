#pragma once

#include "jobman/base/time.hpp"

/// Times after which the reconciler looks at the cloud or stops waiting for it, and their
/// relations.
namespace jobman::core {

/// The longest time between two looks at the cloud.
inline constexpr base::Duration kPoll = std::chrono::seconds{15};
/// A new slice may be missing from listings for this long.
inline constexpr base::Duration kVanishGrace = std::chrono::seconds{60};
/// A create without a clear answer is repeated at once when listings do not show the slice, then
/// after this time, twice the time, and so on up to the cap.
inline constexpr base::Duration kRequestAgain = std::chrono::seconds{2};
inline constexpr base::Duration kRequestAgainCap = std::chrono::minutes{1};
/// After this time a delete without effect is repeated.
inline constexpr base::Duration kDeleteAgain = std::chrono::seconds{30};
/// A delete that is refused is repeated after twice the time, and so on up to this.
inline constexpr base::Duration kDeleteAgainCap = std::chrono::minutes{10};
/// How long hosts that answer are believed while the cloud, asked by name, does not know their
/// slice.
inline constexpr base::Duration kDoubtLimit = std::chrono::minutes{5};
/// How long a job that cannot go on waits until a node that the service calls unhealthy is
/// repaired.
inline constexpr base::Duration kRepairLimit = std::chrono::minutes{15};
/// How long an abandoned request is watched.
inline constexpr base::Duration kLateWatch = std::chrono::minutes{10};
/// A slice that is not READY after this time is deleted.
inline constexpr base::Duration kProvisioningLimit = std::chrono::minutes{60};
/// After a maintenance notice ended the command: how long the restart may wait for the maintenance.
inline constexpr base::Duration kMaintenanceWait = std::chrono::minutes{2};
/// A request that stays in the queue for this long counts as accepted: other jobs may ask.
inline constexpr base::Duration kQueueHolds = std::chrono::minutes{2};

static_assert(2 * kPoll <= kVanishGrace,
              "two listings, which make it doubtful, fit into the grace");
static_assert(kVanishGrace < kDoubtLimit,
              "hosts are believed for longer than a slice is invisible");
static_assert(kDeleteAgain < kDeleteAgainCap, "the pauses grow");
static_assert(kRequestAgain < kRequestAgainCap, "the pauses grow");
static_assert(kPoll < kDeleteAgain, "its effect is looked for before a delete is repeated");
static_assert(kVanishGrace < kLateWatch, "a slice that may still be invisible is watched for");
static_assert(kRepairLimit < kProvisioningLimit, "an unhealthy node is given up before a slow one");
static_assert(kVanishGrace < kProvisioningLimit, "a slice is seen before it is late");
static_assert(kPoll < kMaintenanceWait, "a slice that came back is seen before the wait is over");
static_assert(kPoll < kQueueHolds, "a request is seen in the queue before it counts");

}  // namespace jobman::core

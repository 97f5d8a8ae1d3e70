#pragma once

#include <optional>

#include "jobman/client/context.hpp"
#include "jobman/controller/nudge.hpp"

namespace jobman::client {

/// How often a command that waits looks whether a controller lives: it may have been killed.
inline constexpr base::Duration kLookAtController = std::chrono::seconds{1};

/// The lease, if a controller that lives holds it.
base::Task<base::Result<std::optional<ports::Lease>>> LiveController(ports::LeaseStore* leases,
                                                                     base::TimePoint now);
/// Sees to it that a controller is at work: starts one in the background when none is, and waits
/// until it holds the lease.
base::Task<base::Status> EnsureController(Context context);
/// EnsureController, then "look at the store now". A nudge without secrets may be lost: the
/// controller looks by itself each second.
base::Task<base::Status> WakeController(Context context, controller::Nudge nudge = {});

}  // namespace jobman::client

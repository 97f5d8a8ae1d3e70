#pragma once

#include <optional>

#include "jobman/client/context.hpp"
#include "jobman/controller/nudge.hpp"

namespace jobman::client {

/// The lease, if a live controller holds it.
base::Task<base::Result<std::optional<ports::Lease>>> LiveController(ports::LeaseStore* leases,
                                                                     base::TimePoint now);
/// Why no controller can hold the lease of the home folder's store, one that is running included:
/// kDiskFull if the store's disk has no room for a record.
base::Status ControllerCanWork(const base::StatePaths& paths);
/// Makes sure that a controller is running: starts one in the background if there is none, and
/// waits until it holds the lease. One that runs here and is only late (kLateController) counts.
/// kUnavailable if it does not start; errors of ControllerCanWork().
base::Task<base::Status> EnsureController(Context context);
/// EnsureController(), then tells the controller to read the store now. A nudge without secrets may
/// be lost: the controller reads the store every second anyway.
base::Task<base::Status> WakeController(Context context, controller::Nudge nudge = {});
/// Sends SIGTERM to the controller and waits until it has released the lease. False if none runs.
/// kFailedPrecondition if it is on another machine or in another container; kDeadlineExceeded after
/// 30 s, or if the user interrupts. Not from a coroutine.
base::Result<bool> StopController(const Context& context);

}  // namespace jobman::client

#pragma once

#include "cli/app.hpp"
#include "jobman/controller/nudge.hpp"

namespace jobman::cli {

/// How often a command that waits looks whether a controller lives: it may have been killed.
inline constexpr base::Duration kLookAtController = std::chrono::seconds{1};

/// The lease, if a controller that lives holds it.
base::Result<std::optional<ports::Lease>> LiveController(App& app, ports::LeaseStore& leases);
/// Sees to it that a controller is at work: starts one in the background when none is, and waits
/// until it holds the lease.
base::Status EnsureController(App& app, ports::LeaseStore& leases);
/// EnsureController, then "look at the store now".
base::Status WakeController(App& app, ports::LeaseStore& leases,
                            const controller::Nudge& nudge = {});

}  // namespace jobman::cli

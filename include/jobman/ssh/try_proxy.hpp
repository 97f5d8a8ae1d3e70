#pragma once

#include "jobman/ports/host_shell.hpp"

namespace jobman::ssh {

/// Whether the proxy of a target that has one leads to something that speaks SSH: starts it, waits
/// for the greeting, `limit` at most, and ends it. Logs in nowhere. Errors: those of
/// HostShell::Run() for a host that cannot be reached.
base::Task<base::Status> TryProxy(ports::HostTarget target, base::Duration limit);

}  // namespace jobman::ssh

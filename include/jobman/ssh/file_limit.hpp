#pragma once

#include <cstdint>

namespace jobman::ssh {

/// How many hosts a process may be connected to at once, at least 1, if it may open `limit` files.
/// A connection takes two of them, and a third with a proxy or an ssh-agent. 64 are left for all
/// else (store, cloud, logins), or half of a limit below 128. See getrlimit(2), RLIMIT_NOFILE.
int HostsWithin(std::int64_t limit);

/// How many files this process may open now.
std::int64_t FileLimit();
/// Raises that to the system's maximum for this process; returns the new limit.
std::int64_t RaiseFileLimit();

/// How many of the hosts that are wanted at once may be: as many as fit within FileLimit(). 0: as
/// many as fit.
int HostsAtOnce(int wanted = 0);

}  // namespace jobman::ssh

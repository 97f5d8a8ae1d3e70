#pragma once

#include <memory>

#include "ssh/session.hpp"

namespace jobman::ssh {

/// Joins a connected socket to `port` on the host's loopback address, on a channel of its own,
/// until both sides have closed. The socket is taken from `local` when the host has opened the
/// channel.
/// `*answered` becomes true when the host has said yes or no, or the port alone is silent: another
/// session would hear the same.
/// Memory: two blocks of 16 KiB, and libssh's window of the channel.
Task<base::Status> RelayOn(std::shared_ptr<Session> session, int port,
                           std::shared_ptr<base::UniqueFd> local, base::Duration open_timeout,
                           bool* answered);

}  // namespace jobman::ssh

#pragma once

#include <libssh/libssh.h>

#include <memory>
#include <span>

#include "jobman/base/task.hpp"
#include "ssh/session.hpp"

namespace jobman::ssh {

// What a channel that carries a connection moves, with waits for the peer. The bytes, and the
// channel, must stay until the coroutine has ended.

/// Whether nothing can be read from it or sent on it any more.
bool IsClosed(const Session& session, ssh_channel channel);
/// The next bytes from the host, into `room`: how many, 0 at their end.
base::Task<std::size_t> ReceiveSome(std::shared_ptr<Session> session, ssh_channel channel,
                                    std::span<char> room);
/// False if the channel is closed before all is sent.
base::Task<bool> SendAll(std::shared_ptr<Session> session, ssh_channel channel,
                         std::span<const char> bytes);

}  // namespace jobman::ssh

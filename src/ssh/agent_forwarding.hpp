#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "ssh/session.hpp"

namespace jobman::ssh {

/// From now on the host may talk to the ssh-agent that listens at `path`: every channel that its
/// server opens for that gets a connection of its own to the agent. It is closed when either end
/// closes it, when it is silent for long, and with the session. An agent that hangs, or has gone,
/// concerns nothing but such a channel.
void ForwardAgent(asio::any_io_executor executor, const std::shared_ptr<Session>& session,
                  std::string path);

}  // namespace jobman::ssh

#pragma once

#include "ssh/session.hpp"

namespace jobman::ssh {

/// Runs one command on its own channel. `*started` becomes true when the command may have begun:
/// from then on a retry could run it twice. Until then nothing is taken of its input, which is let
/// go as it is sent; from then on the command has neither its text nor its `may_begin`. The command
/// and the sinks must stay until the coroutine has ended.
Task<base::Result<int>> Exec(std::shared_ptr<Session> session, ports::RemoteCommand* command,
                             const ports::ByteSink* out, const ports::ByteSink* err,
                             base::Duration open_timeout, bool* started);

}  // namespace jobman::ssh

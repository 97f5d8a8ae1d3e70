#pragma once

#include "ssh/session.hpp"

namespace jobman::ssh {

/// Runs one command on its own channel. `*started` becomes true when the command may have begun:
/// from then on a retry could run it twice.
Task<base::Result<int>> Exec(std::shared_ptr<Session> session, ports::RemoteCommand command,
                             ports::ByteSink out, ports::ByteSink err, base::Duration open_timeout,
                             bool* started);

}  // namespace jobman::ssh

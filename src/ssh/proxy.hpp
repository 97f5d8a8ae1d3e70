#pragma once

#include <memory>

#include "jobman/ports/host_shell.hpp"
#include "ssh/proxy_process.hpp"
#include "ssh/session.hpp"

namespace jobman::ssh {

/// Starts the proxy of the target, and waits until something that speaks SSH answers, `limit` at
/// most. kUnavailable with kHostRefused if it ends or prints something else, with kHostTimeout if
/// it is silent; each with what it said last. It has ended then.
Task<base::Result<std::shared_ptr<ProxyProcess>>> OpenProxy(ports::SharedTarget target,
                                                            base::Duration limit);

/// Until the session has ended: asks the host for an answer again and again, and breaks the session
/// when nothing has come for `silence`. A socket to a child process has no keepalive that tells of
/// a peer behind it.
Task<void> KeepAlive(std::weak_ptr<Session> session, base::Duration silence);

}  // namespace jobman::ssh

#pragma once

#include <sys/types.h>

#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/result.hpp"

/// Unix sockets in the state folder. The kernel takes paths of 107 bytes; a longer one goes through
/// a descriptor of its folder.
namespace jobman::controller {

/// Binds `socket` to `path` with mode 0600, in place of what an earlier controller left there.
base::Status BindPrivately(int socket, const base::Path& path);
/// Sends one datagram to the socket at `path`. The errno if that fails, else 0.
base::Result<int> SendDatagram(int socket, const base::Path& path, const std::string& message);

/// A stream socket that listens at `path`, non-blocking, with mode 0600.
base::Result<base::UniqueFd> ListenAt(const base::Path& path);
/// A non-blocking stream socket that is connected to the one at `path`. kUnavailable if nobody
/// listens there; kResourceExhausted if too many wait to be accepted: try again soon.
base::Result<base::UniqueFd> ConnectTo(const base::Path& path);

/// The process at the other end of a connected stream socket: of one that was connected, the
/// process that listens (SO_PEERCRED, unix(7)). kPermissionDenied if another user runs it.
base::Result<pid_t> PeerOfSameUser(int socket);

}  // namespace jobman::controller

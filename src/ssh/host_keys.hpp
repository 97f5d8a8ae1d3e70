#pragma once

#include <libssh/libssh.h>

#include <string>

#include "jobman/ports/host_shell.hpp"
#include "jobman/ssh/known_hosts.hpp"

namespace jobman::ssh {

/// The host key algorithms to offer, those of the vouched or pinned key's type first: otherwise a
/// host with several keys would show one that we do not know.
base::Result<std::string> HostKeyAlgorithms(const ports::HostTarget& target, KnownHosts& known);

/// Whether the key that the server proved to hold is the right one; pins it when it is new.
base::Status CheckHostKey(ssh_session session, const ports::HostTarget& target, KnownHosts& known);

}  // namespace jobman::ssh

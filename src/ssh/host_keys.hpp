#pragma once

#include <libssh/libssh.h>

#include <optional>
#include <string>

#include "jobman/ports/host_shell.hpp"

namespace jobman::ssh {

/// The host key algorithms to offer, those of the vouched or pinned key's type first: otherwise a
/// host with several keys would show one that we do not know.
std::string HostKeyAlgorithms(const ports::HostTarget& target,
                              const std::optional<std::string>& pinned);

/// The key that the server proved to hold, if it is the right one; to be pinned when it is new.
base::Result<std::string> CheckHostKey(ssh_session session, const ports::HostTarget& target,
                                       const std::optional<std::string>& pinned);

}  // namespace jobman::ssh

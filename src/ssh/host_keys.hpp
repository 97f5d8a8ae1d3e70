#pragma once

#include <libssh/libssh.h>

#include <optional>
#include <string>

#include "jobman/ports/host_shell.hpp"

namespace jobman::ssh {

/// The host key algorithms to offer, starting with the types of the vouched or pinned keys:
/// otherwise a host with several keys might show one that we do not know.
std::string HostKeyAlgorithms(const ports::HostTarget& target,
                              const std::optional<std::string>& pinned);

/// The host key that the server proved to have, if accepted; to be pinned if new.
base::Result<std::string> CheckHostKey(ssh_session session, const ports::HostTarget& target,
                                       const std::optional<std::string>& pinned);

}  // namespace jobman::ssh

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "jobman/base/handle.hpp"

namespace jobman::sim {

/// Connections that fill the backlog of a listener whose server accepts nothing: the kernel drops
/// what comes after them, so that others hang in connecting as if no packet arrived. Nobody needs
/// a firewall, or to be root, for this. It lasts as long as the descriptors.
using Blockade = std::vector<base::UniqueFd>;
Blockade BlockadeOf(const std::vector<std::string>& addresses, int port);

/// The sshd processes at and below a process, the uppermost first.
std::vector<pid_t> SshServers(pid_t root);

}  // namespace jobman::sim

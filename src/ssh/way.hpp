#pragma once

#include <string>

#include "jobman/base/result.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::ssh {

/// "10.0.0.1:22", "10.0.0.1:22 through ada@bastion": named in every message.
std::string EndpointOf(const ports::HostTarget& target);

/// kInvalidArgument for what is no address or name of a host: it came from the API, and a shell may
/// read it.
base::Status CheckAddress(const std::string& address);

/// For a target that has a proxy: the command for a shell whose standard input and output are the
/// connection. Each jump is a hop of the OpenSSH client, by the user's own ssh_config(5)
/// and known_hosts; none asks anything, since nobody may be there.
/// kInvalidArgument for an address, a login name or a name of a VM that a shell could misread;
/// kUnavailable with kHostRefused without the name that %n stands for.
base::Result<std::string> ProxyCommandOf(const ports::HostTarget& target);

}  // namespace jobman::ssh

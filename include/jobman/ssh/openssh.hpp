#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::ssh {

/// The command line of the OpenSSH client for an interactive login, "ssh ... -- user@address"; a
/// remote command may be appended: none of its words is taken for an option. The vouched or pinned
/// host key is written to `known_hosts_file` under an alias of the machine; no other key is
/// accepted. kFailedPrecondition when no key is known yet: run any command on the host through
/// HostShell first. A proxy of the target is the client's ProxyCommand. kInvalidArgument for an
/// address that is none.
base::Result<std::vector<std::string>> OpenSshArguments(const ports::HostTarget& target,
                                                        const std::optional<std::string>& pinned,
                                                        const base::Path& known_hosts_file);

}  // namespace jobman::ssh

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::client {

class Interrupts;

/// The hosts of the job's slice in the set `numbers` ("all", "0,3-7"), ready to log in to. Errors
/// of TargetOf(); kInvalidArgument if `numbers` is not a host set.
base::Result<std::vector<ssh::FanOutHost>> ChooseHosts(const base::StatePaths& paths,
                                                       const core::Job& job,
                                                       const std::string& numbers);

/// Runs `command` on the hosts. Meanwhile SIGINT, SIGTERM and SIGHUP do not end the process but
/// the command: it is sent TERM on every host, and the result is empty. Not from a coroutine.
std::optional<ssh::FanOutResult> RunOnHosts(const Context& context,
                                            std::vector<ssh::FanOutHost> hosts, std::string command,
                                            ssh::FanOutOptions options);

/// The same on a shell and with interrupts that several calls share, with all that a command can
/// have.
std::optional<ssh::FanOutResult> RunOnHosts(const Context& context, Interrupts* interrupts,
                                            ports::HostShell* shell,
                                            std::vector<ssh::FanOutHost> hosts,
                                            ports::RemoteCommand command,
                                            ssh::FanOutOptions options);

}  // namespace jobman::client

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::client {

/// The hosts of the job's slice that `numbers` names ("all", "0,3-7"), ready to log in to. Errors
/// as those of TargetOf(); kInvalidArgument for what is no set of hosts.
base::Result<std::vector<ssh::FanOutHost>> ChooseHosts(const base::StatePaths& paths,
                                                       const core::Job& job,
                                                       const std::string& numbers);

/// Runs `command` on the hosts. SIGINT and SIGTERM do not end the process meanwhile: they end the
/// command, which is sent TERM where it runs, and give back nothing. Not from a coroutine.
std::optional<ssh::FanOutResult> RunOnHosts(const Context& context,
                                            std::vector<ssh::FanOutHost> hosts, std::string command,
                                            ssh::FanOutOptions options);

}  // namespace jobman::client

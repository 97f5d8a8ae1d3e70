#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::client {

class Interrupts;

/// Which hosts of a job; their numbers are those of the job, also within a slice of a multislice.
struct HostChoice {
  std::string numbers = "all";    ///< a host set: "all", "0,3-7"
  std::string excluded = {};      ///< a host set; empty: none
  std::optional<int> slice = {};  ///< only hosts of this one, from 0: JOBMAN_SLICE_INDEX
};

/// The chosen hosts of the job's slice, ready to log in to. Errors of TargetOf(), also for a host
/// to exclude that the job does not have; kNotFound for a slice that it does not have;
/// kInvalidArgument if a text is no host set, or no host is left.
base::Result<std::vector<ssh::FanOutHost>> ChooseHosts(const base::StatePaths& paths,
                                                       const core::Job& job,
                                                       const HostChoice& choice);
/// Those in the set `numbers`.
base::Result<std::vector<ssh::FanOutHost>> ChooseHosts(const base::StatePaths& paths,
                                                       const core::Job& job,
                                                       const std::string& numbers);

/// Runs `command` on the hosts, on a shell and with interrupts that several calls share. An
/// interrupt cancels it: the command is sent TERM on every host, and the result is empty. Not from
/// a coroutine.
std::optional<ssh::FanOutResult> RunOnHosts(const Context& context, Interrupts* interrupts,
                                            ports::HostShell* shell,
                                            std::vector<ssh::FanOutHost> hosts,
                                            ports::RemoteCommand command,
                                            ssh::FanOutOptions options);

}  // namespace jobman::client

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "jobman/base/state_paths.hpp"
#include "jobman/base/task.hpp"
#include "jobman/core/ssh_config.hpp"
#include "jobman/ports/host_key_store.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::controller {

/// The hosts of a job's slice for ssh_config(5), without their keys and the names of their VMs;
/// nothing if it holds none. `default_port` is for a job whose `ssh.port` is 0.
std::optional<core::SshJob> SshJobOf(const core::Job& job, int default_port);

/// Looks up the keys that are pinned for the hosts, or only those of hosts without one. `job` is
/// changed on the loop's thread, between waits. Errors: the store could not be read.
base::Task<base::Status> FindPinnedKeys(ports::HostKeyStore* keys,
                                        std::shared_ptr<core::SshJob> job, bool all);

/// The jobs of the store that hold hosts, those that are over included, by number, but not these. A
/// record that cannot be used is passed over. The store must outlive the coroutine.
base::Task<base::Result<std::vector<core::Job>>> JobsWithHosts(ports::JobStore* jobs,
                                                               std::set<core::JobId> but = {});

/// The jobs without those private keys that are not on disk, as there may be one in the agent. May
/// block.
std::vector<core::SshJob> WithKeysOnDisk(std::vector<core::SshJob> jobs);

/// The text for these jobs, as core::SshConfigFor().
core::SshConfig SshConfigOf(const base::StatePaths& paths, const std::vector<core::SshJob>& jobs,
                            std::optional<core::JobId> only = {});

/// Replaces the files of StatePaths that the OpenSSH client reads; of the keys that it saw itself,
/// those of machines that are gone, or have a pinned key by now, are dropped. May block.
base::Status WriteSshConfig(const base::StatePaths& paths, const core::SshConfig& config);

}  // namespace jobman::controller

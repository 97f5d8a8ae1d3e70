#pragma once

#include <optional>
#include <string>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// The SSH port for a job that leaves it open: the local simulator's, else 22.
int SshPort(const base::StatePaths& paths, const core::CloudSpec& spec);
/// Where and how to log in to host number `host` of the job's slice. kUnavailable while the job has
/// no hosts yet, kFailedPrecondition when it is over and has none any more, kNotFound when its
/// hosts have other numbers.
base::Result<ports::HostTarget> TargetOf(const base::StatePaths& paths, const core::Job& job,
                                         int host);
/// The key that is pinned for the host; where none is, one login pins it.
base::Task<base::Result<std::optional<std::string>>> HostKeyOf(Context context,
                                                               ports::HostTarget target);

}  // namespace jobman::client

#pragma once

#include <optional>
#include <string>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// The SSH port of a job that does not set one: the local simulator's, else 22.
int SshPort(const base::StatePaths& paths, const core::CloudSpec& spec);
/// Where and how to log in to host number `host` of the job's slice. kUnavailable if the job has no
/// hosts yet, kFailedPrecondition if it is finished and has no hosts any more, kNotFound if its
/// slice has no host of this number.
base::Result<ports::HostTarget> TargetOf(const base::StatePaths& paths, const core::Job& job,
                                         int host);
/// The host's pinned key. If none is pinned and none is vouched for, logs in once, which pins it.
base::Task<base::Result<std::optional<std::string>>> HostKeyOf(Context context,
                                                               ports::HostTarget target);

}  // namespace jobman::client

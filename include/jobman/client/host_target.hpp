#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// The SSH port of a job that does not set one: the local simulator's, else 22.
int SshPort(const base::StatePaths& paths, const core::CloudSpec& spec);
/// SshPort() for a controller, which asks before each call to each host: looking for the simulator
/// reads files. Another one may be started, so it is looked for again once `good_for` has passed.
class SshPorts {
 public:
  explicit SshPorts(base::StatePaths paths, base::Duration good_for = std::chrono::seconds{1})
      : paths_(std::move(paths)), good_for_(good_for) {}
  int Of(const core::CloudSpec& spec);

 private:
  using SteadyClock = std::chrono::steady_clock;
  base::StatePaths paths_;
  base::Duration good_for_;
  std::optional<int> local_ = {};
  SteadyClock::time_point looked_at_ = {};
};

/// Where and how to log in to host number `host` of the job's slice. kUnavailable if the job has no
/// hosts yet, kFailedPrecondition if it is finished and has no hosts any more, kNotFound if its
/// slice has no host of this number.
base::Result<ports::HostTarget> TargetOf(const base::StatePaths& paths, const core::Job& job,
                                         int host);
/// The host's pinned key. If none is pinned and none is vouched for, logs in once, which pins it.
base::Task<base::Result<std::optional<std::string>>> HostKeyOf(Context context,
                                                               ports::HostTarget target);

}  // namespace jobman::client

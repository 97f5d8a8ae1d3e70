#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/core/ssh_config.hpp"

namespace jobman::client {

/// What the OpenSSH client is to know of the jobs' hosts, as the controller writes it.
struct HostNames {
  std::vector<core::SshJob> jobs = {};  ///< those that hold hosts, by number
  core::SshConfig config = {};
};
/// From the records. `only`: of this job alone; kUnavailable if it has no hosts yet,
/// kFailedPrecondition if it is over and has none any more.
base::Task<base::Result<HostNames>> FindHostNames(Context context,
                                                  std::optional<core::JobId> only = {});

/// A change of the user's ssh_config(5): the line that includes jobman's.
struct IncludePlan {
  base::Path file = {};    ///< as the user names it
  base::Path target = {};  ///< where links lead
  std::string line = {};   ///< Include "/home/ada/.local/state/jobman/ssh_config"
  bool changes = false;    ///< false: all is so already
  std::string text = {};   ///< the file as it will be
  mode_t mode = 0600;      ///< as it is; of a new file
};
/// Adds the line at the top, where it is about every host, or removes it. kInvalidArgument if the
/// path of `included` cannot be written there, or `file` is something else than a file.
base::Result<IncludePlan> PlanInclude(const base::Path& file, const base::Path& included,
                                      bool remove);
/// Replaces the file at once. kPermissionDenied if it is somebody else's, or its folder cannot be
/// written.
base::Status CarryOut(const IncludePlan& plan);

}  // namespace jobman::client

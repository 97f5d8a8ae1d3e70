#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "jobman/client/context.hpp"
#include "jobman/core/guest.hpp"

namespace jobman::client {

using core::IsTrueIn;
using core::kEnableOsLogin;

/// How many hosts the slices of one attempt have. 0 if the type's number of hosts is not known
/// here.
int HostsFor(const core::TpuSpec& tpu);

/// How many external addresses the slices of one attempt take: one for each host. 0 if they take
/// none, or the type's number of hosts is not known here.
int AddressesFor(const core::TpuSpec& tpu);

/// What Compute Engine says of a project, in the region of a slice.
struct ProjectView {
  bool os_login = false;                             ///< hosts ask for it, unless a node says no
  std::optional<ports::RegionQuota> addresses = {};  ///< IN_USE_ADDRESSES; nothing if not known
};

/// What LookAtProject() has kept of the job's project and would give; nothing if it would ask.
base::Task<std::optional<ProjectView>> KeptView(Context context, core::JobSpec spec);

/// Asks for the job's project and region, within kProjectAnswer; what is found is kept in the
/// store's cache for kProjectKept, what leaves no room for AddressesFor() only kDoubtKept: others
/// may have ended, or more been granted. What these credentials may not see (403, the API is not
/// enabled) is left out. `api` is of the job's cloud.
base::Task<base::Result<ProjectView>> LookAtProject(Context context,
                                                    std::shared_ptr<ports::ProjectApi> api,
                                                    core::JobSpec spec);

}  // namespace jobman::client

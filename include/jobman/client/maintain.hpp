#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/core/job.hpp"

namespace jobman::client {

/// What the cloud said to the maintenance of a node.
struct MaintenanceAsked {
  std::string node = {};
  std::optional<base::Error> refused = {};  ///< nothing: it begins
};

/// Begins the maintenance that the cloud has announced for the slice that the job holds, on each of
/// its nodes: in one request if they are of one queued resource
/// (queuedResources.performMaintenanceQueuedResource of v2alpha1); if that is refused, as when one
/// of them has none announced, or for other slices, node by node (nodes.performMaintenance). The
/// job needs not be told: it sees maintenance as any other. An order to the cloud, not a wish of
/// the job: nothing is recorded. kFailedPrecondition if the job holds no slice; else the answers in
/// node order.
base::Task<base::Result<std::vector<MaintenanceAsked>>> BeginMaintenance(Context context,
                                                                         core::JobId id);

}  // namespace jobman::client

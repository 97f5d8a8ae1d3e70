#pragma once

#include <functional>
#include <vector>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// The first half of `clean`: the controller is to delete what the jobs still have in the cloud.
/// Returns the jobs that have something there, which must be at rest (see AtRest()) before
/// EraseJobs(); `on_delete` is called with each.
base::Task<base::Result<std::vector<core::JobId>>> DeleteSlices(
    Context context, std::vector<core::JobId> ids, std::function<void(core::JobId)> on_delete);
/// The second half: deletes the jobs' records, then their logs. A crash in between leaves logs
/// without a job, but never a slice without one. Returns the erased jobs. kStale if a job changes
/// meanwhile: it and those after it are kept.
base::Task<base::Result<std::vector<core::Job>>> EraseJobs(Context context,
                                                           std::vector<core::JobId> ids);

}  // namespace jobman::client

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
/// What became of jobs that were to be erased.
struct Erased {
  struct Refused {
    core::JobId job = {};
    base::Error error = {};
  };
  std::vector<core::Job> jobs = {};
  std::vector<Refused> refused = {};
};
/// The second half: deletes the jobs' records, then their logs. A crash in between leaves logs
/// without a job, but never a slice without one. A job that cannot be erased is kept, and those
/// after it are erased all the same: kStale if it changed meanwhile, kUnavailable while a slice of
/// it may still appear.
base::Task<Erased> EraseJobs(Context context, std::vector<core::JobId> ids);

}  // namespace jobman::client

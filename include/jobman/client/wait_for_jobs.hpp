#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// What to wait for.
struct WaitFor {
  /// Whether the wait for this job is over. Called each time it is read, until it is true once.
  std::function<base::Result<bool>(const core::Job& job)> settled = {};
  std::optional<base::Duration> timeout = {};
  /// The end of "waited 5m for job 000042 to be RUNNING": "to be RUNNING".
  std::string goal = {};
};

/// Waits until every job is settled, and keeps a controller running meanwhile. Returns the jobs as
/// they were when they settled, in the order of `ids`. kCancelled if the user interrupted,
/// kDeadlineExceeded after the timeout; both name the jobs that are not settled, and leave them as
/// they are.
base::Result<std::vector<core::Job>> WaitForJobs(const Context& context,
                                                 const std::vector<core::JobId>& ids,
                                                 const WaitFor& wait);

/// Whether nothing is left to do for the job, except to hold its slice.
bool AtRest(const core::Job& job);

}  // namespace jobman::client

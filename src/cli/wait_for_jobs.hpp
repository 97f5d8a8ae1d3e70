#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cli/app.hpp"

namespace jobman::cli {

/// What a command that waits for jobs waits for.
struct WaitFor {
  /// Whether no more is waited for this job. Asked again and again until it says so once.
  std::function<base::Result<bool>(const core::Job& job)> settled = {};
  std::optional<base::Duration> timeout = {};
  /// What is waited for, in a sentence that ends so: "waited 5m for job 000042 to be RUNNING".
  std::string goal = {};
};

/// Waits until every job is settled, tells each change on stderr, and sees to it that a controller
/// is at work meanwhile. Gives back the jobs as they were when they settled, in the order of `ids`.
/// kCancelled when the user interrupted, kDeadlineExceeded after the timeout; both name the jobs
/// that are not settled and change nothing about them.
base::Result<std::vector<core::Job>> WaitForJobs(App& app, const ports::Stores& stores,
                                                 const std::vector<core::JobId>& ids,
                                                 const WaitFor& wait);

/// Nothing is left to be done for the job but to hold its slice.
bool AtRest(const core::Job& job);

}  // namespace jobman::cli

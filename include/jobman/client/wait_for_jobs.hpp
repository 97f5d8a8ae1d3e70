#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// What a command that waits for jobs waits for.
struct WaitFor {
  /// Whether no more is waited for this job. Asked again and again until it says so once.
  std::function<base::Result<bool>(const core::Job& job)> settled = {};
  /// Called with each job whenever it is read, before `settled`; may be empty.
  std::function<void(const core::Job& job)> on_look = {};
  std::optional<base::Duration> timeout = {};
  /// What is waited for, in a sentence that ends so: "waited 5m for job 000042 to be RUNNING".
  std::string goal = {};
};

/// Waits until every job is settled, and sees to it that a controller is at work meanwhile. Gives
/// back the jobs as they were when they settled, in the order of `ids`. kCancelled when the user
/// interrupted, kDeadlineExceeded after the timeout; both name the jobs that are not settled and
/// change nothing about them.
base::Result<std::vector<core::Job>> WaitForJobs(const Context& context,
                                                 const std::vector<core::JobId>& ids,
                                                 const WaitFor& wait);

/// Nothing is left to be done for the job but to hold its slice.
bool AtRest(const core::Job& job);

}  // namespace jobman::client

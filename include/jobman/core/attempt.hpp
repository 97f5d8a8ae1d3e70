#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace jobman::core {

/// Why there is another attempt: the values of JOBMAN_RESTART_REASON (docs/guide/reference.md).
enum class RestartCause {
  kPreempted,
  kMaintenance,
  kInfra,  ///< a fault of the cloud or of a host, a refused request, or exit code 75
  kFailure,
  kWatchdog,
  kResumed,
  kRebooted,
  kRequeued,
};
struct Restart {
  RestartCause cause = RestartCause::kInfra;
  std::string detail = {};  ///< with kWatchdog: the rule; never what a host wrote
  friend bool operator==(const Restart&, const Restart&) = default;
};
/// "preempted", ...
std::string_view RestartCauseName(RestartCause cause);
std::optional<RestartCause> RestartCauseFromName(std::string_view name);
/// The cause and its detail, "watchdog no_output"; empty for the first attempt.
std::string RestartText(const std::optional<Restart>& restart);

/// How an attempt ended.
enum class AttemptOutcome {
  kSucceeded,
  kFailed,     ///< the job failed too
  kCancelled,  ///< by the user
  kDeleted,    ///< by the user
  kPreempted,
  kVanished,       ///< somebody deleted the slice, or the cloud did without notice
  kMaintenance,    ///< the machines were or will be replaced
  kRefused,        ///< the request was refused, or its name is taken
  kRequestFailed,  ///< the request was accepted, then failed
  kTooSlow,        ///< the slice was not ready in time
  kInfra,          ///< a host was lost, or exit code 75
  kFailure,        ///< an exit code covered by retries.failure
  kWatchdog,
  kResumed,  ///< stopped by the user, to be run again
  kRebooted,
  kRequeued,
};
struct AttemptEnd {
  AttemptOutcome outcome = AttemptOutcome::kInfra;
  std::string detail = {};  ///< with kWatchdog: the rule
  friend bool operator==(const AttemptEnd&, const AttemptEnd&) = default;
};
/// "succeeded", "preempted", "request failed", ...
std::string_view AttemptOutcomeName(AttemptOutcome outcome);
std::optional<AttemptOutcome> AttemptOutcomeFromName(std::string_view name);
/// The outcome and its detail: "watchdog no_output".
std::string AttemptEndText(const AttemptEnd& end);

}  // namespace jobman::core

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/result.hpp"
#include "jobman/core/job.hpp"

namespace jobman::ports {

using core::JobId;
using core::TimePoint;

/// A line of the append-only journal.
struct Event {
  std::int64_t number = 0;
  TimePoint at = {};
  JobId job = {};
  int attempt = 0;
  std::string kind = {};     ///< "state", "effect", "host", "wish", "slice", "note", "hook"
  std::string subject = {};  ///< "RUNNING", "CreateSlice", "host 3", ...
  std::string text = {};     ///< one sentence
};

/// How a host's run in a stage ended; recorded once per (job, attempt, stage, host).
struct ExitRecord {
  JobId job = {};
  int attempt = 0;
  std::string stage = {};
  int host = 0;
  int exit_code = 0;
  std::string error = {};  ///< set when the run was lost
  TimePoint at = {};
  friend bool operator==(const ExitRecord&, const ExitRecord&) = default;
};

struct AttemptRecord {
  JobId job = {};
  int attempt = 0;
  std::string slice = {};
  std::string zone = {};
  std::string reason = {};  ///< why it was started
  TimePoint started_at = {};
  std::optional<TimePoint> ended_at = {};
  std::string outcome = {};  ///< "succeeded", "failed", "preempted", ...; empty while it goes on
};

/// One event of a job for one of its hooks.
struct HookDelivery {
  std::int64_t number = 0;  ///< given by the store
  JobId job = {};
  int attempt = 0;
  std::string event_id = {};  ///< the same for all hooks of the event
  std::string event = {};     ///< "failed"
  int hook = 0;               ///< index in JobSpec::hooks
  std::string target = {};    ///< HookTarget()
  std::string body = {};      ///< JSON
  TimePoint at = {};
  int tries = 0;
  std::optional<TimePoint> next_try = {};  ///< nothing: delivered or abandoned
  std::string error = {};                  ///< of the last try
  friend bool operator==(const HookDelivery&, const HookDelivery&) = default;
};

/// "hook ./notify.sh": how sentences name a hook.
inline std::string HookName(const HookDelivery& delivery) {
  constexpr std::string_view kCommand = "command ";
  const bool is_command = delivery.target.starts_with(kCommand);
  return "hook " + delivery.target.substr(is_command ? kCommand.size() : 0);
}
/// "hook ./notify.sh (started)": how sentences name a delivery.
inline std::string HookText(const HookDelivery& delivery) {
  return HookName(delivery) + " (" + delivery.event + ")";
}

/// Whether reading a record failed because of the record itself: a newer jobman wrote it, or it is
/// damaged. It fails again until somebody writes it anew, and others must not suffer from it; a
/// store that fails may be well in a moment.
inline bool IsUnusable(const base::Error& error) {
  return error.reason == base::Reason::kNewerStore || error.code == base::Code::kDataLoss;
}

}  // namespace jobman::ports

#include "jobman/core/attempt.hpp"

#include <array>
#include <utility>

#include "core/name_table.hpp"

namespace jobman::core {
namespace {

constexpr std::array kCauses = {
    std::pair{RestartCause::kPreempted, "preempted"},
    std::pair{RestartCause::kMaintenance, "maintenance"},
    std::pair{RestartCause::kInfra, "infra"},
    std::pair{RestartCause::kFailure, "failure"},
    std::pair{RestartCause::kWatchdog, "watchdog"},
    std::pair{RestartCause::kResumed, "resumed"},
    std::pair{RestartCause::kRebooted, "rebooted"},
    std::pair{RestartCause::kRequeued, "requeued"},
};

constexpr std::array kOutcomes = {
    std::pair{AttemptOutcome::kSucceeded, "succeeded"},
    std::pair{AttemptOutcome::kFailed, "failed"},
    std::pair{AttemptOutcome::kCancelled, "cancelled"},
    std::pair{AttemptOutcome::kDeleted, "deleted"},
    std::pair{AttemptOutcome::kPreempted, "preempted"},
    std::pair{AttemptOutcome::kVanished, "vanished"},
    std::pair{AttemptOutcome::kMaintenance, "maintenance"},
    std::pair{AttemptOutcome::kRefused, "refused"},
    std::pair{AttemptOutcome::kRequestFailed, "request failed"},
    std::pair{AttemptOutcome::kTooSlow, "too slow"},
    std::pair{AttemptOutcome::kInfra, "infra"},
    std::pair{AttemptOutcome::kFailure, "failure"},
    std::pair{AttemptOutcome::kWatchdog, "watchdog"},
    std::pair{AttemptOutcome::kResumed, "resumed"},
    std::pair{AttemptOutcome::kRebooted, "rebooted"},
    std::pair{AttemptOutcome::kRequeued, "requeued"},
};

std::string WithDetail(std::string_view word, const std::string& detail) {
  return detail.empty() ? std::string(word) : std::string(word) + " " + detail;
}

}  // namespace

std::string_view RestartCauseName(RestartCause cause) {
  return NameIn(kCauses, cause);
}
std::optional<RestartCause> RestartCauseFromName(std::string_view name) {
  return ValueIn<RestartCause>(kCauses, name);
}
std::string RestartText(const std::optional<Restart>& restart) {
  return restart ? WithDetail(RestartCauseName(restart->cause), restart->detail) : std::string{};
}

std::string_view AttemptOutcomeName(AttemptOutcome outcome) {
  return NameIn(kOutcomes, outcome);
}
std::optional<AttemptOutcome> AttemptOutcomeFromName(std::string_view name) {
  return ValueIn<AttemptOutcome>(kOutcomes, name);
}
std::string AttemptEndText(const AttemptEnd& end) {
  return WithDetail(AttemptOutcomeName(end.outcome), end.detail);
}

}  // namespace jobman::core

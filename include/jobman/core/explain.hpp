#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/core/job.hpp"

namespace jobman::core {

/// A host of a READY slice that cannot be reached for this long is given up. The controller's
/// kUnreachableLimit, for people.
inline constexpr Duration kHostIsTriedFor = std::chrono::minutes{5};
/// A host that does not answer for this long after the grace is not asked to stop any more.
/// remote::kStopMargin, for people.
inline constexpr Duration kStopIsTriedFor = std::chrono::seconds{30};

/// The command was begun, and no host has said yet that it runs there.
bool IsStarting(const Job& job);
/// The state as users see it: STARTING while IsStarting(), otherwise StateName().
std::string_view StatusWord(const Job& job);

/// What happened, then where: "no more capacity (POST /v2/projects/...)".
std::string ErrorSentence(const base::Error& error);

/// Why a job is in its state, what it waits for, and what the user can do: for `jobman why`.
struct Explanation {
  std::string state = {};               ///< StateName(): "RUNNING"
  std::string status = {};              ///< StatusWord(): "STARTING"
  std::string because = {};             ///< the last decision, without times that have passed
  std::vector<std::string> facts = {};  ///< slice, hosts, budgets, one sentence each
  std::string waits_for = {};           ///< "the command to end on 4 hosts"
  std::string next_step = {};           ///< a command, or empty
};
Explanation Explain(const Job& job, TimePoint now);

/// The status word that Python jobman used for this state: QUEUEING, RUNNING, IDLE (slice held,
/// nothing runs), DEAD (nothing held).
std::string_view FamiliarStatus(const Job& job);

}  // namespace jobman::core

#pragma once

#include <string>
#include <vector>

#include "jobman/core/job.hpp"

namespace jobman::core {

/// Why a job is in its state, what it waits for, and what the user can do: for `jobman why`.
struct Explanation {
  std::string state = {};               ///< "RUNNING"
  std::string because = {};             ///< the last decision
  std::vector<std::string> facts = {};  ///< slice, hosts, budgets, one sentence each
  std::string waits_for = {};           ///< "the command to end on 4 hosts"
  std::string next_step = {};           ///< a command, or empty
};
Explanation Explain(const Job& job, TimePoint now);

/// The status word that Python jobman used for this state: QUEUEING, RUNNING, IDLE (slice held,
/// nothing runs), DEAD (nothing held).
std::string_view FamiliarStatus(const Job& job);

}  // namespace jobman::core

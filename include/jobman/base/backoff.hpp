#pragma once

#include "jobman/base/time.hpp"

namespace jobman::base {

/// Exponential backoff. The caller brings the random number, so that decisions stay reproducible.
struct Backoff {
  Duration base = std::chrono::seconds{1};
  Duration cap = std::chrono::minutes{5};
  double factor = 2.0;

  /// The wait before try `attempt` (1 = first repetition) with full jitter: uniform between 0 and
  /// min(cap, base * factor^(attempt-1)). `unit_random` is in [0, 1).
  Duration FullJitter(int attempt, double unit_random) const;
  /// The same without jitter: the upper bound.
  Duration Bound(int attempt) const;
};

/// How many faults in a row still count when another comes `quiet` after the wait for the last one:
/// halved for each `cap` that passed, and never more than it takes to reach the longest wait.
int StreakAfter(int streak, Duration quiet, const Backoff& backoff);

}  // namespace jobman::base

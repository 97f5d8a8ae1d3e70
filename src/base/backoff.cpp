#include "jobman/base/backoff.hpp"

#include <algorithm>
#include <cmath>

namespace jobman::base {

Duration Backoff::Bound(int attempt) const {
  const double exponent = std::max(attempt, 1) - 1;
  const double wanted = static_cast<double>(base.count()) * std::pow(factor, exponent);
  // Compared as double: the product may be infinite.
  if (!(wanted < static_cast<double>(cap.count()))) return cap;
  return Duration{static_cast<Duration::rep>(wanted)};
}

Duration Backoff::FullJitter(int attempt, double unit_random) const {
  const auto bound = static_cast<double>(Bound(attempt).count());
  return Duration{static_cast<Duration::rep>(bound * std::clamp(unit_random, 0.0, 1.0))};
}

int StreakAfter(int streak, Duration quiet, const Backoff& backoff) {
  while (streak > 1 && backoff.Bound(streak - 1) >= backoff.cap) --streak;
  for (Duration left = quiet; streak > 0 && left >= backoff.cap; left -= backoff.cap) streak /= 2;
  return streak;
}

}  // namespace jobman::base

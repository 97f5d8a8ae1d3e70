#include "jobman/base/clock.hpp"

namespace jobman::base {

TimePoint SystemClock::Now() const {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace jobman::base

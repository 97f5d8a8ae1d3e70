#pragma once

#include "jobman/base/time.hpp"

namespace jobman::base {

/// The source of time; a fake in tests. `core` takes the time as an argument instead.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
};

/// The wall clock.
class SystemClock final : public Clock {
 public:
  TimePoint Now() const override;
};

}  // namespace jobman::base

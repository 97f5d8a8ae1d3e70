#pragma once

#include "jobman/base/clock.hpp"

namespace jobman::test {

/// A clock that stands still until a test moves it. Starts at 2026-01-01T00:00:00Z.
class FakeClock final : public base::Clock {
 public:
  base::TimePoint Now() const override { return now_; }
  void Advance(base::Duration step) { now_ += step; }
  void Set(base::TimePoint now) { now_ = now; }

 private:
  base::TimePoint now_ = base::FromMillis(1'767'225'600'000);
};

}  // namespace jobman::test

#pragma once

#include <asio/io_context.hpp>

#include "tests/support/fake_clock.hpp"

namespace jobman::test {

/// Time that passes only in Pass(): of std::chrono::steady_clock, which Asio's timers use, and of a
/// base::Clock. Replaces the steady clock of every program that links it.
class VirtualTime {
 public:
  const FakeClock& clock() const { return clock_; }
  base::TimePoint Now() const { return clock_.Now(); }
  void Pass(base::Duration step);

  /// Runs one ready handler of `loop`; false if there is none.
  static bool RunOne(asio::io_context& loop);
  /// After time has passed: makes `loop` check all its timers.
  static void LookAtTimers(asio::io_context& loop);

 private:
  FakeClock clock_ = {};
};

}  // namespace jobman::test

#pragma once

#include <asio/io_context.hpp>

#include "tests/support/fake_clock.hpp"

namespace jobman::test {

/// Time that passes only when it is told to: of std::chrono::steady_clock, by which Asio's timers
/// go, and with it of a base::Clock. Whoever links this has no other steady clock.
class VirtualTime {
 public:
  const FakeClock& clock() const { return clock_; }
  base::TimePoint Now() const { return clock_.Now(); }
  void Pass(base::Duration step);

  /// Runs one handler of `loop` that is ready, if there is one.
  static bool RunOne(asio::io_context& loop);
  /// Has `loop` look at all its timers before it waits again: after time has passed.
  static void LookAtTimers(asio::io_context& loop);

 private:
  FakeClock clock_ = {};
};

}  // namespace jobman::test

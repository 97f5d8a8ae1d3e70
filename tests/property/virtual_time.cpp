#include "tests/property/virtual_time.hpp"

#include <asio/steady_timer.hpp>

namespace jobman::test {
namespace {

std::chrono::steady_clock::time_point g_steady_now{std::chrono::hours{1}};

}  // namespace

void VirtualTime::Pass(base::Duration step) {
  clock_.Advance(step);
  g_steady_now += step;
}

bool VirtualTime::RunOne(asio::io_context& loop) {
  loop.restart();
  return loop.poll_one() > 0;
}

/// Asio waits in the kernel for the earliest timer, and the kernel knows nothing of virtual time. A
/// timer in the past wakes it at once, and then it checks all timers.
void VirtualTime::LookAtTimers(asio::io_context& loop) {
  asio::steady_timer earliest(loop, std::chrono::steady_clock::time_point{});
  earliest.async_wait([](std::error_code) {});
}

}  // namespace jobman::test

/// Replaces the definition of the standard library.
std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  return jobman::test::g_steady_now;
}

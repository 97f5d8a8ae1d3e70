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

/// Asio has the kernel wake it for the earliest timer, and the kernel knows no virtual time. A
/// timer that is earlier than all wakes it at once, and then it looks at all of them.
void VirtualTime::LookAtTimers(asio::io_context& loop) {
  asio::steady_timer earliest(loop, std::chrono::steady_clock::time_point{});
  earliest.async_wait([](std::error_code) {});
}

}  // namespace jobman::test

/// The standard library's own definition is not linked where a program brings one.
std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  return jobman::test::g_steady_now;
}

#include "client/interrupts.hpp"

#include <signal.h>
#include <time.h>

#include <asio/use_awaitable.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "jobman/client/times.hpp"

namespace jobman::client {
namespace {

/// Of the last interrupt, in nanoseconds of CLOCK_MONOTONIC; for a signal handler.
std::atomic<std::int64_t> last_interrupt = 0;

std::int64_t Now() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

extern "C" void EndUnlessSameInterrupt(int signal) {
  constexpr auto kSame = std::chrono::nanoseconds{kSameInterrupt}.count();
  if (Now() - last_interrupt < kSame) return;
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // comes when this handler returns
}

}  // namespace

Interrupts::Interrupts(asio::io_context& loop) : signals_(loop) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    signals_.add(signal);
    caught_.push_back(signal);
  }
}

// timeout(1) signals its command and then the command's group: one act, and the second signal may
// come when the first has been dealt with.
Interrupts::~Interrupts() {
  if (!interrupted_) return;
  sigset_t caught = {};
  sigset_t before = {};
  ::sigemptyset(&caught);
  for (const int signal : caught_) ::sigaddset(&caught, signal);
  ::pthread_sigmask(SIG_BLOCK, &caught, &before);
  signals_.clear();
  struct sigaction action = {};
  action.sa_handler = EndUnlessSameInterrupt;
  action.sa_flags = SA_RESTART;
  for (const int signal : caught_) ::sigaction(signal, &action, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

base::Task<void> Interrupts::Wait() {
  co_await signals_.async_wait(asio::use_awaitable);
  interrupted_ = true;
  last_interrupt = Now();
}

void SendFarewell(asio::io_context& loop) {
  loop.restart();
  loop.run_for(kFarewell);
}

}  // namespace jobman::client

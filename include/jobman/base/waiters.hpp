#pragma once

#include <asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <list>

#include "jobman/base/task.hpp"

namespace jobman::base {

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNever = Deadline::max();

/// Lets coroutines wait for an event instead of polling. On the loop's thread only; must outlive
/// them.
class Waiters {
 public:
  /// Until the next WakeAll() or the deadline.
  Task<void> Wait(Deadline deadline = kNever);
  void WakeAll();

 private:
  std::list<asio::steady_timer*> timers_;
};

/// A counting semaphore: lets in `places` coroutines at a time, first come, first served.
class Gate {
 public:
  explicit Gate(int places) : free_(places) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// A place, released on destruction. The gate must outlive it.
  class Pass {
   public:
    explicit Pass(Gate* gate) : gate_(gate) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->Leave();
    }

   private:
    Gate* gate_;
  };
  Task<Pass> Enter();

 private:
  struct Waiter {
    asio::steady_timer* timer = nullptr;
    bool let_in = false;
  };
  void Leave();
  int free_;
  std::deque<Waiter*> queue_;
};

}  // namespace jobman::base

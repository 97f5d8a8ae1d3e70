#include "jobman/base/waiters.hpp"

#include <algorithm>
#include <asio/redirect_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

namespace jobman::base {
namespace {

/// Waits for the timer's expiry or cancel(); throws when the coroutine itself is cancelled.
Task<void> WaitFor(asio::steady_timer* timer) {
  std::error_code woken;
  co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, woken));
  co_await base::EndIfCancelled();
}

}  // namespace

Task<void> Waiters::Wait(Deadline deadline) {
  asio::steady_timer timer(co_await asio::this_coro::executor, deadline);
  struct Listed {
    std::list<asio::steady_timer*>& timers;
    asio::steady_timer* mine;
    ~Listed() { timers.remove(mine); }
  };
  timers_.push_back(&timer);
  const Listed listed{timers_, &timer};
  co_await WaitFor(&timer);
}

void Waiters::WakeAll() {
  // Waiting coroutines resume later, from the loop: the list does not change under us.
  for (auto* timer : timers_) timer->cancel();
}

Task<Gate::Pass> Gate::Enter() {
  if (free_ > 0) {
    --free_;
    co_return Pass(this);
  }
  asio::steady_timer timer(co_await asio::this_coro::executor, kNever);
  struct Queued {
    Gate& gate;
    Waiter waiter = {};
    bool taken = false;
    ~Queued() {
      if (!waiter.let_in) std::erase(gate.queue_, &waiter);  // else Leave() took it from there
      if (waiter.let_in && !taken) gate.Leave();
    }
  };
  Queued queued{.gate = *this};
  queued.waiter.timer = &timer;
  queue_.push_back(&queued.waiter);
  while (!queued.waiter.let_in) co_await WaitFor(&timer);
  queued.taken = true;
  co_return Pass(this);
}

void Gate::Leave() {
  if (queue_.empty()) {
    ++free_;
    return;
  }
  Waiter* next = queue_.front();
  queue_.pop_front();
  next->let_in = true;
  next->timer->cancel();
}

}  // namespace jobman::base

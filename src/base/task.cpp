#include "jobman/base/task.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/system_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <exception>
#include <list>
#include <utility>

namespace jobman::base {

/// One signal for every coroutine in the scope, since a signal has room for one slot only.
struct CancelScope::State {
  std::list<std::shared_ptr<asio::cancellation_signal>> signals = {};
  bool cancelled = false;
};

namespace {

using Signal = std::shared_ptr<asio::cancellation_signal>;
using Done = std::function<void(bool cancelled)>;

/// Whether `thrown` is a cancelled wait. The operator || wraps what both sides throw.
bool IsCancellation(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const asio::system_error& error) {
    return error.code() == asio::error::operation_aborted;
  } catch (const asio::multiple_exceptions& several) {
    return IsCancellation(several.first_exception());
  } catch (...) {
    return false;
  }
}

std::string WhatOf(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

/// Registers a coroutine in its scope. Released when the coroutine ends, also when the loop is
/// destroyed: the scope may outlive the loop and must not signal into it.
class Membership {
 public:
  explicit Membership(std::shared_ptr<CancelScope::State> state)
      : state_(std::move(state)),
        signal_(std::make_shared<asio::cancellation_signal>()),
        place_(state_->signals.insert(state_->signals.end(), signal_)) {}
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;
  ~Membership() { Leave(); }

  const Signal& signal() const { return signal_; }
  /// Without a search: a scope may have thousands of coroutines, and all of them end.
  void Leave() {
    if (!std::exchange(left_, true)) state_->signals.erase(place_);
  }

 private:
  std::shared_ptr<CancelScope::State> state_;
  Signal signal_;
  std::list<Signal>::iterator place_;
  bool left_ = false;
};

void Finish(const std::exception_ptr& thrown, const Done& done) {
  const bool cancelled = thrown != nullptr && IsCancellation(thrown);
  if (thrown != nullptr && !cancelled) {
    CheckFailed("no exception leaves a coroutine", WhatOf(thrown).c_str(), __FILE__, __LINE__);
  }
  if (done) done(cancelled);
}

}  // namespace

CancelScope::CancelScope() : state_(std::make_shared<State>()) {}
CancelScope::~CancelScope() {
  Cancel();
}
CancelScope::CancelScope(CancelScope&&) noexcept = default;

CancelScope& CancelScope::operator=(CancelScope&& other) noexcept {
  if (this != &other) {
    Cancel();
    state_ = std::move(other.state_);
  }
  return *this;
}

void CancelScope::Cancel() {
  if (!state_ || state_->cancelled) return;
  state_->cancelled = true;
  // A copy: a signal may end coroutines and so change the list.
  const auto signals = state_->signals;
  for (const Signal& signal : signals) signal->emit(asio::cancellation_type::terminal);
}

Task<void> Sleep(Duration duration) {
  asio::steady_timer timer(co_await asio::this_coro::executor, duration);
  co_await timer.async_wait(asio::use_awaitable);
  co_await EndIfCancelled();
}

Task<void> Yield() {
  co_await asio::post(asio::use_awaitable);
  co_await EndIfCancelled();
}

Task<void> EndIfCancelled() {
  co_return;  // awaiting any task ends a cancelled coroutine
}

void Spawn(asio::any_io_executor executor, Task<void> task, Done done) {
  asio::co_spawn(
      executor, std::move(task),
      [done = std::move(done)](const std::exception_ptr& thrown) { Finish(thrown, done); });
}

void Spawn(asio::any_io_executor executor, const CancelScope& scope, Task<void> task, Done done) {
  // A copy: the task may end the scope before its first wait.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const std::shared_ptr<CancelScope::State> state = scope.state();
  JM_CHECK(state != nullptr, "Spawn in a scope that was moved from");
  const auto membership = std::make_shared<Membership>(state);
  auto finish = [membership, done = std::move(done)](const std::exception_ptr& thrown) {
    membership->Leave();
    Finish(thrown, done);
  };
  asio::co_spawn(executor, std::move(task),
                 asio::bind_cancellation_slot(membership->signal()->slot(), std::move(finish)));
  if (state->cancelled) membership->signal()->emit(asio::cancellation_type::terminal);
}

void RunTask(asio::io_context& loop, Task<void> task) {
  auto body = [](Task<void> inner) -> Task<bool> {
    co_await std::move(inner);
    co_return true;
  };
  RunTask(loop, body(std::move(task)));
}

}  // namespace jobman::base

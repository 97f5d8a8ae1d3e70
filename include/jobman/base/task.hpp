#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/deferred.hpp>
#include <asio/experimental/parallel_group.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"

namespace jobman::base {

/// A coroutine on the one loop of the process.
///
/// Rules. Parameters by value: a reference may die before the frame does. Every wait is cancelled
/// by Asio's own cancellation (a parent spawned with a CancelScope, or the loser of `||`); a
/// cancelled wait ends the coroutine with asio::system_error(operation_aborted), which only Spawn()
/// catches. Failures are Result, never exceptions. g++ 12: bind temporaries of braced initialisers
/// and lambdas to a named local before a co_await expression uses them, and a result before a
/// condition does: `if (co_await f())` is miscompiled.
template <class T>
using Task = asio::awaitable<T>;

/// Waits, not exactly, but never too short.
Task<void> Sleep(Duration duration);
/// Lets everything else that is ready run first.
Task<void> Yield();
/// Ends a cancelled coroutine here. Call it after awaiting one of Asio's own operations: if that
/// was already complete when the scope was cancelled, it resumes as usual, and objects it uses may
/// be gone.
Task<void> EndIfCancelled();

/// Cancels spawned coroutines. When Cancel() is called or the scope dies, everything spawned in it
/// is cancelled at its current or next wait: no Sleep(), Yield() or task of a port returns into it
/// any more. A frame may outlive the scope by one turn of the loop, in which only the destructors
/// of its locals run. Coroutines spawned in a cancelled scope are cancelled at their first wait. On
/// the loop's thread only.
class CancelScope {
 public:
  CancelScope();
  ~CancelScope();
  CancelScope(CancelScope&&) noexcept;
  CancelScope& operator=(CancelScope&&) noexcept;
  /// Safe to repeat, also from a coroutine of this scope.
  void Cancel();
  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Runs `task` on `executor`. `done` (may be empty) is called when it ends, with whether it was
/// cancelled, but not when the loop is destroyed first. On the loop's thread, `task` runs up to its
/// first wait before Spawn returns; `done` never runs inside Spawn. An exception other than
/// cancellation is a bug and ends the process.
void Spawn(asio::any_io_executor executor, Task<void> task,
           std::function<void(bool cancelled)> done = {});
void Spawn(asio::any_io_executor executor, const CancelScope& scope, Task<void> task,
           std::function<void(bool cancelled)> done = {});

/// The result of `task`, or kDeadlineExceeded with `what` when `limit` passes first; the task is
/// then cancelled. Costs no exception when the task ends in time: the timer that loses is no
/// coroutine, unlike Sleep() beside `||`.
template <class T>
Task<Result<T>> WithTimeout(Task<Result<T>> task, Duration limit, std::string what) {
  using namespace asio::experimental;
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, limit);
  auto filled = [](Task<Result<T>> inner) -> Task<std::optional<Result<T>>> {
    co_return co_await std::move(inner);
  };
  auto filling = filled(std::move(task));  // a parallel group keeps only what can be empty
  auto group = make_parallel_group(asio::co_spawn(executor, std::move(filling), deferred),
                                   timer.async_wait(deferred));
  auto [order, thrown, result, failed] =
      co_await group.async_wait(wait_for_one(), asio::use_awaitable);
  co_await EndIfCancelled();
  const bool in_time = order.front() == 0;
  if (in_time && thrown) std::rethrow_exception(thrown);
  if (in_time) co_return std::move(*result);
  Error late{.code = Code::kDeadlineExceeded,
             .message = what + ": no answer within " + FormatDuration(limit)};
  co_return late;
}

/// Runs `task` on `loop` until it ends, and returns its result. For command lines and tests; must
/// not be called from a coroutine. Other coroutines spawned on `loop` run meanwhile.
template <class T>
T RunTask(asio::io_context& loop, Task<T> task) {
  loop.restart();
  std::optional<T> result;
  auto body = [](Task<T> inner, std::optional<T>* out) -> Task<void> {
    *out = co_await std::move(inner);
  };
  Spawn(loop.get_executor(), body(std::move(task), &result));
  while (!result && loop.run_one() > 0) {
  }
  JM_CHECK(result.has_value(), "the loop ran dry before the task ended");
  return std::move(*result);
}
void RunTask(asio::io_context& loop, Task<void> task);

}  // namespace jobman::base

#include "jobman/base/task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <stdexcept>

namespace jobman::base {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using namespace asio::experimental::awaitable_operators;

Task<Result<int>> Answer(int number) {
  co_await Yield();
  co_return number;
}

Task<Result<int>> NeverAnswer() {
  co_await Sleep(hours{1});
  co_return 0;
}

Task<Result<int>> Fail() {
  co_await Yield();
  co_return NotFound("no such node");
}

/// Tells through `alive` whether a coroutine's frame still exists.
struct Alive {
  explicit Alive(int* count) : count_(count) { ++*count_; }
  Alive(const Alive&) = delete;
  Alive& operator=(const Alive&) = delete;
  ~Alive() { --*count_; }
  int* count_;
};

Task<void> WaitForEver(int* alive) {
  const Alive here(alive);
  co_await Sleep(hours{1});
}

/// Runs all ready handlers.
void Settle(asio::io_context& loop) {
  loop.restart();
  loop.poll();
}

TEST(RunTask, CanBeCalledRepeatedly) {
  asio::io_context loop;
  EXPECT_EQ(*RunTask(loop, Answer(7)), 7);
  EXPECT_EQ(*RunTask(loop, Answer(8)), 8);
}

TEST(RunTask, RunsTasksWithoutResult) {
  asio::io_context loop;
  RunTask(loop, Sleep(milliseconds{1}));
  RunTask(loop, Yield());
}

TEST(Sleep, IsNeverEarly) {
  asio::io_context loop;
  const auto before = std::chrono::steady_clock::now();
  RunTask(loop, Sleep(milliseconds{20}));
  EXPECT_GE(std::chrono::steady_clock::now() - before, milliseconds{20});
}

Task<void> Note(std::vector<int>* order, int first, int second) {
  order->push_back(first);
  co_await Yield();
  order->push_back(second);
}

TEST(Yield, LetsTheOthersRunFirst) {
  asio::io_context loop;
  std::vector<int> order;
  Spawn(loop.get_executor(), Note(&order, 1, 3));
  Spawn(loop.get_executor(), Note(&order, 2, 4));
  loop.run();
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4));
}

TEST(WithTimeout, FailsWithDeadlineExceededAndCancelsTheTask) {
  asio::io_context loop;
  const auto late = RunTask(loop, WithTimeout(NeverAnswer(), milliseconds{5}, "the oracle"));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(late.error().message, "the oracle: no answer within 5ms");
  // Nothing waits for an hour any more.
  loop.restart();
  loop.run();
}

TEST(WithTimeout, PassesResultsAndErrorsThatAreInTime) {
  asio::io_context loop;
  EXPECT_EQ(*RunTask(loop, WithTimeout(Answer(3), hours{1}, "the oracle")), 3);
  EXPECT_EQ(RunTask(loop, WithTimeout(Fail(), hours{1}, "the oracle")).error().code,
            Code::kNotFound);
  loop.restart();
  loop.run();
}

Task<void> Ask(std::optional<Result<int>>* answer) {
  *answer = co_await WithTimeout(NeverAnswer(), hours{1}, "the oracle");
}

TEST(WithTimeout, CancelledFromOutsideIsACancellationNotATimeout) {
  asio::io_context loop;
  CancelScope scope;
  std::optional<bool> ended;
  std::optional<Result<int>> answer;
  Spawn(loop.get_executor(), scope, Ask(&answer), [&](bool cancelled) { ended = cancelled; });
  Settle(loop);
  scope.Cancel();
  Settle(loop);
  EXPECT_EQ(ended, true);
  EXPECT_FALSE(answer.has_value());
}

TEST(Spawn, ReportsThatTheTaskEndedByItself) {
  asio::io_context loop;
  std::optional<bool> ended;
  Spawn(loop.get_executor(), Yield(), [&](bool cancelled) { ended = cancelled; });
  EXPECT_FALSE(ended);
  Settle(loop);
  EXPECT_EQ(ended, false);
}

TEST(CancelScope, CancelEndsEveryCoroutineInIt) {
  asio::io_context loop;
  CancelScope scope;
  int alive = 0;
  int ended = 0;
  for (int i = 0; i < 3; ++i) {
    Spawn(loop.get_executor(), scope, WaitForEver(&alive),
          [&](bool cancelled) { ended += cancelled; });
  }
  Settle(loop);
  EXPECT_EQ(alive, 3);
  scope.Cancel();
  scope.Cancel();
  Settle(loop);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(ended, 3);
}

TEST(CancelScope, DestructionCancels) {
  asio::io_context loop;
  int alive = 0;
  {
    const CancelScope scope;
    Spawn(loop.get_executor(), scope, WaitForEver(&alive));
    Settle(loop);
    EXPECT_EQ(alive, 1);
  }
  Settle(loop);
  EXPECT_EQ(alive, 0);
}

TEST(CancelScope, LeavesOthersAlone) {
  asio::io_context loop;
  CancelScope scope;
  const CancelScope other;
  int alive = 0;
  Spawn(loop.get_executor(), other, WaitForEver(&alive));
  Spawn(loop.get_executor(), WaitForEver(&alive));
  Settle(loop);
  scope.Cancel();
  Settle(loop);
  EXPECT_EQ(alive, 2);
}

TEST(CancelScope, MovingKeepsTheCoroutinesAndAssigningEndsTheOldOnes) {
  asio::io_context loop;
  int first = 0;
  int second = 0;
  CancelScope scope;
  Spawn(loop.get_executor(), scope, WaitForEver(&first));
  CancelScope moved(std::move(scope));
  Settle(loop);
  EXPECT_EQ(first, 1);
  CancelScope fresh;
  Spawn(loop.get_executor(), fresh, WaitForEver(&second));
  moved = std::move(fresh);
  Settle(loop);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST(CancelScope, ACancelledScopeEndsLaterCoroutines) {
  asio::io_context loop;
  CancelScope scope;
  scope.Cancel();
  int alive = 0;
  std::optional<bool> ended;
  Spawn(loop.get_executor(), scope, WaitForEver(&alive),
        [&](bool cancelled) { ended = cancelled; });
  Settle(loop);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(ended, true);
}

Task<void> GoOnAfter(Task<void> wait, bool* went_on) {
  co_await std::move(wait);
  *went_on = true;
}

Task<void> EitherIsDue() {
  co_await (Yield() || Yield());
  co_await EndIfCancelled();
}

/// The wait has ended, and the resumption is queued in the loop.
TEST(CancelScope, ACoroutineThatIsDueDoesNotResumeAfterCancel) {
  asio::io_context loop;
  const auto goes_on = [&loop](Task<void> wait) {
    CancelScope scope;
    bool went_on = false;
    std::optional<bool> ended;
    asio::steady_timer first(loop, milliseconds{0});
    first.async_wait([&](std::error_code) { scope.Cancel(); });
    Spawn(loop.get_executor(), scope, GoOnAfter(std::move(wait), &went_on),
          [&](bool cancelled) { ended = cancelled; });
    Settle(loop);
    EXPECT_EQ(ended, true);
    return went_on;
  };
  EXPECT_FALSE(goes_on(Sleep(milliseconds{0})));
  EXPECT_FALSE(goes_on(EitherIsDue()));
}

TEST(CancelScope, AYieldThatIsDueDoesNotResumeAfterCancel) {
  asio::io_context loop;
  CancelScope scope;
  bool went_on = false;
  Spawn(loop.get_executor(), scope, GoOnAfter(Yield(), &went_on));
  scope.Cancel();
  Settle(loop);
  EXPECT_FALSE(went_on);
}

Task<void> CancelOwn(CancelScope* scope, int* steps) {
  co_await Yield();
  scope->Cancel();
  ++*steps;
  co_await Yield();
  ++*steps;
}

TEST(CancelScope, CoroutineCanCancelItsOwnScopeAndEndsAtItsNextWait) {
  asio::io_context loop;
  CancelScope scope;
  int steps = 0;
  std::optional<bool> ended;
  Spawn(loop.get_executor(), scope, CancelOwn(&scope, &steps),
        [&](bool cancelled) { ended = cancelled; });
  Settle(loop);
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(ended, true);
}

Task<void> EndScope(std::unique_ptr<CancelScope>* scope, int* steps) {
  scope->reset();
  ++*steps;
  co_await Yield();
  ++*steps;
}

TEST(CancelScope, CoroutineMayEndItsOwnScopeWhileItIsBeingSpawned) {
  asio::io_context loop;
  auto scope = std::make_unique<CancelScope>();
  int steps = 0;
  std::optional<bool> ended;
  auto spawn = [&] {
    Spawn(loop.get_executor(), *scope, EndScope(&scope, &steps),
          [&](bool cancelled) { ended = cancelled; });
  };
  asio::post(loop, spawn);
  Settle(loop);
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(ended, true);
}

Task<void> Inner(int* alive) {
  const Alive here(alive);
  co_await WaitForEver(alive);
}

Task<void> Both(int* alive) {
  co_await (Inner(alive) && Inner(alive));
}
Task<void> Either(int* alive) {
  co_await (Inner(alive) || Inner(alive));
}
Task<void> Nested(int* alive) {
  co_await (Either(alive) || (Both(alive) && Either(alive)));
}

TEST(CancelScope, ReachesThroughNestedGroups) {
  asio::io_context loop;
  CancelScope scope;
  int alive = 0;
  int ended = 0;
  for (auto* body : {&Both, &Either, &Nested}) {
    Spawn(loop.get_executor(), scope, body(&alive), [&](bool cancelled) { ended += cancelled; });
  }
  Settle(loop);
  EXPECT_EQ(alive, 20);
  scope.Cancel();
  Settle(loop);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(ended, 3);
}

TEST(CancelScope, DoneMaySpawnAgainInTheSameScope) {
  asio::io_context loop;
  CancelScope scope;
  int alive = 0;
  int ended = 0;
  Spawn(loop.get_executor(), scope, Yield(), [&](bool) {
    Spawn(loop.get_executor(), scope, WaitForEver(&alive),
          [&](bool cancelled) { ended += cancelled; });
  });
  Settle(loop);
  EXPECT_EQ(alive, 1);
  scope.Cancel();
  Settle(loop);
  EXPECT_EQ(ended, 1);
}

TEST(CancelScope, TheLoopMayBeDestroyedWithCoroutinesInside) {
  CancelScope scope;
  int alive = 0;
  {
    asio::io_context loop;
    Spawn(loop.get_executor(), scope, WaitForEver(&alive));
    Spawn(loop.get_executor(), scope, Nested(&alive));
    Settle(loop);
    EXPECT_GT(alive, 1);
  }
  EXPECT_EQ(alive, 0);
  scope.Cancel();
}

Task<void> Throw() {
  co_await Yield();
  throw std::runtime_error("a library threw");
}

TEST(SpawnDeathTest, OtherExceptionsAreDefects) {
  asio::io_context loop;
  auto run = [&loop] {
    Spawn(loop.get_executor(), Throw());
    loop.run();
  };
  EXPECT_DEATH(run(), "defect: a library threw");
}

}  // namespace
}  // namespace jobman::base

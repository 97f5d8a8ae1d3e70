#include "jobman/base/off_loop.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace jobman::base {
namespace {

/// Work that waits until it is told to end.
class Blocker {
 public:
  std::function<void()> Work() {
    return [this] {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return end_; });
      ended = true;
    };
  }
  std::function<void()> Interrupt() {
    return [this] {
      const std::lock_guard lock(mutex_);
      end_ = true;
      wake_.notify_all();
    };
  }
  std::atomic<bool> ended = false;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool end_ = false;
};

constexpr Duration kLong = std::chrono::hours{1};

TEST(RunOffLoop, ReturnsWhenTheWorkHasEnded) {
  asio::io_context loop;
  int result = 0;
  bool interrupted = false;
  const auto done = RunTask(
      loop, RunOffLoop([&result] { result = 42; }, [&interrupted] { interrupted = true; }, kLong));
  EXPECT_TRUE(done.ok() && *done);
  EXPECT_EQ(result, 42);
  EXPECT_FALSE(interrupted);
}

TEST(RunOffLoop, TheLoopGoesOnMeanwhile) {
  asio::io_context loop;
  Blocker blocker;
  const auto end_it = [](std::function<void()> interrupt) -> Task<void> {
    for (int turn = 0; turn < 10; ++turn) co_await Yield();
    interrupt();
  };
  Spawn(loop.get_executor(), end_it(blocker.Interrupt()));
  const auto done = RunTask(loop, RunOffLoop(
                                      blocker.Work(), [] {}, kLong));
  EXPECT_TRUE(done.ok() && *done);
}

TEST(RunOffLoop, WorkThatTakesTooLongIsInterrupted) {
  asio::io_context loop;
  Blocker blocker;
  const auto done =
      RunTask(loop, RunOffLoop(blocker.Work(), blocker.Interrupt(), std::chrono::milliseconds{20}));
  EXPECT_TRUE(done.ok() && !*done);
  EXPECT_TRUE(blocker.ended) << "the work must not go on after the task";
}

TEST(RunOffLoop, WorkOfACancelledCoroutineIsInterrupted) {
  asio::io_context loop;
  Blocker blocker;
  CancelScope scope;
  const auto ask = [](std::function<void()> work, std::function<void()> interrupt) -> Task<void> {
    (void)co_await RunOffLoop(work, interrupt, kLong);
  };
  Spawn(loop.get_executor(), scope, ask(blocker.Work(), blocker.Interrupt()));
  loop.poll();
  EXPECT_FALSE(blocker.ended);
  scope.Cancel();
  loop.restart();
  loop.run();
  EXPECT_TRUE(blocker.ended);
}

TEST(RunOffLoop, WorkIsInterruptedWhenTheLoopIsDestroyed) {
  Blocker blocker;
  {
    asio::io_context loop;
    const auto ask = [](std::function<void()> work, std::function<void()> interrupt) -> Task<void> {
      (void)co_await RunOffLoop(work, interrupt, kLong);
    };
    Spawn(loop.get_executor(), ask(blocker.Work(), blocker.Interrupt()));
    loop.poll();
  }
  EXPECT_TRUE(blocker.ended);
}

TEST(RunAndLeave, ReturnsWhenTheWorkHasEnded) {
  asio::io_context loop;
  const auto result = std::make_shared<int>(0);
  EXPECT_TRUE(RunTask(loop, RunAndLeave([result] { *result = 42; })).ok());
  EXPECT_EQ(*result, 42);
}

TEST(RunAndLeave, WorkThatHangsIsNotWaitedForWhenTheCoroutineIsCancelled) {
  const auto blocker = std::make_shared<Blocker>();
  bool returned = false;
  {
    asio::io_context loop;
    CancelScope scope;
    const auto ask = [](std::shared_ptr<Blocker> held, bool* out) -> Task<void> {
      std::function<void()> work = [held] { held->Work()(); };
      (void)co_await RunAndLeave(work);
      *out = true;
    };
    Spawn(loop.get_executor(), scope, ask(blocker, &returned));
    loop.run_for(std::chrono::milliseconds{10});
    scope.Cancel();
    loop.restart();
    loop.run_for(std::chrono::milliseconds{10});
  }
  EXPECT_FALSE(returned);
  EXPECT_FALSE(blocker->ended);
  blocker->Interrupt()();  // the thread ends by itself, and with it what it owns
}

}  // namespace
}  // namespace jobman::base

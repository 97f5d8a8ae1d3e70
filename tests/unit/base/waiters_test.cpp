#include "jobman/base/waiters.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace jobman::base {
namespace {

Task<void> WaitAndNote(Waiters* waiters, Deadline deadline, int* woken) {
  co_await waiters->Wait(deadline);
  ++*woken;
}

Task<void> PassAndNote(Gate* gate, int number, std::vector<int>* passed, Waiters* hold) {
  const auto pass = co_await gate->Enter();
  passed->push_back(number);
  co_await hold->Wait();
}

TEST(Waiters, AllAreWokenAtOnceAndWaitAgainOnlyIfTheyAsk) {
  asio::io_context loop;
  Waiters waiters;
  int woken = 0;
  for (int i = 0; i < 3; ++i) {
    Spawn(loop.get_executor(), WaitAndNote(&waiters, kNever, &woken));
  }
  loop.poll();
  EXPECT_EQ(woken, 0);
  waiters.WakeAll();
  loop.run();
  EXPECT_EQ(woken, 3);
  waiters.WakeAll();
}

TEST(Waiters, ADeadlineEndsTheWait) {
  asio::io_context loop;
  Waiters waiters;
  int woken = 0;
  Spawn(loop.get_executor(), WaitAndNote(&waiters, Deadline{}, &woken));
  loop.run();
  EXPECT_EQ(woken, 1);
}

TEST(Waiters, ForgetCancelledCoroutines) {
  asio::io_context loop;
  Waiters waiters;
  int woken = 0;
  {
    const CancelScope scope;
    Spawn(loop.get_executor(), scope, WaitAndNote(&waiters, kNever, &woken));
    loop.poll();
  }
  loop.restart();
  loop.run();
  waiters.WakeAll();
  EXPECT_EQ(woken, 0);
}

TEST(Gate, LimitsConcurrencyAndKeepsTheOrder) {
  asio::io_context loop;
  Gate gate(2);
  Waiters hold;
  std::vector<int> passed;
  for (int i = 0; i < 4; ++i) Spawn(loop.get_executor(), PassAndNote(&gate, i, &passed, &hold));
  loop.poll();
  EXPECT_EQ(passed, (std::vector{0, 1}));
  hold.WakeAll();
  loop.restart();
  loop.poll();
  EXPECT_EQ(passed, (std::vector{0, 1, 2, 3}));
  hold.WakeAll();
  loop.restart();
  loop.run();
}

}  // namespace
}  // namespace jobman::base

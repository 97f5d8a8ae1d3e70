#include "jobman/base/task.hpp"

#include <gtest/gtest.h>

namespace jobman::base {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

Task<Result<int>> Answer(int number) {
  co_await Yield();
  co_return number;
}

Task<Result<int>> NeverAnswer() {
  co_await Sleep(hours{1});
  co_return 0;
}

TEST(Task, RunTaskGivesTheResult) {
  asio::io_context loop;
  EXPECT_EQ(*RunTask(loop, Answer(7)), 7);
  EXPECT_EQ(*RunTask(loop, Answer(8)), 8);
}

TEST(Task, TimeoutGivesDeadlineExceeded) {
  asio::io_context loop;
  const auto late = RunTask(loop, WithTimeout(NeverAnswer(), milliseconds{5}, "the oracle"));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(late.error().message, "the oracle: no answer within 5ms");
}

TEST(Task, TimeoutPassesAnAnswerInTime) {
  asio::io_context loop;
  EXPECT_EQ(*RunTask(loop, WithTimeout(Answer(3), hours{1}, "the oracle")), 3);
}

TEST(CancelScope, CancelEndsASleep) {
  asio::io_context loop;
  CancelScope scope;
  std::optional<bool> ended;
  Spawn(loop.get_executor(), scope, Sleep(hours{1}), [&](bool cancelled) { ended = cancelled; });
  loop.poll();
  EXPECT_FALSE(ended);
  scope.Cancel();
  loop.run();
  EXPECT_EQ(ended, true);
}

}  // namespace
}  // namespace jobman::base

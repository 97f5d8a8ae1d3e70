#include "client/interrupts.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include "jobman/client/times.hpp"

namespace jobman::client {
namespace {

base::Task<int> NeverEnds() {
  co_await base::Sleep(std::chrono::hours{1});
  co_return 0;
}

/// Whether a wait is ended by a signal that this process gets meanwhile.
bool IsInterrupted(asio::io_context& loop) {
  Interrupts interrupts(loop);
  ::raise(SIGINT);
  return !base::RunTask(loop, UnlessInterrupted(&interrupts, NeverEnds()));
}

void InterruptLater(asio::io_context& loop) {
  IsInterrupted(loop);
  base::RunTask(loop, base::Sleep(2 * kSameInterrupt));
  ::raise(SIGINT);
}

class InterruptsTest : public testing::Test {
 protected:
  ~InterruptsTest() override { ::signal(SIGINT, SIG_DFL); }
  asio::io_context loop_;
};

TEST_F(InterruptsTest, TheSecondSignalOfOneActDoesNotEndTheProcess) {
  ASSERT_TRUE(IsInterrupted(loop_));
  ::raise(SIGINT);
  EXPECT_TRUE(IsInterrupted(loop_));
}

TEST_F(InterruptsTest, ALaterSignalEndsTheProcess) {
  EXPECT_EXIT(InterruptLater(loop_), testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace jobman::client

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "jobman/base/handle.hpp"
#include "jobman/controller/controller.hpp"

namespace jobman::controller {
namespace {

TEST(Holder, OneThatRunsIsAlive) {
  EXPECT_FALSE(HolderIsDead(LeaseHolder()));
}

// In many containers nobody waits for a controller whose command has ended.
TEST(Holder, OneThatEndedIsDeadBeforeAnybodyWaitsForIt) {
  int raw[2] = {};
  ASSERT_EQ(pipe(raw), 0);
  const base::UniqueFd in(raw[0]);
  base::UniqueFd out(raw[1]);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string holder = LeaseHolder();
    const auto written = write(raw[1], holder.data(), holder.size());
    _exit(written > 0 ? 0 : 1);
  }
  out = {};
  siginfo_t ended = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  std::array<char, 512> text = {};
  ASSERT_GT(read(in.get(), text.data(), text.size() - 1), 0);
  EXPECT_TRUE(HolderIsDead(text.data()));
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace jobman::controller

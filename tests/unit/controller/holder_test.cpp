#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/controller.hpp"

namespace jobman::controller {
namespace {

TEST(Holder, ARunningProcessIsAlive) {
  EXPECT_FALSE(HolderIsDead(LeaseHolder()));
  EXPECT_TRUE(HolderRuns(LeaseHolder()));
}

TEST(Holder, IsReadBack) {
  const auto own = ParseHolder(LeaseHolder());
  ASSERT_TRUE(own);
  EXPECT_EQ(own->pid, getpid());
  EXPECT_FALSE(own->passing);
  EXPECT_TRUE(IsHere(*own));
  const auto tick = ParseHolder(LeaseHolder(/*passing=*/true));
  ASSERT_TRUE(tick);
  EXPECT_EQ(tick->pid, getpid());
  EXPECT_TRUE(tick->passing);
}

TEST(Holder, ForPeopleItIsAProcessOnAMachine) {
  EXPECT_EQ(HolderText("login-1:boot/pid-[4026531836]:4711:15230:0a1b2c3d"),
            "process 4711 on login-1");
  EXPECT_EQ(HolderText("another"), "another");
}

TEST(Holder, AnotherTextIsNone) {
  for (const char* text : {"", "something else", "a:b:c:d:e", "a:b:1:d"}) {
    EXPECT_FALSE(ParseHolder(text)) << text;
    EXPECT_FALSE(HolderIsDead(text)) << text;
  }
}

TEST(Holder, IsElsewhereOnAnotherMachineAndInAnotherContainer) {
  const auto own = ParseHolder(LeaseHolder());
  ASSERT_TRUE(own);
  Holder other = *own;
  other.host = "elsewhere";
  EXPECT_FALSE(IsHere(other));
  other = *own;
  other.where += "0";
  EXPECT_FALSE(IsHere(other));
}

// In many containers PID 1 does not wait for orphaned processes.
TEST(Holder, AZombieIsDead) {
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
  EXPECT_FALSE(HolderRuns(text.data()));
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(Holder, IsDeadAfterARebootAndUnknownInAnotherContainer) {
  const auto parts = base::Split(LeaseHolder(), ':');
  ASSERT_EQ(parts.size(), 5U);
  const auto dead = [&](const std::string& host, const std::string& place) {
    // Not a process id: the limit is 2^22 (proc(5), pid_max).
    return HolderIsDead(base::Join({host, place, "4194999", "1", parts[4]}, ":"));
  };
  EXPECT_TRUE(dead(parts[0], parts[1]));
  EXPECT_TRUE(dead(parts[0], "before" + parts[1]));
  EXPECT_FALSE(dead(parts[0], parts[1] + "0"));
  EXPECT_FALSE(dead("elsewhere", parts[1]));
}

}  // namespace
}  // namespace jobman::controller

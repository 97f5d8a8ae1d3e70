// Input and output at somebody else's pace.
#include <gtest/gtest.h>

#include "tests/support/set_pace.hpp"
#include "tests/unit/ssh/host_shell_fixture.hpp"
#include "tests/unit/ssh/test_sshd.hpp"

namespace jobman::ssh {
namespace {

using test::SetPace;

TEST_F(HostShellTest, InputMayArriveWhileTheCommandRuns) {
  const TestSshd sshd;
  const auto pace = std::make_shared<SetPace>();
  const auto ran = Start(sshd.Target(), {.command = "cat", .pace = pace});
  ASSERT_TRUE(TurnUntil([&] { return pace->asked > 0; }));
  pace->next = "one\n";
  pace->Wake();
  ASSERT_TRUE(TurnUntil([&] { return ran->out == "one\n"; }));
  EXPECT_EQ(running, 1) << "its input has not ended";
  pace->next = "";
  pace->Wake();
  WaitForAll();
  ASSERT_TRUE(ran->result.ok()) << ran->result.error().ToString();
  EXPECT_EQ(ran->out, "one\n");
  pace->Wake();  // of a command that is over
}

TEST_F(HostShellTest, OutputWaitsUntilItMayBeRead) {
  const TestSshd sshd;
  const auto pace = std::make_shared<SetPace>();
  pace->may_read = false;
  pace->next = "";
  const std::string end = (sshd.folder() / "end").string();
  const auto ran = Start(sshd.Target(), {.command = "echo held; touch " + end, .pace = pace});
  ASSERT_TRUE(TurnUntil([&] { return std::filesystem::exists(end); }));
  loop.restart();
  loop.run_for(std::chrono::milliseconds{300});
  EXPECT_EQ(ran->out, "");
  EXPECT_EQ(running, 1) << "its output is not read yet";
  pace->may_read = true;
  pace->Wake();
  WaitForAll();
  ASSERT_TRUE(ran->result.ok()) << ran->result.error().ToString();
  EXPECT_EQ(ran->out, "held\n");
}

TEST_F(HostShellTest, AnOutputThatNobodyReadsOutlivesTheLinger) {
  const TestSshd sshd;
  const auto pace = std::make_shared<SetPace>();
  pace->may_read = false;
  pace->next = "";
  const std::string end = (sshd.folder() / "end").string();
  const auto ran = Start(sshd.Target(), {.command = "echo held; touch " + end,
                                         .pace = pace,
                                         .linger = std::chrono::milliseconds{100}});
  ASSERT_TRUE(TurnUntil([&] { return std::filesystem::exists(end); }));
  loop.restart();
  loop.run_for(std::chrono::seconds{1});
  EXPECT_EQ(running, 1) << "its output is not read yet";
  pace->may_read = true;
  pace->Wake();
  WaitForAll();
  ASSERT_TRUE(ran->result.ok()) << ran->result.error().ToString();
  EXPECT_EQ(ran->out, "held\n");
}

TEST_F(HostShellTest, AnErrorOfThePaceEndsACommandThatWaits) {
  const TestSshd sshd;
  const auto pace = std::make_shared<SetPace>();
  const auto ran = Start(sshd.Target(), {.command = "sleep 600", .pace = pace});
  ASSERT_TRUE(TurnUntil([&] { return pace->asked > 0; }));
  pace->broken = base::NotFound("gone");
  pace->Wake();
  WaitForAll();
  ASSERT_FALSE(ran->result.ok());
  EXPECT_EQ(ran->result.error().message, "gone");
}

TEST_F(HostShellTest, AnErrorOfThePaceBeforeTheCommandKeepsItFromBeginning) {
  const TestSshd sshd;
  const auto pace = std::make_shared<SetPace>();
  pace->broken = base::NotFound("gone");
  const std::string trace = (sshd.folder() / "began").string();
  const Ran ran = Run(sshd.Target(), {.command = "touch " + trace, .pace = pace});
  EXPECT_FALSE(ran.result.ok());
  EXPECT_FALSE(std::filesystem::exists(trace));
}

}  // namespace
}  // namespace jobman::ssh

#include "jobman/controller/host_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/controller/times.hpp"
#include "tests/support/run_now.hpp"
#include "tests/support/scripted_shell.hpp"

namespace jobman::controller {
namespace {

using remote::RunStatus;
using testing::ElementsAre;
using testing::HasSubstr;

class HostCallsTest : public testing::Test {
 protected:
  base::Result<RunStatus> Follow() { return Make(remote::FollowCall("r", 0)); }
  base::Result<RunStatus> Make(const remote::Call& call, const ports::ByteSink& out = {}) {
    const HostCall making{.shell = &shell_,
                          .target = ports::HostTarget{},
                          .call = &call,
                          .out = &out,
                          .heard = [this](std::string_view talk) { heard_ = std::string(talk); },
                          .now = [this] { return clock_.Now(); }};
    return test::RunNow(CallHost(&making));
  }
  test::FakeClock clock_;
  test::ScriptedShell shell_{clock_};
  std::string heard_;
};

TEST_F(HostCallsTest, TheStatusIsReadFromStderr) {
  shell_.Add("follow", {.err = "jobman: exited 3\n"});
  EXPECT_EQ(Follow().value().exit_code, 3);
  EXPECT_EQ(heard_, "jobman: exited 3\n");
}

/// Without a line end, too.
TEST_F(HostCallsTest, WhatTheLoginShellPrintsFirstIsNotOfTheLog) {
  shell_.Add("follow", {.out = "one\n", .err = "jobman: exited 0\n", .noise = "welcome\nloading "});
  std::string log;
  const ports::ByteSink out = KeepIn(&log);
  EXPECT_TRUE(Make(remote::FollowCall("r", 0), out).ok());
  EXPECT_EQ(log, "one\n");
}

/// It came through a window in which it waited longer than a host may be silent.
TEST_F(HostCallsTest, TheTimeOfAHostCountsFromTheBeginningOfItsCommand) {
  base::TimePoint time = clock_.Now();
  ScriptListener listener("h0", remote::FollowCall("r", 0), [&time] { return time; });
  time += 2 * remote::kLongestSilence;
  std::string log;
  const ports::ByteSink out = KeepIn(&log);
  EXPECT_TRUE(listener.TakeOut(std::string(kLogBegins) + "one\n", out).ok());
  EXPECT_EQ(log, "") << "the script has not said that there is a run";
  EXPECT_TRUE(listener.TakeErr("jobman: running\n", out).ok());
  EXPECT_EQ(log, "one\n");
}

TEST_F(HostCallsTest, SignsOfLifeAreNotKept) {
  shell_.Add("follow", {.err = "jobman: alive\njobman: exited 3\njobman: alive\n"});
  EXPECT_EQ(Follow().value().exit_code, 3);
}

TEST_F(HostCallsTest, AHostThatHangsDuringTheInstallationIsAnError) {
  shell_.Add("follow", {.code = remote::kExitNotInstalled});
  shell_.Add("install", {.hangs = true});
  EXPECT_EQ(Follow().error().reason, base::Reason::kHostHangs);
}

TEST_F(HostCallsTest, TheScriptIsInstalledWhereItIsMissing) {
  shell_.Add("follow", {.code = remote::kExitNotInstalled});
  shell_.Add("install", {});
  shell_.Add("follow", {.err = "jobman: absent\n"});
  EXPECT_EQ(Follow().value().kind, RunStatus::Kind::kAbsent);
  EXPECT_THAT(shell_.verbs, ElementsAre("follow", "install", "follow"));
}

TEST_F(HostCallsTest, TheFirstTryOnANewHostBringsTheScript) {
  remote::Call call = remote::FollowCall("r", 0);
  call.late_input = []() -> base::Result<std::string> { return std::string("order"); };
  call.bring_script = true;
  shell_.Add("follow", {.code = remote::kExitNotInstalled});
  shell_.Add("install", {});
  shell_.Add("follow", {.err = "jobman: exited 0\n"});
  EXPECT_TRUE(Make(call).ok());
  EXPECT_THAT(shell_.verbs, ElementsAre("follow", "install", "follow"))
      << "a host that could not take it";
  EXPECT_TRUE(shell_.inputs[0] == std::string(remote::PackedHostScript()) + "order");
  EXPECT_EQ(shell_.inputs[2], "order");
}

TEST_F(HostCallsTest, ALateInputIsMadeForEachTry) {
  int made = 0;
  remote::Call call = remote::FollowCall("r", 0);
  call.late_input = [&made]() -> base::Result<std::string> {
    return std::string(300'000, 'x') + std::to_string(++made);
  };
  shell_.Add("follow", {.code = remote::kExitNotInstalled});
  shell_.Add("install", {});
  shell_.Add("follow", {.err = "jobman: exited 0\n"});
  EXPECT_TRUE(Make(call).ok());
  ASSERT_EQ(shell_.inputs.size(), 3u);
  EXPECT_TRUE(shell_.inputs[0] == std::string(300'000, 'x') + "1");
  EXPECT_TRUE(shell_.inputs[1] == remote::PackedHostScript());
  EXPECT_TRUE(shell_.inputs[2] == std::string(300'000, 'x') + "2");
}

TEST_F(HostCallsTest, ALateInputThatCannotBeMadeEndsTheCall) {
  remote::Call call = remote::FollowCall("r", 0);
  call.late_input = []() -> base::Result<std::string> { return base::NotFound("no secret"); };
  shell_.Add("follow", {.err = "jobman: exited 0\n"});
  const auto called = Make(call);
  ASSERT_FALSE(called.ok());
  EXPECT_EQ(called.error().message, "no secret");
}

TEST_F(HostCallsTest, AScriptThatDoesNotStayInstalledIsAnErrorOfTheHost) {
  for (int i = 0; i < 2; ++i) {
    shell_.Add("follow", {.code = remote::kExitNotInstalled});
    shell_.Add("install", {});
  }
  EXPECT_THAT(Follow().error().message, HasSubstr("does not stay installed"));
}

TEST_F(HostCallsTest, AHostErrorIsAStatus) {
  shell_.Add("follow", {.code = remote::kExitNotInstalled});
  shell_.Add("install", {.code = remote::kExitHostError, .err = "jobman: error disk full\n"});
  EXPECT_EQ(Follow().value(), (RunStatus{.kind = RunStatus::Kind::kError, .text = "disk full"}));
}

TEST_F(HostCallsTest, OtherExitCodesAreShownWithStderr) {
  shell_.Add("follow", {.code = 127, .err = "sh: not found\n"});
  EXPECT_THAT(Follow().error().message, HasSubstr("127: sh: not found"));
}

TEST_F(HostCallsTest, AHostThatPrintsSomethingElseForEverIsNoContact) {
  shell_.Add("follow", {.trickles = "who are you?"});
  const base::Error error = Follow().error();
  EXPECT_EQ(error.reason, base::Reason::kHostHangs);
  EXPECT_THAT(error.message, HasSubstr("not as jobman's host script does: 'who are you?'"));
  EXPECT_THAT(error.hint, HasSubstr("~/.bashrc"));
  EXPECT_EQ(heard_, "");
}

TEST_F(HostCallsTest, TheOutputOfARunCountsAsContact) {
  shell_.Add("follow", {.err = "jobman: running\n"});
  shell_.Add("follow", {.err = "jobman: running\n", .hangs = true});
  EXPECT_EQ(Follow().value().kind, RunStatus::Kind::kRunning);
  EXPECT_EQ(heard_, "jobman: running\n");
}

TEST_F(HostCallsTest, ARunThatEndedBeforeItsHostHungHasEnded) {
  shell_.Add("follow", {.err = "jobman: running\njobman: exited 3\n", .hangs = true});
  EXPECT_EQ(Follow().value().exit_code, 3);
  shell_.Add("follow", {.err = "jobman: running\n", .hangs = true});
  EXPECT_EQ(Follow().error().reason, base::Reason::kHostHangs);
}

TEST(HostTrouble, PermanentErrorsAreNotLocal) {
  const base::Error disk{.code = base::Code::kUnavailable, .reason = base::Reason::kDiskFull};
  const base::Error key{.code = base::Code::kPermissionDenied,
                        .reason = base::Reason::kHostKeyChanged};
  const base::Error files{.code = base::Code::kResourceExhausted};
  EXPECT_TRUE(IsLocalTrouble(disk) && !IsPermanent(disk));
  EXPECT_TRUE(IsLocalTrouble(files) && !IsPermanent(files));
  EXPECT_TRUE(!IsLocalTrouble(key) && IsPermanent(key));
}

TEST(ReconnectWait, GrowsToItsCapAndIsAtLeastHalfOfTheBound) {
  EXPECT_EQ(ReconnectWait(1, 0), kFirstReconnect / 2);
  EXPECT_EQ(ReconnectWait(2, 0), kFirstReconnect);
  EXPECT_LE(ReconnectWait(100, 0.999), kLongestReconnect);
  EXPECT_GE(ReconnectWait(100, 0), kLongestReconnect / 2);
}

}  // namespace
}  // namespace jobman::controller

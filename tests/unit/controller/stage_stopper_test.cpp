#include "controller/stage_stopper.hpp"

#include "jobman/controller/times.hpp"
#include "tests/unit/controller/stage_fixture.hpp"

namespace jobman::controller {
namespace {

using core::HostPhase;
using testing::ElementsAre;
using testing::HasSubstr;

class StageStopperTest : public StageFixture {
 protected:
  void Start() {
    const StageContext& context = Context();
    hosts_.emplace(context);
    watch_.emplace(context, *hosts_);
    follower_.emplace(context, *hosts_, *watch_);
    stopper_.emplace(context, *hosts_, *follower_);
    follower_->Start();
    Turn();
  }
  void Stop() {
    stopper_->Stop();
    Turn();
  }

  std::ptrdiff_t Stops() const {
    return std::count(shell_.verbs.begin(), shell_.verbs.end(), "stop");
  }

  std::optional<StageHosts> hosts_;
  std::optional<OutputWatch> watch_;
  std::optional<StageFollower> follower_;
  std::optional<StageStopper> stopper_;
};

TEST_F(StageStopperTest, ReportsTheEndWithTheRestOfTheLog) {
  shell_.Add("stop", {.out = "exited 143\n"});
  shell_.Add("follow", {.out = "the rest\n", .err = "jobman: exited 143\n"});
  Start();
  Stop();
  EXPECT_THAT(shell_.verbs, ElementsAre("run", "stop", "follow"));
  EXPECT_THAT(shell_.commands[1], HasSubstr(".a1 5")) << "with the grace in seconds";
  EXPECT_EQ(base::ReadFile(options_.paths.LogPath(1, 1, "run", 0)).value_or(""), "the rest\n");
  EXPECT_EQ(Last().phase, HostPhase::kExited);
  EXPECT_EQ(Last().exit_code, 143);
  EXPECT_TRUE(Last().settled);
}

TEST_F(StageStopperTest, IsSafeToRepeat) {
  Start();
  Stop();
  Stop();
  EXPECT_THAT(shell_.verbs, ElementsAre("run", "stop"));
}

TEST_F(StageStopperTest, LeftoversOfAnEndedCommandAreStopped) {
  Host() = {.host = 0, .phase = HostPhase::kExited, .exit_code = 7};
  shell_.Add("stop", {.out = "exited 7\n"});
  shell_.Add("follow", {.err = "jobman: exited 7\n"});
  Start();
  EXPECT_TRUE(reports_.empty());
  Stop();
  EXPECT_TRUE(Last().settled);
  EXPECT_EQ(Last().exit_code, 7);
}

TEST_F(StageStopperTest, AHostThatDoesNotAnswerIsRetried) {
  Start();
  shell_.Add("stop", {.code = Broken()});
  shell_.Add("stop", {.out = "exited 0\n"});
  shell_.Add("follow", {.err = "jobman: exited 0\n"});
  Stop();
  EXPECT_EQ(troubles_, 1);
  ASSERT_TRUE(Until([&] { return !reports_.empty() && Last().settled; }));
}

TEST_F(StageStopperTest, AHostIsGivenUpSomeTimeAfterTheGrace) {
  Start();
  shell_.takes = job_.spec.command.grace + remote::kStopMargin;
  shell_.Add("stop", {.code = Broken()});
  Stop();
  EXPECT_EQ(Last().phase, HostPhase::kLost);
  EXPECT_TRUE(Last().settled);
}

TEST_F(StageStopperTest, WhileTheCloudIsSilentAHostIsGivenUpLater) {
  cloud_answers_ = false;
  Start();
  shell_.takes = std::chrono::minutes{5};
  shell_.Add("stop", {.code = Broken()});
  Stop();
  EXPECT_TRUE(reports_.empty());
  shell_.takes = std::chrono::minutes{1};
  shell_.Add("stop", {.code = Broken()});
  ASSERT_TRUE(Until([&] { return !reports_.empty(); }));
  EXPECT_EQ(Last().phase, HostPhase::kLost);
  EXPECT_TRUE(Last().settled);
}

/// The wrong ssh.user: no later try is better.
TEST_F(StageStopperTest, AHostThatRefusesTheLoginIsTriedOnce) {
  const base::Error refused{.code = base::Code::kUnauthenticated,
                            .message = "login as nobody refused",
                            .reason = base::Reason::kHostAuth};
  begins_here_ = true;
  shell_.Add("run", {.code = refused});
  Start();
  shell_.Add("stop", {.code = refused});
  Stop();
  EXPECT_EQ(Stops(), 1);
  EXPECT_EQ(Last().phase, HostPhase::kLost);
  EXPECT_TRUE(Last().settled);
}

/// As while the guest agent writes the keys anew: the command runs on until it is told.
TEST_F(StageStopperTest, AHostThatRefusesTheLoginNowIsTriedAgain) {
  const base::Error refused{.code = base::Code::kUnauthenticated,
                            .message = "login as ann refused",
                            .reason = base::Reason::kHostAuth};
  shell_.Add("run", {.code = Broken(), .first = "welcome\n"});
  Start();
  shell_.Add("stop", {.code = refused});
  shell_.Add("stop", {.out = "lost stopped before it started\n"});
  shell_.Add("follow", {.err = "jobman: lost stopped before it started\n"});
  Stop();
  ASSERT_TRUE(Until([&] { return !reports_.empty() && Last().settled; }));
  EXPECT_EQ(Stops(), 2);
}

/// Its slice is good for the next attempt.
TEST_F(StageStopperTest, AHostToWhichNothingWasSentIsNotSaidToBeDead) {
  begins_here_ = true;
  shell_.Add("run", {.code = Broken()});
  Start();
  shell_.Add("stop", {.code = Broken()});
  Stop();
  EXPECT_FALSE(core::DidNotAnswer(Last()));
  EXPECT_THAT(Last().error->message, testing::HasSubstr("nothing runs there: "));
}

TEST_F(StageStopperTest, AHostToWhichNothingWasSentIsTriedOnce) {
  begins_here_ = true;
  shell_.Add("run", {.code = Broken()});
  Start();
  shell_.Add("stop", {.code = Broken()});
  Stop();
  EXPECT_EQ(Stops(), 1);
  EXPECT_EQ(Last().phase, HostPhase::kLost);
  EXPECT_TRUE(Last().settled);
}

/// The order may have arrived, and its answer may be lost.
TEST_F(StageStopperTest, AHostThatMayHaveStartedTheRunIsTriedAgain) {
  begins_here_ = true;
  shell_.Add("run", {.code = Broken(), .first = "welcome\n"});
  Start();
  shell_.Add("stop", {.code = Broken()});
  shell_.Add("stop", {.out = "lost stopped before it started\n"});
  shell_.Add("follow", {.err = "jobman: lost stopped before it started\n"});
  Stop();
  EXPECT_EQ(Stops(), 1);
  ASSERT_TRUE(Until([&] { return !reports_.empty() && Last().settled; }));
  EXPECT_EQ(Stops(), 2);
}

/// What an earlier controller did there is not known.
TEST_F(StageStopperTest, AHostOfAStageThatWasTakenOverIsTriedAgain) {
  shell_.Add("run", {.code = Broken()});
  Start();
  shell_.Add("stop", {.code = Broken()});
  shell_.Add("stop", {.out = "lost stopped before it started\n"});
  shell_.Add("follow", {.err = "jobman: lost stopped before it started\n"});
  Stop();
  ASSERT_TRUE(Until([&] { return !reports_.empty() && Last().settled; }));
  EXPECT_EQ(Stops(), 2);
}

/// The command may end and leave children behind.
TEST_F(StageStopperTest, TheEndOfTheCommandIsNotTheEndOfTheStop) {
  shell_.Add("run", {.err = "jobman: running\njobman: exited 0\n"});
  const StageContext& context = Context();
  hosts_.emplace(context);
  watch_.emplace(context, *hosts_);
  follower_.emplace(context, *hosts_, *watch_);
  stopper_.emplace(context, *hosts_, *follower_);
  stopper_->Stop();
  follower_->Start();
  Turn();
  for (const core::HostRun& report : reports_) EXPECT_EQ(report.phase, HostPhase::kRunning);
}

/// Login works, but no command answers: the job goes on without the host.
TEST_F(StageStopperTest, AHostThatHangsIsGivenUp) {
  job_.spec.command.grace = std::chrono::hours{1};
  Start();
  const core::TimePoint began = clock_.Now();
  shell_.Add("stop", {.hangs = true});
  Stop();
  ASSERT_FALSE(reports_.empty());
  EXPECT_EQ(Last().phase, HostPhase::kLost);
  EXPECT_TRUE(Last().settled);
  EXPECT_TRUE(core::DidNotAnswer(Last()));
  EXPECT_EQ(clock_.Now() - began, job_.spec.command.grace + remote::kStopMargin)
      << "a healthy host may use all of its grace";
}

TEST_F(StageStopperTest, AHostThatHangsBeforeTheScriptIsInstalledIsGivenUp) {
  Start();
  shell_.Add("stop", {.code = remote::kExitNotInstalled});
  shell_.Add("install", {.hangs = true});
  shell_.Add("stop", {.hangs = true});
  Stop();
  ASSERT_TRUE(Until([&] { return !reports_.empty() && Last().settled; }));
  EXPECT_TRUE(core::DidNotAnswer(Last()));
}

TEST_F(StageStopperTest, AHostThatHangsWhileTheLogIsFetchedLosesItsEnd) {
  shell_.Add("stop", {.out = "exited 143\n"});
  shell_.Add("follow", {.out = "the first half\n", .hangs = true});
  Start();
  Stop();
  ASSERT_FALSE(reports_.empty());
  ASSERT_TRUE(Until([&] { return Last().settled; }));
  EXPECT_EQ(Last().phase, HostPhase::kExited);
  EXPECT_EQ(Last().exit_code, 143);
}

/// Each time it answers, writes a little, and breaks off.
TEST_F(StageStopperTest, AHostThatTricklesWhileTheLogIsFetchedLosesItsEnd) {
  shell_.Add("stop", {.out = "exited 143\n"});
  for (int tries = 0; tries < 20; ++tries)
    shell_.Add("follow", {.code = Broken(), .out = "x\n", .first = "jobman: running\n"});
  shell_.takes = std::chrono::minutes{2};
  Start();
  Stop();
  ASSERT_TRUE(Until([&] { return !reports_.empty() && Last().settled; }));
  EXPECT_EQ(Last().exit_code, 143);
  EXPECT_EQ(std::count(shell_.verbs.begin(), shell_.verbs.end(), "follow"), 3);
}

/// The end of the run is known; what the host prints is not its log.
TEST_F(StageStopperTest, AHostThatPrintsSomethingElseWhileTheLogIsFetchedLosesItsEnd) {
  shell_.Add("stop", {.out = "exited 143\n", .trickles = "welcome"});
  shell_.Add("follow", {.trickles = "welcome"});
  Start();
  Stop();
  ASSERT_TRUE(Until([&] { return !reports_.empty() && Last().settled; }));
  EXPECT_EQ(Last().exit_code, 143);
  EXPECT_EQ(Log(), "");
}

/// What the command left behind may run on.
TEST_F(StageStopperTest, AHostThatHangsAfterTheCommandEndedIsReportedWithTheReason) {
  Host() = {.host = 0, .phase = HostPhase::kExited, .exit_code = 7};
  shell_.Add("stop", {.hangs = true});
  Start();
  Stop();
  ASSERT_FALSE(reports_.empty());
  EXPECT_TRUE(Last().settled);
  EXPECT_EQ(Last().exit_code, 7);
  EXPECT_TRUE(core::DidNotAnswer(Last()));
}

}  // namespace
}  // namespace jobman::controller

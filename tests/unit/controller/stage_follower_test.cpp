#include "controller/stage_follower.hpp"

#include "jobman/base/capped_file.hpp"
#include "jobman/base/file_times.hpp"
#include "tests/support/memory_host_keys.hpp"
#include "tests/support/modified.hpp"
#include "tests/unit/controller/stage_fixture.hpp"

namespace jobman::controller {
namespace {

using core::HostPhase;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class StageFollowerTest : public StageFixture {
 protected:
  void Start() {
    const StageContext& context = Context();
    hosts_.emplace(context);
    watch_.emplace(context, *hosts_);
    follower_.emplace(context, *hosts_, *watch_);
    follower_->Start();
    Turn();
  }

  std::optional<StageHosts> hosts_;
  std::optional<OutputWatch> watch_;
  std::optional<StageFollower> follower_;
};

TEST_F(StageFollowerTest, StartsTheRunFetchesItsLogAndReportsItsEnd) {
  shell_.Add("run", {.out = "one\ntwo\n", .err = "jobman: running\njobman: exited 3\n"});
  Start();
  EXPECT_THAT(shell_.verbs, ElementsAre("run"));
  EXPECT_EQ(base::ReadFile(options_.paths.LogPath(1, 1, "run", 0)).value_or(""), "one\ntwo\n");
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_EQ(reports_[0].phase, HostPhase::kRunning);
  EXPECT_EQ(Last().phase, HostPhase::kExited);
  EXPECT_EQ(Last().exit_code, 3);
}

TEST_F(StageFollowerTest, ContinuesTheLogAfterABrokenConnection) {
  shell_.Add("run", {.code = Broken(), .out = "one\n", .err = "jobman: running\n"});
  shell_.Add("follow", {.out = "two\n", .err = "jobman: exited 0\n"});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kRunning);
  EXPECT_EQ(Last().error->message, "the connection broke");
  EXPECT_EQ(troubles_, 1);
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kExited; }));
  EXPECT_THAT(shell_.commands[1], EndsWith(" 4")) << "bytes received";
  EXPECT_EQ(base::ReadFile(options_.paths.LogPath(1, 1, "run", 0)).value_or(""), "one\ntwo\n");
}

TEST_F(StageFollowerTest, RecordsWhenOutputCame) {
  const base::Path log = Context().LogPath(0);
  shell_.takes = std::chrono::seconds{30};
  shell_.Add("run", {.code = Broken(), .out = "one\n", .err = "jobman: running\n"});
  shell_.Add("follow", {.out = "two\n", .err = "jobman: exited 0\n"});
  Start();
  const auto first = std::chrono::floor<std::chrono::seconds>(clock_.Now());
  EXPECT_FALSE(std::filesystem::exists(log.string() + ".times")) << "the log says it itself";
  test::SetModified(log, first);
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kExited; }));
  const auto times = base::FileTimes::Read(log);
  EXPECT_EQ(times.At(0), first);
  EXPECT_EQ(times.At(3), first);
  EXPECT_EQ(times.At(4), first + shell_.takes);
}

TEST_F(StageFollowerTest, AStageGoesOnWithoutTimes) {
  const base::Path log = Context().LogPath(0);
  ASSERT_TRUE(base::EnsureDir(log.string() + ".times").ok());
  shell_.Add("run", {.out = "one\n", .err = "jobman: running\njobman: exited 0\n"});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kExited);
  EXPECT_EQ(Log(), "one\n");
}

TEST_F(StageFollowerTest, GoesOnAfterWhatAHostHasDroppedOfItsLog) {
  job_.spec.watchdog.bad_output = {{.match = "end"}};
  shell_.Add("run", {.out = "one\n", .err = "jobman: running\njobman: gap 4 70000\n"});
  shell_.Add("follow", {.out = "two\n", .err = "jobman: exited 0\n"});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kRunning);
  EXPECT_EQ(Last().error->message,
            "69996 bytes of its log are gone: it grew past logs.max_bytes while nobody fetched it");
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kExited; }));
  EXPECT_THAT(shell_.commands[1], EndsWith(" 70000")) << "the end of the gap";
  const base::Path log = Context().LogPath(0);
  EXPECT_EQ(base::ReadFile(log)->substr(70'000), "two\n");
  EXPECT_EQ(*base::ReadGap(log), (base::FileGap{.begin = 4, .end = 70'000}));
}

TEST_F(StageFollowerTest, AHostThatIsUnreachableForTooLongIsGivenUp) {
  options_.unreachable_limit = milliseconds{100};
  shell_.Add("run", {.code = Broken()});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kLost);
  EXPECT_TRUE(Last().settled);
}

TEST_F(StageFollowerTest, TheDurationOfAFailedCallCounts) {
  options_.unreachable_limit = std::chrono::minutes{5};
  shell_.takes = std::chrono::minutes{6};
  shell_.Add("run", {.code = Broken()});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kLost);
}

TEST_F(StageFollowerTest, TheTimeBeforeAConnectionBrokeDoesNotCount) {
  options_.unreachable_limit = std::chrono::minutes{5};
  shell_.takes = std::chrono::minutes{6};
  shell_.Add("run", {.code = Broken(), .err = "jobman: running\n"});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kRunning);
}

TEST_F(StageFollowerTest, TheWaitOfAnEarlierControllerCountsExceptForAFewTries) {
  options_.unreachable_limit = std::chrono::minutes{5};
  Host().silent_since = clock_.Now() - std::chrono::hours{1};
  shell_.Add("run", {.code = Broken()});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kPending);
  shell_.takes = std::chrono::seconds{6};
  shell_.Add("run", {.code = Broken()});
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kLost; }));
}

/// A silent cloud may mean a fault of our own network; during maintenance no host answers.
TEST_F(StageFollowerTest, NoHostIsGivenUpWhileTheCauseMayBeElsewhere) {
  options_.unreachable_limit = milliseconds{1};
  for (bool* const good : {&cloud_answers_, &slice_ready_}) {
    *good = false;
    shell_.Add("run", {.code = Broken()});
    Start();
    EXPECT_EQ(Last().phase, HostPhase::kPending);
    *good = true;
  }
}

TEST_F(StageFollowerTest, LocalErrorsDoNotCountAgainstTheHost) {
  options_.unreachable_limit = milliseconds{1};
  base::Error full{.code = base::Code::kUnavailable, .reason = base::Reason::kDiskFull};
  shell_.Add("run", {.code = full});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kPending);
  EXPECT_EQ(troubles_, 0);
}

TEST_F(StageFollowerTest, PermanentErrorsAreNotRetried) {
  base::Error changed{.code = base::Code::kPermissionDenied,
                      .reason = base::Reason::kHostKeyChanged};
  shell_.Add("run", {.code = changed});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kLost);
  EXPECT_EQ(Last().error->reason, base::Reason::kHostKeyChanged);
}

TEST_F(StageFollowerTest, ARunThatTheHostHasForgottenIsStartedAgain) {
  Host().phase = HostPhase::kRunning;
  shell_.Add("follow", {.err = "jobman: absent\n"});
  shell_.Add("run", {.err = "jobman: exited 0\n"});
  Start();
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kExited; }));
  EXPECT_THAT(shell_.verbs, ElementsAre("follow", "run"));
}

TEST_F(StageFollowerTest, ASetupStepOfAnEarlierAttemptIsRenewedOnce) {
  job_.attempt = 2;
  job_.stage->id = core::SetupStage{0};
  shell_.Add("renew", {});
  shell_.Add("run", {.code = Broken()});
  shell_.Add("run", {.err = "jobman: exited 0\n"});
  Start();
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kExited; }));
  EXPECT_THAT(shell_.verbs, ElementsAre("renew", "run", "run"));
}

TEST_F(StageFollowerTest, ANewHostGetsTheScriptWithItsFirstRun) {
  test::MemoryHostKeys keys;
  ports_.stores.host_keys = &keys;
  begins_here_ = true;
  shell_.Add("run", {.err = "jobman: exited 0\n"});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kExited);
  EXPECT_TRUE(shell_.inputs[0].starts_with(remote::PackedHostScript()));
  keys.keys[Context().job->slice->nodes[0].uid + "/0"] = "ssh-ed25519 AAAA";
  shell_.Add("run", {.err = "jobman: exited 0\n"});
  Start();
  EXPECT_THAT(shell_.verbs, ElementsAre("run", "run"));
  EXPECT_THAT(shell_.inputs[1], testing::StartsWith("jm_setup=")) << "it was called before";
}

TEST_F(StageFollowerTest, AHostWithoutTheScriptOfAnEarlierAttemptGetsItWithItsRun) {
  job_.attempt = 2;
  job_.stage->id = core::SetupStage{0};
  shell_.Add("renew", {.code = remote::kExitNotInstalled});
  shell_.Add("run", {.code = Broken()});
  shell_.Add("run", {.err = "jobman: exited 0\n"});
  Start();
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kExited; }));
  EXPECT_TRUE(shell_.inputs[1].starts_with(remote::PackedHostScript()));
  EXPECT_THAT(shell_.inputs[2], testing::StartsWith("jm_setup=")) << "it may have got it";
}

TEST_F(StageFollowerTest, WithoutItsSecretTheCommandIsFollowedButNotStarted) {
  job_.spec.command.secrets = {{.name = "API_KEY"}};
  shell_.Add("follow", {.err = "jobman: absent\n"});
  Start();
  EXPECT_THAT(shell_.verbs, ElementsAre("follow"));
  EXPECT_EQ(Last().phase, HostPhase::kLost);
  EXPECT_THAT(Last().error->message, HasSubstr("API_KEY"));
}

TEST_F(StageFollowerTest, AHostWhoseRunHasEndedIsNotCalled) {
  Host().phase = HostPhase::kExited;
  Start();
  EXPECT_TRUE(shell_.verbs.empty());
}

TEST_F(StageFollowerTest, AHostThatHangsAtTheStartIsTriedAgain) {
  shell_.Add("run", {.hangs = true});
  shell_.Add("run", {.err = "jobman: running\njobman: exited 0\n"});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kPending);
  EXPECT_EQ(troubles_, 1);
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kExited; }));
}

TEST_F(StageFollowerTest, AHostThatHangsIsLostInTheEnd) {
  options_.unreachable_limit = std::chrono::seconds{60};
  shell_.Add("run", {.hangs = true});
  shell_.Add("run", {.hangs = true});
  Start();
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kLost; }));
  EXPECT_TRUE(core::DidNotAnswer(Last()));
}

/// A ~/.bashrc that prints for ever. Nothing of it is the log of a run.
TEST_F(StageFollowerTest, AHostThatPrintsSomethingElseForEverIsLost) {
  options_.unreachable_limit = std::chrono::seconds{60};
  shell_.Add("run", {.trickles = "welcome"});
  shell_.Add("run", {.trickles = "welcome"});
  Start();
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kLost; }));
  EXPECT_TRUE(core::DidNotAnswer(Last()));
  EXPECT_THAT(Last().error->message, HasSubstr("not as jobman's host script does: 'welcome'"));
  EXPECT_EQ(Log(), "");
}

TEST_F(StageFollowerTest, AHostThatBeginsToDoSoDuringTheRunIsLostToo) {
  options_.unreachable_limit = std::chrono::seconds{60};
  shell_.Add("run", {.code = Broken(), .out = "one\n", .err = "jobman: running\n"});
  shell_.Add("follow", {.trickles = "welcome"});
  shell_.Add("follow", {.trickles = "welcome"});
  Start();
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kLost; }));
  EXPECT_EQ(Log(), "one\n");
}

/// It may say that it is alive, and never start anything.
TEST_F(StageFollowerTest, AStartThatNeverComesToAnEndHasABound) {
  shell_.takes = std::chrono::hours{1};
  shell_.Add("run", {.err = "jobman: alive\n", .hangs = true});
  Start();
  EXPECT_THAT(Last().error->message, HasSubstr("did not start the run within"));
  EXPECT_EQ(Last().phase, HostPhase::kLost);
}

/// A stuck home folder may let the script say one line.
TEST_F(StageFollowerTest, AHostThatSaysOneLineAndHangsIsLostToo) {
  options_.unreachable_limit = std::chrono::seconds{60};
  shell_.Add("run", {.err = "jobman: running\n", .hangs = true});
  shell_.Add("follow", {.err = "jobman: running\n", .hangs = true});
  Start();
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kLost; }));
}

TEST_F(StageFollowerTest, AHostThatHangsWhileItForgetsAnEarlierRunIsTriedAgain) {
  job_.attempt = 2;
  job_.stage->id = core::SetupStage{0};
  shell_.Add("renew", {.hangs = true});
  shell_.Add("renew", {});
  shell_.Add("run", {.err = "jobman: exited 0\n"});
  Start();
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kExited; }));
}

/// The run may not exist yet: it starts once an earlier one has ended.
TEST_F(StageFollowerTest, ASignOfLifeIsNoRun) {
  shell_.Add("run", {.code = Broken(), .err = "welcome\njobman: alive\n"});
  Start();
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(Last().phase, HostPhase::kPending);
}

}  // namespace
}  // namespace jobman::controller

#include "controller/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sample_job.hpp"

namespace jobman::controller {
namespace {

using core::HostPhase;
using testing::ElementsAre;
using testing::IsEmpty;

/// Records steps of a job that runs on two hosts.
class JournalTest : public testing::Test {
 protected:
  JournalTest() {
    before_ = test::SampleJob("train");
    before_.id = core::JobId{1};
    before_.state = core::Running{};
    before_.attempt = 1;
    before_.why = "it runs";
    before_.slice = test::SampleSlice("train-000001-a1");
    before_.stage = core::Stage{.name = "run", .hosts = {{.host = 0}, {.host = 1}}};
    step_.job = before_;
    step_.why = before_.why;
  }
  /// "kind subject: text" of each line.
  std::vector<std::string> Lines(const core::Observation& seen = core::Tick{}) {
    turn_ = {};
    Record(before_, seen, step_, test::kNow, turn_);
    std::vector<std::string> lines;
    for (const ports::Event& event : turn_.events) {
      lines.push_back(event.kind + " " + event.subject + ": " + event.text);
    }
    return lines;
  }
  static core::HostReport Report(core::HostRun run) {
    return {.attempt = 1, .run = std::move(run)};
  }

  core::Job before_;
  core::Step step_;
  ports::Turn turn_;
};

TEST_F(JournalTest, NoChangeMakesNoLine) {
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(JournalTest, AKeyPinnedOnFirstUseIsALine) {
  EXPECT_THAT(
      Lines(core::KeyPinned{
          .attempt = 1, .host = 3, .key = "ED25519 SHA256:abc", .why = "the node reported none"}),
      ElementsAre("host host 3: pinned key ED25519 SHA256:abc on first use, as the node "
                  "reported none"));
}

TEST_F(JournalTest, AStateChangeIsALineAndANewReasonANote) {
  step_.why = "it runs, told of a maintenance";
  EXPECT_THAT(Lines(), ElementsAre("note RUNNING: it runs, told of a maintenance"));
  step_.job.state = core::Cancelling{};
  step_.why = "cancelled by the user";
  EXPECT_THAT(Lines(), ElementsAre("state CANCELLING: cancelled by the user"));
}

TEST_F(JournalTest, EffectsAreLinesExceptHooks) {
  step_.effects = {core::StopStage{.attempt = 1}, core::TellHooks{}};
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], testing::StartsWith("effect StopStage"));
}

TEST_F(JournalTest, TheEndOfARunIsRecordedOnceWithItsExitCode) {
  const auto ended = Report({.host = 1, .phase = HostPhase::kExited, .exit_code = 7});
  EXPECT_THAT(Lines(ended), ElementsAre("host host 1: run ended with exit code 7"));
  ASSERT_EQ(turn_.exits.size(), 1u);
  EXPECT_EQ(turn_.exits[0].exit_code, 7);
  EXPECT_THAT(turn_.exits[0].error, IsEmpty());
  before_.stage->hosts[1].phase = HostPhase::kExited;
  EXPECT_THAT(Lines(ended), IsEmpty());
}

TEST_F(JournalTest, ALostRunIsRecordedWithTheCause) {
  const base::Error error{.code = base::Code::kAborted, .message = "its machine restarted"};
  const auto lines = Lines(Report({.host = 0, .phase = HostPhase::kLost, .error = error}));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], testing::HasSubstr("its machine restarted"));
  EXPECT_EQ(turn_.exits[0].error, error.ToString());
}

TEST_F(JournalTest, AReportOfAnEarlierAttemptOrStageIsNotRecorded) {
  auto late = Report({.host = 0, .phase = HostPhase::kExited});
  late.attempt = 0;
  EXPECT_THAT(Lines(late), IsEmpty());
  late.attempt = 1;
  late.stage = core::SetupStage{0};
  EXPECT_THAT(Lines(late), IsEmpty());
}

TEST_F(JournalTest, AnEndedAttemptAndTheNextHaveARowEach) {
  step_.ended = {{.attempt = 1, .end = {.outcome = core::AttemptOutcome::kPreempted}}};
  step_.job.attempt = 2;
  step_.job.restart = core::Restart{.cause = core::RestartCause::kPreempted};
  step_.job.slice->ref.name = "train-000001-a2";
  Lines();
  ASSERT_EQ(turn_.attempts.size(), 2u);
  EXPECT_EQ(turn_.attempts[0].slice, "train-000001-a1");
  EXPECT_EQ(turn_.attempts[0].outcome, "preempted");
  EXPECT_EQ(turn_.attempts[0].ended_at, test::kNow);
  EXPECT_EQ(turn_.attempts[1].slice, "train-000001-a2");
  EXPECT_EQ(turn_.attempts[1].reason, core::RestartText(step_.job.restart));
  EXPECT_EQ(turn_.attempts[1].started_at, test::kNow);
}

}  // namespace
}  // namespace jobman::controller

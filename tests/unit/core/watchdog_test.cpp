// The watchdog: why it stops the command, and what follows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/core/explain.hpp"
#include "jobman/core/job_json.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using test::JobBuilder;
using test::Reconciling;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Job Watched(WatchdogSpec watchdog) {
  Job job = JobBuilder().Build();
  job.spec.watchdog = std::move(watchdog);
  return job;
}

Silence SilentFor(const Reconciling& r, Duration length) {
  return {.attempt = r.job().attempt, .since = r.clock.Now() - length};
}

BadOutput Bad(const Reconciling& r, int rule, std::string line) {
  return {.attempt = r.job().attempt, .host = 2, .rule = rule, .line = std::move(line)};
}

TEST(Watchdog, ASilentCommandIsRunAgainOnTheSlice) {
  Reconciling r(Watched({.no_output = minutes{30}}));
  r.ToRunning(2);
  const std::string slice = r.job().slice->ref.name;
  r.clock.Advance(minutes{31});
  EXPECT_THAT(r.See(SilentFor(r, minutes{29})).effects(), IsEmpty());
  EXPECT_THAT(r.See(SilentFor(r, minutes{30})).effects(),
              ElementsAre("StopStage run of attempt 1"));
  EXPECT_EQ(r.job().why, "watchdog no_output: no host wrote anything for 30m: stopping it");
  EXPECT_THAT(r.See(SilentFor(r, minutes{30})).effects(), IsEmpty()) << "decided once";
  r.AllEnd(143);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(r.restart(), "watchdog no_output");
  EXPECT_EQ(r.job().spent.infra, 1);
  EXPECT_EQ(r.job().spent.failure, 0);
  EXPECT_EQ(r.job().slice->ref.name, slice);
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kCreated);
  r.clock.Advance(minutes{10});
  r.Ready(2);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_EQ(r.job().attempt, 2);
  EXPECT_FALSE(r.job().stage->alarm());
}

TEST(Watchdog, SilenceDoesNotCountWhileAHostIsNotReached) {
  Reconciling r(Watched({.no_output = minutes{30}}));
  r.ToRunning(2);
  r.clock.Advance(hours{2});
  const base::Error refused{.code = base::Code::kUnavailable, .reason = base::Reason::kHostRefused};
  r.See(HostReport{.attempt = 1,
                   .stage = CommandStage{},
                   .run = {.host = 1, .phase = HostPhase::kRunning, .error = refused}});
  EXPECT_THAT(r.See(SilentFor(r, hours{1})).effects(), IsEmpty());
  r.HostRuns(1);
  EXPECT_THAT(r.See(SilentFor(r, hours{1})).effects(), ElementsAre("StopStage run of attempt 1"));
}

TEST(Watchdog, SilenceBeginsWithTheCommand) {
  Reconciling r(Watched({.no_output = minutes{30}}));
  r.ToRunning(2);
  r.clock.Advance(minutes{29});
  EXPECT_THAT(r.See(SilentFor(r, hours{5})).effects(), IsEmpty());
}

TEST(Watchdog, ObservationsOfAnotherAttemptAreIgnored) {
  Reconciling r(Watched({.no_output = minutes{30}, .bad_output = {{.match = "nan"}}}));
  r.ToRunning(2);
  r.clock.Advance(hours{1});
  r.See(Silence{.attempt = 7});
  EXPECT_THAT(r.effects(), IsEmpty());
  r.See(BadOutput{.attempt = 2, .rule = 0});
  EXPECT_THAT(r.effects(), IsEmpty());
  r.See(BadOutput{.attempt = 1, .rule = 1});
  EXPECT_THAT(r.effects(), IsEmpty()) << "there is no such rule";
}

TEST(Watchdog, ABadLineFailsTheJobRegardlessOfBudgets) {
  Job job = Watched({.bad_output = {{.match = "loss.*nan"}}});
  job.spec.retries = {.failure = 5};
  Reconciling r(job);
  r.ToRunning(2).See(Bad(r, 0, "loss: nan"));
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  r.AllEnd(0);  // it saved its state and succeeded
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.As<Done>().exit_code, 1);
  EXPECT_EQ(r.job().why,
            "watchdog bad_output: host 2 wrote a line that matches \"loss.*nan\": loss: nan");
  EXPECT_EQ(r.As<Done>().error->hint, "jobman logs 000042 --stage run --host 2");
  EXPECT_EQ(r.job().spent, Spent{});
}

TEST(Watchdog, ABadChipAsksForAnotherSlice) {
  Reconciling r(Watched(
      {.bad_output = {{.match = "nan"},
                      {.match = "CHIP_DRIVER_ERROR", .action = WatchdogAction::kNewSlice}}}));
  r.ToRunning(2).See(Bad(r, 1, "CHIP_DRIVER_ERROR on 3"));
  r.AllEnd(134);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), Contains("DeleteSlice train-000042-a1"));
  EXPECT_EQ(r.restart(), "watchdog bad_output") << "never what a host wrote";
  EXPECT_EQ(r.job().spent.infra, 1);
}

TEST(Watchdog, TheLineDecidesEvenIfAHostFailedBefore) {
  Reconciling r(Watched(
      {.bad_output = {{.match = "CHIP_DRIVER_ERROR", .action = WatchdogAction::kNewSlice}}}));
  r.ToRunning(2).HostEnds(0, 1);
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  EXPECT_THAT(r.See(Bad(r, 0, "CHIP_DRIVER_ERROR")).effects(), Not(Contains("StopStage")));
  r.HostEnds(1, 143).HostSettles(0);
  EXPECT_EQ(r.state(), "BACKOFF") << "retries.failure is 0: exit code 1 alone would end the job";
  EXPECT_EQ(r.job().spent.failure, 0);
}

TEST(Watchdog, MaxDurationWakesAndFailsTheJob) {
  Reconciling r(Watched({.max_duration = seconds{20}}));
  r.policy.poll = minutes{5};
  r.ToRunning(2);
  EXPECT_EQ(r.job().wake_at, r.job().stage->started_at + seconds{20});
  EXPECT_THAT(r.After(seconds{19}).effects(), IsEmpty());
  EXPECT_THAT(Explain(r.job(), r.clock.Now()).facts,
              Contains("watchdog: the command may run for 1s more"));
  EXPECT_THAT(r.After(seconds{1}).effects(), ElementsAre("StopStage run of attempt 1"));
  r.AllEnd(143);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.job().why, "watchdog max_duration: the command ran for 20s");
}

TEST(Watchdog, MaxDurationIsForTheCommandOnly) {
  Job job = JobBuilder().Step("install").Build();
  job.spec.watchdog = {.max_duration = seconds{20}};
  Reconciling r(job);
  r.Tick().Answered().Ready(2);
  ASSERT_EQ(r.state(), "SETUP");
  EXPECT_THAT(r.After(hours{1}).effects(), IsEmpty());
}

TEST(Watchdog, RestartsUseTheBudget) {
  Job job = Watched({.no_output = minutes{1}});
  job.spec.retries.infra = 0;
  Reconciling r(job);
  r.ToRunning(1);
  r.clock.Advance(minutes{2});
  r.See(SilentFor(r, minutes{1})).AllEnd(143);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_THAT(r.As<Done>().error->hint, HasSubstr("retries.infra is used up"));
}

TEST(Watchdog, APreemptionDuringAnAlarmCountsUnlessTheAlarmEndsTheJob) {
  for (const auto action : {WatchdogAction::kRestart, WatchdogAction::kFail}) {
    Reconciling r(Watched({.bad_output = {{.match = "x", .action = action}}}));
    r.ToRunning(2).See(Bad(r, 0, "x")).Node(NodeState::kPreempted);
    const bool ends = action == WatchdogAction::kFail;
    EXPECT_EQ(r.state(), ends ? "FAILED" : "BACKOFF");
    EXPECT_EQ(r.job().spent.preemption, ends ? 0 : 1);
    EXPECT_THAT(r.effects(), Contains("DeleteSlice train-000042-a1"));
  }
}

TEST(Watchdog, AHostThatCannotBeStoppedCostsTheSlice) {
  Reconciling r(Watched({.no_output = minutes{1}}));
  r.ToRunning(2);
  r.clock.Advance(minutes{2});
  r.See(SilentFor(r, minutes{1})).HostEnds(0, 143);
  r.HostLost(1,
             base::Error{.code = base::Code::kUnavailable, .reason = base::Reason::kHostTimeout});
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), Contains("DeleteSlice train-000042-a1"));
}

TEST(Watchdog, ACancelledJobRaisesNoAlarm) {
  Reconciling r(Watched({.bad_output = {{.match = "x"}}}));
  r.ToRunning(2).WishFor(Wish::kCancel);
  r.See(Bad(r, 0, "x")).AllEnd(143);
  EXPECT_EQ(r.state(), "CANCELLED");
}

TEST(Watchdog, TheAlarmSurvivesTheStore) {
  Reconciling r(Watched({.bad_output = {{.match = "x"}}}));
  r.ToRunning(2).See(Bad(r, 0, "x"));
  ASSERT_TRUE(r.job().stage->alarm());
  EXPECT_THAT(Explain(r.job(), r.clock.Now()).facts,
              Contains("watchdog bad_output: " + r.job().stage->alarm()->text));
  const auto back = StageFromJson(StageToJson(*r.job().stage));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back->alarm(), *r.job().stage->alarm());
}

TEST(Watchdog, ACommandThatIsBeingStoppedHasNoTimeLimit) {
  Job job = Watched({.max_duration = hours{1}});
  job.spec.command.on_notice.signal = "TERM";
  Reconciling r(job);
  r.ToRunning(2);
  r.clock.Advance(minutes{59});
  r.HostLost(1);
  ASSERT_TRUE(r.job().stage->stop);
  EXPECT_THAT(r.After(minutes{2}).effects(), IsEmpty());
  EXPECT_FALSE(r.job().stage->alarm());
}

}  // namespace
}  // namespace jobman::core

// What a further attempt on the same slice, a changed job file and the end of a job ask for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using base::Reason;
using std::chrono::minutes;
using test::JobBuilder;
using test::Reconciling;
using ::testing::ElementsAre;

TEST(ReconcileAttempts, AnotherAttemptOnTheSameMachinesBeginsWithTheCommand) {
  Reconciling r(JobBuilder().Step("install").Retries({.failure = 3}).Build());
  r.ToRunning().AllEnd(1).After(minutes{1}).Ready();
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_EQ(r.job().attempt, 2);
  EXPECT_THAT(r.effects(), ElementsAre("RunStage run of attempt 2"));
  r.AllEnd(1);
  Job forced = r.job();
  ++forced.setup_epoch;
  Reconciling again(forced);
  again.After(minutes{5}).Ready();
  EXPECT_EQ(again.state(), "SETUP") << "reboot --force";
}

TEST(ReconcileAttempts, AChangedJobFileIsUsedOnceTheStageIsOver) {
  Reconciling r(JobBuilder().Step("install").Retries({.failure = 1}).Build());
  r.ToRunning();
  Job changed = r.job();
  changed.revised = changed.spec;
  changed.revised->command.cmd = "other";
  Reconciling again(changed);
  again.Ready();
  EXPECT_NE(again.job().spec.command.cmd, "other") << "what runs is what the record says";
  again.AllEnd(1).After(minutes{1}).Ready();
  EXPECT_EQ(again.job().spec.command.cmd, "other");
  EXPECT_FALSE(again.job().revised.has_value());
  EXPECT_EQ(again.state(), "SETUP") << "its steps may have changed too";
}

TEST(ReconcileAttempts, AJobFileForAnotherSliceWaitsUntilTheSliceIsGone) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().AllEnd(0);
  ASSERT_EQ(r.state(), "SUCCEEDED");
  Job changed = r.job();
  changed.revised = changed.spec;
  changed.revised->tpu.zone = "europe-west4-b";
  changed.wish = Wish::kRequeue;
  changed.wish_new = true;
  Reconciling again(changed);
  again.After(minutes{1}).Ready();
  EXPECT_TRUE(again.job().slice.has_value());
  EXPECT_NE(again.job().spec.tpu.zone, "europe-west4-b");
}

TEST(ReconcileAttempts, TheSliceOfAJobThatIsOverIsGivenBackAsWhenDoneSays) {
  Job job = JobBuilder().Build();
  job.spec.when_done.action = SliceUse::kDelete;
  Reconciling at_once(job);
  at_once.ToRunning().AllEnd(0);
  EXPECT_EQ(at_once.state(), "SUCCEEDED");
  EXPECT_EQ(at_once.job().slice->phase, SlicePhase::kDeleting);
  EXPECT_THAT(at_once.job().why,
              testing::ContainsRegex("exit code 0 on . hosts?; its slice is given back"));

  job.spec.when_done = {.keep = minutes{30}};
  Reconciling later(job);
  later.ToRunning().AllEnd(1);
  EXPECT_EQ(later.state(), "FAILED");
  EXPECT_EQ(GivenBackAt(later.job()), later.job().since + minutes{30});
  later.After(minutes{29}).Ready();
  EXPECT_EQ(later.job().slice->phase, SlicePhase::kCreated);
  later.After(minutes{2}).Ready();
  EXPECT_EQ(later.job().slice->phase, SlicePhase::kDeleting);
  EXPECT_EQ(later.state(), "FAILED");

  Reconciling kept(JobBuilder().Build());
  kept.ToRunning().AllEnd(0).After(minutes{6000}).Ready();
  EXPECT_EQ(kept.job().slice->phase, SlicePhase::kCreated);
}

/// run --cmd-only, of a job whose step cannot succeed.
TEST(ReconcileAttempts, ACommandAloneNeedsNoSetupForOneAttempt) {
  Reconciling r(JobBuilder().Step("install").Build());
  r.Tick().Answered().Ready().AllEnd(1);
  ASSERT_EQ(r.state(), "FAILED");
  Job alone = r.job();
  ApplySetupWish(alone, SetupWish::kSkip);
  alone.wish = Wish::kReboot;
  alone.wish_new = true;
  Reconciling again(alone);
  again.After(minutes{1}).Ready();
  EXPECT_EQ(again.state(), "RUNNING");
  again.AllEnd(1);
  Job resumed = again.job();
  resumed.wish_new = true;
  Reconciling later(resumed);
  later.After(minutes{1}).Ready();
  EXPECT_EQ(later.state(), "SETUP");
}

/// gcsfuse may have been killed for want of memory.
TEST(ReconcileAttempts, AfterAFailureMountsAreLookedAtAgain) {
  Job job = JobBuilder().Retries({.failure = 1}).Build();
  job.spec.nfs.path = "/srv/shared";
  Reconciling r(job);
  r.ToRunning().AllEnd(1).After(minutes{1}).Ready();
  EXPECT_EQ(r.state(), "SETUP");
}

TEST(ReconcileAttempts, ASliceThatLacksChipsIsGivenUp) {
  Job job = JobBuilder().Build();
  job.spec.checks.devices = true;
  Reconciling r(job);
  r.Tick().Answered().Ready().AllEnd(76);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(r.spent().infra, 1);
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kDeleting);
}

TEST(ReconcileAttempts, AHostThatWasRestartedSinceItsSetupIsSetUpAgain) {
  Reconciling r(JobBuilder().Step("install").Retries({.failure = 3}).Build());
  r.ToRunning().AllEnd(1).After(minutes{1}).Ready();
  ASSERT_EQ(r.state(), "RUNNING");
  const base::Error lapsed{.message = "it was restarted since its setup",
                           .reason = base::Reason::kSetupLapsed};
  const HostRun run{.host = 1, .phase = HostPhase::kLost, .error = lapsed, .settled = true};
  r.See(HostReport{.attempt = 2, .stage = CommandStage{}, .run = run});
  EXPECT_EQ(r.job().why,
            "host 1 could not start run: it was restarted since its setup: stopping the others");
  r.HostEnds(0, 143).HostEnds(2, 143).HostEnds(3, 143);
  for (const int host : {0, 2, 3}) r.HostSettles(host);
  EXPECT_FALSE(r.job().stage);
  EXPECT_EQ(r.job().spent.failure, 1) << "of the attempt before";
  EXPECT_EQ(r.job().spent.infra, 0);
  r.Ready();
  EXPECT_EQ(r.state(), "SETUP");
  EXPECT_EQ(r.job().attempt, 3);
  // Again: something restarts it.
  r.AllEnd();
  ASSERT_EQ(r.state(), "RUNNING");
  r.See(HostReport{.attempt = 3, .stage = CommandStage{}, .run = run});
  r.HostEnds(0, 143).HostEnds(2, 143).HostEnds(3, 143);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(r.job().spent.infra, 1);
}

TEST(ReconcileAttempts, WhereTheCommandsOrderDoesNotAskAllTheStepsAreAskedForAgain) {
  Reconciling some(JobBuilder().Step("install").Retries({.failure = 3}).Build());
  Job job = some.job();
  job.spec.command.workers = {.all = false, .numbers = {1}};
  Reconciling workers(job);
  workers.ToRunning().HostEnds(1, 1).HostSettles(1).After(minutes{1}).Ready();
  EXPECT_EQ(workers.state(), "SETUP");
  job = some.job();
  job.spec.setup[0].required = false;
  Reconciling optional(job);
  optional.ToRunning().AllEnd(1).After(minutes{1}).Ready();
  EXPECT_EQ(optional.state(), "SETUP");
}

}  // namespace
}  // namespace jobman::core

// Setup steps and the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/core/explain.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using base::Code;
using base::Reason;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using test::JobBuilder;
using test::Reconciling;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ReconcileStage, StepsRunInOrderThenTheCommand) {
  Reconciling r(JobBuilder().Step("install").Step("data").Build());
  r.Tick().Answered().Ready(2);
  EXPECT_EQ(r.job().stage->name, "setup-0-install");
  r.HostEnds(0).HostEnds(1);
  EXPECT_EQ(r.state(), "SETUP");
  EXPECT_EQ(r.job().stage->name, "setup-1-data");
  EXPECT_THAT(r.effects(), ElementsAre("RunStage setup-1 of attempt 1"));
  r.AllEnd();
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_EQ(r.job().stage->name, "run");
  EXPECT_THAT(r.effects(), ElementsAre("RunStage run of attempt 1"));
}

TEST(ReconcileStage, AStepRunsOnItsHostsOnly) {
  Reconciling r(
      JobBuilder().With({.name = "data", .hosts = {.all = false, .numbers = {0, 3}}}).Build());
  r.Tick().Answered().Ready(4);
  ASSERT_EQ(r.job().stage->hosts.size(), 2U);
  EXPECT_EQ(r.job().stage->hosts[1].host, 3);
}

TEST(ReconcileStage, SucceedsWhenEveryHostSucceeded) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostEnds(0).HostEnds(1).HostEnds(2);
  EXPECT_EQ(r.state(), "RUNNING");
  r.HostEnds(3);
  EXPECT_EQ(r.state(), "SUCCEEDED");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kCreated) << "the slice is kept";
  EXPECT_FALSE(r.job().stage);
}

TEST(ReconcileStage, OneHostsFailureStopsTheOthers) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostEnds(2, 3);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  EXPECT_EQ(r.job().why, "host 2 ended run with exit code 3: stopping the others");
  EXPECT_THAT(r.HostEnds(0, 143).effects(), IsEmpty()) << "decided once";
}

TEST(ReconcileStage, TheJobHasTheExitCodeOfTheFirstFailure) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostEnds(2, 3).HostEnds(0, 143).HostEnds(1, 143).HostEnds(3, 137);
  EXPECT_EQ(r.state(), "RUNNING") << "host 2 may have leftovers of its command";
  r.HostSettles(2);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.As<Done>().exit_code, 3);
  EXPECT_EQ(r.As<Done>().error->message, "host 2 ended run with exit code 3");
  EXPECT_EQ(r.As<Done>().error->hint, "jobman logs 000042 --stage run --host 2");
}

TEST(ReconcileStage, TheFirstExitCodeOfAHostStays) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostEnds(1, 0);
  const Job before = r.job();
  r.HostEnds(1, 9).HostLost(1).HostRuns(1);
  EXPECT_EQ(r.job(), before);
}

TEST(ReconcileStage, NothingIsStoppedWhenAllHostsAreLost) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning(1).HostLost(0);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(r.As<BackingOff>().error.code, base::Code::kUnavailable);
  EXPECT_THAT(r.effects(), IsEmpty());
}

TEST(ReconcileStage, ALostRunIsStoppedOnAHostThatAnswers) {
  Reconciling r(JobBuilder().Build());
  const HostRun lost{.host = 0, .phase = HostPhase::kLost, .error = base::Error{.message = "lost"}};
  r.ToRunning(1).See(HostReport{.attempt = 1, .stage = CommandStage{}, .run = lost});
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"))
      << "its launcher was killed, not its command";
  EXPECT_EQ(r.state(), "RUNNING");
  r.HostSettles(0);
  EXPECT_EQ(r.state(), "BACKOFF");
}

TEST(ReconcileStage, LateReportsOfAnEarlierAttemptAreIgnored) {
  Reconciling r(JobBuilder().Retries({.failure = 1}).Build());
  r.ToRunning().AllEnd(1);
  ASSERT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(r.As<BackingOff>().error.code, base::Code::kAborted);
  r.After(minutes{1}).Ready();
  ASSERT_EQ(r.job().attempt, 2);
  const Job before = r.job();
  r.See(HostReport{.attempt = 1,
                   .stage = CommandStage{},
                   .run = {.host = 0, .phase = HostPhase::kExited, .exit_code = 1}});
  EXPECT_EQ(r.job(), before);
  EXPECT_FALSE(r.changed());
}

TEST(ReconcileStage, AnotherAttemptOnTheSameMachinesBeginsWithTheCommand) {
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

TEST(ReconcileStage, AChangedJobFileIsUsedOnceTheStageIsOver) {
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

TEST(ReconcileStage, AJobFileForAnotherSliceWaitsUntilTheSliceIsGone) {
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

TEST(ReconcileStage, TheSliceOfAJobThatIsOverIsGivenBackAsWhenDoneSays) {
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
TEST(ReconcileStage, ACommandAloneNeedsNoSetupForOneAttempt) {
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
TEST(ReconcileStage, AfterAFailureMountsAreLookedAtAgain) {
  Job job = JobBuilder().Retries({.failure = 1}).Build();
  job.spec.nfs.path = "/srv/shared";
  Reconciling r(job);
  r.ToRunning().AllEnd(1).After(minutes{1}).Ready();
  EXPECT_EQ(r.state(), "SETUP");
}

TEST(ReconcileStage, ASliceThatLacksChipsIsGivenUp) {
  Job job = JobBuilder().Build();
  job.spec.checks.devices = true;
  Reconciling r(job);
  r.Tick().Answered().Ready().AllEnd(76);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(r.spent().infra, 1);
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kDeleting);
}

TEST(ReconcileStage, AHostThatWasRestartedSinceItsSetupIsSetUpAgain) {
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

TEST(ReconcileStage, WhereTheCommandsOrderDoesNotAskAllTheStepsAreAskedForAgain) {
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

TEST(ReconcileStage, LateReportsOfAnEarlierStepAreIgnored) {
  Reconciling r(JobBuilder().Step("install").Build());
  r.ToRunning();
  const Job before = r.job();
  r.See(HostReport{.attempt = 1,
                   .stage = SetupStage{0},
                   .run = {.host = 0, .phase = HostPhase::kExited, .exit_code = 1}});
  EXPECT_EQ(r.job(), before);
}

TEST(ReconcileStage, AFailureUsesTheFailureBudgetAndTheSameSlice) {
  Reconciling r(JobBuilder().Retries({.failure = 1}).Build());
  r.ToRunning().AllEnd(1);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), IsEmpty()) << "the slice is fine";
  EXPECT_EQ(r.spent(), (Spent{.failure = 1, .streak = 1}));
  EXPECT_EQ(r.After(minutes{1}).state(), "PROVISIONING");
  r.Ready();
  EXPECT_THAT(r.effects(), ElementsAre("RunStage run of attempt 2"));
  EXPECT_EQ(r.restart(), "failure");
  r.AllEnd(1);
  EXPECT_EQ(r.state(), "FAILED") << "one retry was allowed";
  EXPECT_EQ(r.As<Done>().exit_code, 1);
}

TEST(ReconcileStage, ExitCode75AsksForAnInfraRetry) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().AllEnd(75);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(r.spent(), (Spent{.infra = 1, .streak = 1}));
  EXPECT_EQ(r.restart(), "infra");
}

TEST(ReconcileStage, AHostWithoutARunIsNotReportedAsALostRun) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Ready(2).HostRuns(0);
  r.HostLost(1, base::Error{.code = Code::kUnavailable, .message = "its chips are in use"});
  EXPECT_EQ(r.job().why, "host 1 could not start run: its chips are in use: stopping the others");
}

TEST(ReconcileStage, ALostHostUsesTheInfraBudget) {
  Reconciling r(JobBuilder().Retries({.infra = 1}).Build());
  const base::Error error{.code = Code::kUnavailable,
                          .message = "no answer from 198.51.0.2",
                          .reason = Reason::kHostTimeout};
  r.ToRunning().HostLost(1, error);
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  EXPECT_EQ(r.job().why, "host 1 was lost in run: no answer from 198.51.0.2: stopping the others");
  r.HostEnds(0, 143).HostEnds(2, 143).HostEnds(3, 143);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(r.job().spent.infra, 1);
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"))
      << "the next attempt would meet it again";
  r.Gone().After(minutes{10}).Answered().Ready().HostLost(0).AllEnd(143);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.As<Done>().error->hint,
            "retries.infra is used up: raise it, or jobman resume 000042");
}

TEST(ReconcileStage, ASliceIsKeptWhenNoHostAnswers) {
  Reconciling r(JobBuilder().Build());
  const base::Error error{.message = "no answer", .reason = Reason::kHostTimeout};
  r.ToRunning(2).HostLost(0, error).HostLost(1, error);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), IsEmpty()) << "it may be our own network";
}

TEST(ReconcileStage, SilenceOfAHostBeginsWithItsFirstFailedTry) {
  Reconciling r(JobBuilder().Build());
  const HostRun silent{.host = 1,
                       .phase = HostPhase::kRunning,
                       .error = base::Error{.message = "refused", .reason = Reason::kHostRefused}};
  r.ToRunning(2);
  const TimePoint first = r.clock.Now();
  r.See(HostReport{.attempt = 1, .stage = CommandStage{}, .run = silent}).After(seconds{9});
  r.See(HostReport{.attempt = 1, .stage = CommandStage{}, .run = silent});
  EXPECT_EQ(r.job().stage->hosts[1].silent_since, first);
  EXPECT_THAT(Explain(r.job(), r.clock.Now()).facts,
              testing::Contains(HasSubstr("no answer from host 1 (refused)")));
  r.HostRuns(1);
  EXPECT_FALSE(r.job().stage->hosts[1].silent_since);
}

TEST(ReconcileStage, ErrorsThatNeedUserActionEndAtOnce) {
  for (const Reason reason :
       {Reason::kHostKeyChanged, Reason::kKeyUnreadable, Reason::kDiskFull, Reason::kNotWritable}) {
    Reconciling r(JobBuilder().Build());
    r.ToRunning(1).HostLost(0, base::Error{.message = "broken", .reason = reason, .hint = "mend"});
    EXPECT_EQ(r.state(), "FAILED") << base::ReasonName(reason);
    EXPECT_EQ(r.As<Done>().error->reason, reason);
    EXPECT_EQ(r.As<Done>().error->hint, "mend");
    EXPECT_TRUE(r.job().slice) << "kept: the user may want to look at it";
  }
}

TEST(ReconcileStage, OptionalSetupStepMayFail) {
  Reconciling r(JobBuilder().With({.name = "cache", .required = false}).Build());
  r.Tick().Answered().Ready(2).HostEnds(0, 1);
  EXPECT_THAT(r.effects(), IsEmpty()) << "host 1 may still succeed";
  r.HostEnds(1, 0);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.effects(), ElementsAre("RunStage run of attempt 1"));
}

TEST(ReconcileStage, RequiredSetupStepMayNotFail) {
  Reconciling r(JobBuilder().Step("install").Build());
  r.Tick().Answered().Ready(1).HostEnds(0, 127);
  EXPECT_THAT(r.effects(), ElementsAre("StopStage setup-0 of attempt 1"));
  EXPECT_EQ(r.job().why,
            "host 0 ended setup-0-install with exit code 127: ending what it left behind");
  r.HostSettles(0);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.job().why, "host 0 ended setup-0-install with exit code 127");
  EXPECT_EQ(r.As<Done>().exit_code, 1) << "127 is not the command's";
}

TEST(ReconcileStage, AStepIsStoppedAtItsTimeLimit) {
  Reconciling r(JobBuilder().With({.name = "data", .timeout = seconds{7}}).Build());
  r.Tick().Answered().Ready(2).HostRuns(0);
  EXPECT_EQ(r.job().wake_at, r.clock.Now() + seconds{7}) << "before the next poll";
  EXPECT_THAT(r.After(seconds{6}).effects(), IsEmpty());
  EXPECT_THAT(r.After(seconds{1}).effects(), ElementsAre("StopStage setup-0 of attempt 1"));
  EXPECT_THAT(r.After(seconds{1}).effects(), IsEmpty());
  r.HostEnds(0, 143).HostEnds(1, 0);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.As<Done>().error->message, "setup-0-data passed its time limit");
  EXPECT_EQ(r.As<Done>().exit_code, 1);
}

TEST(ReconcileStage, AStepThatPassedItsLimitUsesTheFailureBudget) {
  Reconciling r(
      JobBuilder().With({.name = "data", .timeout = seconds{7}}).Retries({.failure = 1}).Build());
  r.Tick().Answered().Ready(1).After(seconds{8}).HostEnds(0, 143);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(r.job().spent.failure, 1);
}

TEST(ReconcileStage, AnOptionalStepThatPassedItsLimitIsSkipped) {
  Reconciling r(JobBuilder().With({.name = "c", .required = false, .timeout = seconds{7}}).Build());
  r.Tick().Answered().Ready(1).After(seconds{8}).HostEnds(0, 143);
  EXPECT_EQ(r.state(), "RUNNING");
}

TEST(ReconcileStage, TheCommandHasNoTimeLimit) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning();
  for (int day = 0; day < 60; ++day) {
    ASSERT_THAT(r.After(hours{24}).effects(), IsEmpty());
    ASSERT_EQ(r.state(), "RUNNING");
  }
}

TEST(ReconcileStage, RequeuesWhenPreemptedWhileRunning) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().Queued(QueuedState::kSuspended);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "DeleteSlice train-000042-a1"))
      << "the lost slice first";
  EXPECT_EQ(r.spent(), (Spent{.preemption = 1, .streak = 1}));
  r.Gone();
  EXPECT_EQ(r.state(), "REQUESTING") << "no wait after the first preemption";
  EXPECT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a2"));
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a2");
  EXPECT_EQ(r.restart(), "preempted");
}

TEST(ReconcileStage, EveryPreemptionOfARunningCommandIsRequestedAgainAtOnce) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning();
  for (int attempt = 2; attempt < 20; ++attempt) {
    r.Queued(QueuedState::kSuspended);
    EXPECT_TRUE(r.job().why.ends_with(": trying again")) << r.job().why;
    r.Gone();
    ASSERT_EQ(r.state(), "REQUESTING");
    r.Answered().Ready();
    ASSERT_EQ(r.state(), "RUNNING");
  }
}

TEST(ReconcileStage, ThePreemptionBudgetIsLimited) {
  Reconciling r(JobBuilder().Retries({.preemption = 0}).Build());
  r.ToRunning().Node(NodeState::kPreempted);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "DeleteSlice train-000042-a1"));
  EXPECT_THAT(r.As<Done>().error->hint, HasSubstr("retries.preemption is used up"));
  EXPECT_TRUE(r.job().wake_at) << "until the lost slice is deleted";
  r.Gone();
  EXPECT_FALSE(r.job().slice);
  EXPECT_FALSE(r.job().wake_at);
}

TEST(ReconcileStage, ASliceThatListingsOmitIsAskedForByName) {
  Reconciling r(JobBuilder().Direct().Build());
  EXPECT_THAT(r.ToRunning().Absent().effects(), IsEmpty());
  EXPECT_THAT(r.Ready().Absent().effects(), IsEmpty()) << "the count starts over";
  for (int listing = 0; listing < 10; ++listing) {
    EXPECT_THAT(r.Absent().effects(), ElementsAre("LookUpSlice train-000042-a1"));
    EXPECT_EQ(r.state(), "RUNNING") << "listings prove nothing";
  }
}

TEST(ReconcileStage, AListingOvertakesALookByName) {
  Reconciling r(JobBuilder().Direct().Build());
  r.ToRunning().Absent().Absent().Ready().NotFound();
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_FALSE(r.job().slice->not_found_since);
  SliceSeen late{.slice = "train-000042-a1", .began = r.clock.Now(), .by_name = true};
  r.clock.Advance(seconds{1});
  r.Ready(4, /*subnet=*/1);
  const core::Job before = r.job();
  late.nodes = {{.id = late.slice,
                 .uid = "uid-" + late.slice,
                 .state = core::NodeState::kReady,
                 .raw_state = "READY",
                 .hosts = test::Addresses(4)}};
  EXPECT_EQ(r.See(late).job().slice->hosts, before.slice->hosts) << "the machines before";
}

TEST(ReconcileStage, OtherMachinesInAListingAreAskedForByName) {
  Reconciling r(JobBuilder().Direct().Build());
  r.confirms = false;
  r.ToRunning();
  const auto machines = r.job().slice->hosts;
  EXPECT_THAT(r.Ready(4, /*subnet=*/1).effects(), ElementsAre("LookUpSlice train-000042-a1"));
  EXPECT_EQ(r.job().slice->hosts, machines);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.Ready().effects(), IsEmpty());
  r.confirms = true;
  r.Ready(4, /*subnet=*/1);
  EXPECT_NE(r.job().slice->hosts, machines);
  EXPECT_EQ(r.job().attempt, 2);
}

TEST(ReconcileStage, AnActiveQueuedResourceOvertakesALookByName) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered();
  r.clock.Advance(std::chrono::minutes{10});
  const SliceSeen asked{.slice = r.job().slice->ref.name, .began = r.clock.Now(), .by_name = true};
  r.clock.Advance(std::chrono::minutes{1});
  r.Queued(core::QueuedState::kProvisioning);
  r.clock.Advance(std::chrono::minutes{1});
  r.Queued(core::QueuedState::kActive);
  EXPECT_EQ(r.See(asked).state(), "PROVISIONING") << r.job().why;
  EXPECT_TRUE(r.job().slice);
}

TEST(ReconcileStage, AListingThatShowsItAsLostOvertakesALookByName) {
  Reconciling r(JobBuilder().Build());
  r.confirms = false;
  r.Tick().Answered().Absent().Queued(core::QueuedState::kSuspended);
  r.clock.Advance(seconds{10});
  const SliceSeen asked{.slice = r.job().slice->ref.name, .began = r.clock.Now(), .by_name = true};
  r.clock.Advance(seconds{10});
  r.Absent().Queued(core::QueuedState::kSuspended);
  EXPECT_EQ(r.See(asked).state(), "REQUESTING") << "what is lost is there";
}

const base::Error kNoRoute{.code = base::Code::kUnavailable,
                           .message = "no route to host",
                           .reason = base::Reason::kUnreachable};

TEST(ReconcileStage, ASliceIsLostWhenItIsNotFoundAndItsHostsAreSilent) {
  Reconciling r(JobBuilder().Direct().Build());
  r.ToRunning(2).Absent().Absent().NotFound();
  EXPECT_EQ(r.state(), "RUNNING") << "its hosts answer";
  EXPECT_THAT(r.effects(), IsEmpty());
  const auto silent = [&](int host) {
    r.See(core::HostReport{
        .attempt = 1,
        .stage = core::CommandStage{},
        .run = {.host = host, .phase = core::HostPhase::kRunning, .error = kNoRoute}});
  };
  silent(0);
  EXPECT_EQ(r.NotFound().state(), "RUNNING") << "one of them answers";
  silent(1);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.Absent().effects(), ElementsAre("LookUpSlice train-000042-a1")) << "asked again";
  EXPECT_EQ(r.NotFound().state(), "BACKOFF");
  EXPECT_EQ(r.job().spent.preemption, 1);
}

TEST(ReconcileStage, AListingOvertakesALookByNameAlsoWhenALaterOneOmitsTheSlice) {
  Reconciling r(JobBuilder().Direct().Build());
  r.ToRunning(1);
  r.See(core::HostReport{.attempt = 1,
                         .stage = core::CommandStage{},
                         .run = {.phase = core::HostPhase::kRunning, .error = kNoRoute}});
  r.Absent().Absent();
  const SliceSeen asked{.slice = r.job().slice->ref.name, .began = r.clock.Now(), .by_name = true};
  r.clock.Advance(seconds{15});
  r.Ready(1).Absent();
  r.clock.Advance(seconds{15});
  EXPECT_EQ(r.See(asked).state(), "RUNNING") << "asked before it was listed";
  EXPECT_EQ(r.Absent().NotFound().state(), "BACKOFF") << "asked after it was omitted";
}

TEST(ReconcileStage, HostsOfASliceThatIsNotFoundAreBelievedForAWhile) {
  Reconciling r(JobBuilder().Direct().Build());
  r.ToRunning().Absent().Absent().NotFound();
  ASSERT_TRUE(r.job().slice->not_found_since);
  r.clock.Advance(std::chrono::minutes{4});
  EXPECT_EQ(r.NotFound().state(), "RUNNING");
  EXPECT_FALSE(Reconciling(r).Ready().job().slice->not_found_since) << "it is there again";
  r.clock.Advance(std::chrono::minutes{2});
  EXPECT_EQ(r.Absent().state(), "RUNNING");
  EXPECT_EQ(r.NotFound().state(), "BACKOFF");
}

TEST(ReconcileStage, ListingsWithoutTheQueuedResourceProveNothing) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning();
  SliceSeen nodes{.slice = "train-000042-a1"};
  nodes.nodes = {{.id = nodes.slice,
                  .uid = "uid-" + nodes.slice,
                  .state = NodeState::kReady,
                  .raw_state = "READY",
                  .hosts = test::Addresses(4)}};
  r.See(nodes);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.Ready().See(nodes).state(), "RUNNING") << "the count starts over";
  r.See(nodes);
  EXPECT_EQ(r.state(), "RUNNING") << "two listings may both omit it";
  EXPECT_THAT(r.effects(), ElementsAre("LookUpSlice train-000042-a1"));
  SliceSeen by_name = nodes;
  by_name.by_name = true;
  r.See(by_name);
  EXPECT_EQ(r.state(), "RUNNING") << "its hosts answer";
  r.clock.Advance(minutes{4});
  EXPECT_EQ(r.See(nodes).See(by_name).state(), "RUNNING");
  r.clock.Advance(minutes{2});
  r.See(nodes).See(by_name);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), testing::Contains("DeleteSlice train-000042-a1"))
      << "the node holds quota";
  EXPECT_THAT(r.job().why, testing::HasSubstr("READY, without its queued resource"));
}

TEST(ReconcileStage, ASliceThatIsNotOursAnyMoreIsLeftUntouched) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().Foreign();
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "CreateSlice train-000042-a2"));
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a2");
}

TEST(ReconcileStage, UnclearStatesDoNotDisturbTheRun) {
  for (const NodeState state : {NodeState::kRepairing, NodeState::kUnknown, NodeState::kHidden,
                                NodeState::kRestarting, NodeState::kDeleting}) {
    Reconciling r(JobBuilder().Direct().Build());
    r.ToRunning().Node(state);
    EXPECT_EQ(r.state(), "RUNNING");
    EXPECT_THAT(r.effects(), IsEmpty());
    EXPECT_FALSE(r.job().slice->ready) << "an unreachable host is not the host's own fault";
    EXPECT_TRUE(r.Ready().job().slice->ready);
  }
}

TEST(ReconcileStage, MaintenanceWithNewAddressesStartsOverOnTheSameSlice) {
  Reconciling r(JobBuilder().Step("install").Build());
  r.ToRunning().Maintained();
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_FALSE(r.job().slice->ready);
  EXPECT_EQ(r.job().slice->cloud_state, "READY, UNHEALTHY_MAINTENANCE");
  r.Ready(4, /*subnet=*/1);
  EXPECT_EQ(r.state(), "SETUP");
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "RunStage setup-0 of attempt 2"));
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a1");
  EXPECT_EQ(r.job().slice->generation, 1);
  EXPECT_EQ(r.job().slice->hosts, test::Addresses(4, 1));
  EXPECT_EQ(r.job().attempt, 2);
  EXPECT_EQ(r.restart(), "maintenance");
  EXPECT_EQ(r.job().spent, Spent{}) << "it uses no budget";
}

TEST(ReconcileStage, NewAddressesBeforeTheStartAreSimplyUsed) {
  Reconciling r(JobBuilder().Retries({.failure = 1}).Build());
  r.ToRunning().AllEnd(1).After(minutes{1});
  ASSERT_EQ(r.state(), "PROVISIONING");
  r.Ready(4, /*subnet=*/1);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.effects(), ElementsAre("RunStage run of attempt 2"));
  EXPECT_EQ(r.job().attempt, 2);
}

TEST(ReconcileStage, ARepeatedObservationChangesNothing) {
  Reconciling r(JobBuilder().Step("install").Build());
  r.ToRunning().Queued(QueuedState::kSuspended);
  const Job once = r.job();
  r.Queued(QueuedState::kSuspended);
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.job(), once);
  EXPECT_FALSE(r.changed());
}

TEST(ReconcileStage, AHostThatWasReplacedNeedsNoStopAnyMore) {
  Reconciling r(JobBuilder().Retries({.failure = 1}).Build());
  Job job = r.ToRunning().AllEnd(1).job();
  ASSERT_EQ(StateName(job.state), "BACKOFF");
  job.slice->unstopped = {0, 3};
  Reconciling same(job);
  same.Tick().Ready(4);
  EXPECT_EQ(same.job().slice->unstopped, (std::vector<int>{0, 3}));
  Reconciling replaced(job);
  replaced.Tick().Ready(4, /*subnet=*/1);
  EXPECT_TRUE(replaced.job().slice->unstopped.empty());
  job.slice->hosts[3].internal = "10.9.9.9";
  Reconciling one_replaced(job);
  one_replaced.Tick().Ready(4);
  EXPECT_EQ(one_replaced.job().slice->unstopped, std::vector<int>{0});
}

}  // namespace
}  // namespace jobman::core

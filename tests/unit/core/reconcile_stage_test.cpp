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
  EXPECT_EQ(r.job().why, "run ended with exit code 3 on host 2: stopping the others");
  EXPECT_THAT(r.HostEnds(0, 143).effects(), IsEmpty()) << "decided once";
}

TEST(ReconcileStage, TheJobHasTheExitCodeOfTheFirstFailure) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostEnds(2, 3).HostEnds(0, 143).HostEnds(1, 143).HostEnds(3, 137);
  EXPECT_EQ(r.state(), "RUNNING") << "host 2 may have leftovers of its command";
  r.HostSettles(2);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.As<Done>().exit_code, 3);
  EXPECT_EQ(r.As<Done>().error->message, "run ended with exit code 3 on host 2");
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

/// Who sees the job run for minutes learns that it does not, what follows, and when.
TEST(ReconcileStage, AHostThatStaysSilentIsNamedOnce) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning(3);
  const auto fail = [&](int host) {
    r.See(HostReport{
        .attempt = 1,
        .stage = CommandStage{},
        .run = {.host = host,
                .phase = HostPhase::kRunning,
                .error = base::Error{.message = "refused", .reason = Reason::kHostRefused}}});
  };
  const std::string running = r.job().why;
  fail(1);
  r.After(seconds{20});
  fail(1);
  EXPECT_EQ(r.job().why, running) << "a broken connection is not worth a word";
  r.After(seconds{20});
  fail(1);
  const std::string said =
      "no answer from host 1: it is given up after 5m (or the controller's --host-limit), and the "
      "others are stopped";
  EXPECT_EQ(r.job().why, said);
  EXPECT_THAT(Explain(r.job(), r.clock.Now()).facts,
              testing::Contains("no answer from host 1 for 40s so far; given up after 5m (or "
                                "the controller's --host-limit)"));
  fail(0);
  r.After(seconds{40});
  fail(0);
  EXPECT_EQ(r.job().why, said) << "said of one host";
  r.HostRuns(1);
  EXPECT_EQ(r.job().why, said) << "host 0 is silent still";
  r.HostRuns(0);
  EXPECT_EQ(r.job().why, "every host answers again");
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
            "setup-0-install ended with exit code 127 on host 0: ending what it left behind");
  r.HostSettles(0);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.job().why, "setup-0-install ended with exit code 127 on host 0");
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

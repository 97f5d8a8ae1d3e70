// Notices of maintenance and preemption.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/core/describe.hpp"
#include "jobman/core/explain.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using test::JobBuilder;
using test::Reconciling;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Notice kPending{.text = "SCHEDULED, PENDING, from 2026-11-28T00:00:00Z"};
const Notice kOngoing{.imminent = true, .text = "SCHEDULED, ONGOING"};
const Notice kMaintenance{.imminent = true, .text = "TERMINATE_ON_HOST_MAINTENANCE"};
const Notice kPreempted{.kind = Notice::Kind::kPreemption, .imminent = true, .text = "TRUE"};

Job WithSignal(const std::string& signal) {
  Job job = JobBuilder().Build();
  job.spec.command.on_notice.signal = signal;
  return job;
}

TEST(ReconcileNotice, PendingMaintenanceIsOnlyTold) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().Announced(kPending);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.effects(), ElementsAre("PassNotice maintenance to attempt 1, signal none"));
  EXPECT_FALSE(r.job().stage->told) << "no signal";
  EXPECT_THAT(r.job().why, HasSubstr("announces maintenance of slice train-000042-a1: SCHEDULED"));
  EXPECT_THAT(Explain(r.job(), r.clock.Now()).facts,
              Contains("the cloud announces maintenance: " + kPending.text));
  EXPECT_THAT(r.Announced(kPending).effects(), IsEmpty());
  EXPECT_FALSE(r.changed());
  r.AllEnd(1);
  EXPECT_EQ(r.state(), "FAILED") << "it failed by itself";
}

TEST(ReconcileNotice, AnEarlierNoticeIsToldToTheNextCommand) {
  Reconciling r(JobBuilder().Step("install").Build());
  r.Tick().Answered().Announced(kPending);
  EXPECT_THAT(r.effects(), ElementsAre("RunStage setup-0 of attempt 1"))
      << "a setup step is not told";
  r.AllEnd();
  EXPECT_THAT(r.effects(), ElementsAre("RunStage run of attempt 1",
                                       "PassNotice maintenance to attempt 1, signal none"));
}

TEST(ReconcileNotice, AnImminentNoticeInAListingIsAskedForByName) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning();
  r.confirms = false;
  EXPECT_THAT(r.Announced(kOngoing).effects(), ElementsAre("LookUpSlice train-000042-a1"));
  EXPECT_FALSE(r.job().slice->notice);
  r.confirms = true;
  EXPECT_THAT(r.Announced(kOngoing).effects(),
              ElementsAre("PassNotice imminent maintenance to attempt 1, signal TERM"));
}

TEST(ReconcileNotice, AWithdrawnNoticeIsForgotten) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().Announced(kPending).Announced({});
  EXPECT_FALSE(r.job().slice->notice);
  EXPECT_THAT(r.effects(), IsEmpty());
}

TEST(ReconcileNotice, APendingNoticeOfAHostIsOnlyTold) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostNotices(2, kPending);
  EXPECT_THAT(r.effects(), ElementsAre("PassNotice maintenance to attempt 1, signal none"));
  EXPECT_EQ(r.The<PassNotice>().notice, kPending);
  EXPECT_FALSE(r.job().stage->told);
}

TEST(ReconcileNotice, APendingNoticeIsNotSignalledAgain) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostNotices(2, kPreempted).Announced(kPending);
  EXPECT_THAT(r.effects(), ElementsAre("PassNotice maintenance to attempt 1, signal none"));
}

TEST(ReconcileNotice, AnImminentNoticeIsSignalledOnceOnAllHosts) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostNotices(2, kMaintenance);
  EXPECT_THAT(r.effects(),
              ElementsAre("PassNotice imminent maintenance to attempt 1, signal TERM"));
  EXPECT_EQ(r.job().stage->told->notice, kMaintenance);
  EXPECT_EQ(r.job().why,
            "notice of maintenance (TERMINATE_ON_HOST_MAINTENANCE): the command is sent TERM");
  EXPECT_THAT(r.HostNotices(2, kMaintenance).effects(), IsEmpty());
  EXPECT_THAT(r.HostNotices(0, kMaintenance).effects(), IsEmpty());
  EXPECT_THAT(r.Announced(kOngoing).effects(), IsEmpty());
}

TEST(ReconcileNotice, OngoingMaintenanceOfTheNodeIsImminent) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().Announced(kPending).Announced(kOngoing);
  EXPECT_THAT(r.effects(),
              ElementsAre("PassNotice imminent maintenance to attempt 1, signal TERM"));
  EXPECT_EQ(r.job().stage->told->notice, kOngoing);
}

TEST(ReconcileNotice, AFailureAfterANoticeOfPreemptionIsAPreemption) {
  for (const int code : {1, 75, 143}) {
    Reconciling r(JobBuilder().Build());
    r.ToRunning().HostNotices(0, kPreempted).AllEnd(code);
    EXPECT_EQ(r.state(), "BACKOFF");
    EXPECT_EQ(r.spent(), (Spent{.preemption = 1, .streak = 1})) << code;
    EXPECT_EQ(r.restart(), "preempted");
    EXPECT_THAT(r.effects(), Contains("DeleteSlice train-000042-a1"))
        << "the machines are about to go";
    EXPECT_THAT(r.job().why, HasSubstr("after notice of preemption (TRUE)"));
    EXPECT_EQ(r.Gone().state(), "REQUESTING") << "at once";
  }
}

TEST(ReconcileNotice, ALostHostAfterANoticeIsAPreemption) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning(1).HostNotices(0, kPreempted).HostLost(0);
  EXPECT_EQ(r.spent(), (Spent{.preemption = 1, .streak = 1}));
}

TEST(ReconcileNotice, ANoticeThatComesWithTheEndCountsToo) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostEnds(1, 1);
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  EXPECT_THAT(r.HostNotices(1, kPreempted).effects(), IsEmpty()) << "it is being stopped";
  r.AllEnd(143).HostSettles(1);
  EXPECT_EQ(r.spent(), (Spent{.preemption = 1, .streak = 1}));
}

TEST(ReconcileNotice, ANoticeWithTheLastEndIsNotTold) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning(1).See(HostReport{
      .attempt = 1,
      .stage = CommandStage{},
      .run = {.host = 0, .phase = HostPhase::kExited, .exit_code = 0, .notice = kPreempted}});
  EXPECT_EQ(r.state(), "SUCCEEDED");
  EXPECT_THAT(r.effects(), IsEmpty());
}

TEST(ReconcileNotice, SuccessAfterANoticeIsSuccess) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostNotices(0, kPreempted).AllEnd(0);
  EXPECT_EQ(r.state(), "SUCCEEDED");
}

TEST(ReconcileNotice, APreemptionNoticeUsesThePreemptionBudget) {
  Reconciling r(JobBuilder().Retries({.preemption = 0}).Build());
  r.ToRunning().HostNotices(0, kPreempted).AllEnd(143);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_THAT(r.As<Done>().error->hint, HasSubstr("retries.preemption is used up"));
}

TEST(ReconcileNotice, AfterANoticeOfMaintenanceTheSliceIsKeptAndAwaited) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostNotices(0, kMaintenance).AllEnd(143);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.restart(), "maintenance");
  EXPECT_EQ(r.spent(), (Spent{.preemption = 1, .streak = 1}));
  EXPECT_EQ(Explain(r.job(), r.clock.Now()).waits_for, "the maintenance, at most 2m");
  EXPECT_EQ(r.After(seconds{30}).state(), "BACKOFF") << "its machines are about to go";
  EXPECT_EQ(r.Maintained().state(), "BACKOFF");
  r.Ready(4, /*subnet=*/1);
  EXPECT_EQ(r.state(), "RUNNING") << "the machines are back";
  EXPECT_EQ(r.job().attempt, 2);
}

TEST(ReconcileNotice, MaintenanceThatDoesNotComeIsAwaitedBriefly) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().Announced(kOngoing).AllEnd(143);
  EXPECT_EQ(r.After(minutes{2}).state(), "PROVISIONING");
  r.Announced(kOngoing);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.effects(),
              ElementsAre("RunStage run of attempt 2",
                          "PassNotice imminent maintenance to attempt 2, signal none"));
  EXPECT_FALSE(r.job().stage->told) << "told, but not signalled a second time";
}

TEST(ReconcileNotice, MaintenanceThatTakesTheSliceUsesTheBudgetOnce) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostNotices(0, kMaintenance).AllEnd(143).Node(NodeState::kTerminated);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"))
      << "without waiting for the two minutes";
  r.Gone();
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_EQ(r.job().spent.preemption, 1);
  EXPECT_EQ(r.restart(), "preempted");
}

TEST(ReconcileNotice, APreemptionNoticeOutranksMaintenance) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostNotices(0, kMaintenance).HostNotices(1, kPreempted).AllEnd(143);
  EXPECT_EQ(r.restart(), "preempted");
}

TEST(ReconcileNotice, TheGraceEndsWithAStop) {
  Reconciling r(WithSignal("USR1"));
  r.ToRunning().HostNotices(0, kPreempted);
  EXPECT_EQ(r.job().wake_at, r.clock.Now() + seconds{15});
  EXPECT_THAT(r.After(seconds{29}).effects(), IsEmpty());
  EXPECT_EQ(r.job().wake_at, r.clock.Now() + seconds{1});
  EXPECT_THAT(r.After(seconds{1}).effects(), ElementsAre("StopStage run of attempt 1"));
  EXPECT_EQ(r.job().why, "the command goes on 30s after the notice of preemption: stopping it");
  EXPECT_THAT(r.After(seconds{1}).effects(), IsEmpty());
  r.AllEnd(143);
  EXPECT_EQ(r.job().spent.preemption, 1);
}

TEST(ReconcileNotice, AHostThatEndsEarlyLeavesTheOthersTheirGrace) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostNotices(1, kPreempted);
  EXPECT_THAT(r.HostEnds(2, 75).effects(), IsEmpty());
  EXPECT_THAT(r.HostEnds(1, 143).effects(), IsEmpty());
  EXPECT_THAT(r.After(seconds{29}).HostEnds(0, 143).effects(), IsEmpty());
  EXPECT_THAT(r.HostEnds(3, 1).effects(), ElementsAre("StopStage run of attempt 1"))
      << "leftovers are stopped";
  r.AllEnd();
  EXPECT_THAT(r.job().why, HasSubstr("run ended with exit code 75 on host 2, after notice"))
      << "first";
  EXPECT_EQ(r.spent(), (Spent{.preemption = 1, .streak = 1}));
}

TEST(ReconcileNotice, AHostThatEndsEarlyWaitsNoLongerThanTheGrace) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostNotices(1, kPreempted).HostEnds(1, 75);
  EXPECT_THAT(r.After(seconds{30}).effects(), ElementsAre("StopStage run of attempt 1"));
}

TEST(ReconcileNotice, AHostThatIsLostDuringTheGraceIsNotAwaitedAgain) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning(2).HostNotices(0, kPreempted).HostEnds(0, 75).HostLost(0);
  EXPECT_THAT(r.HostEnds(1, 143).effects(), ElementsAre("StopStage run of attempt 1"));
  r.HostSettles(1);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.job().why, HasSubstr("run ended with exit code 75 on host 0"));
}

TEST(ReconcileNotice, AFailureBeforeTheNoticeStopsTheOthers) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().Announced(kPending).HostEnds(1, 1);
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"))
      << "host 0 was not told to end";
}

TEST(ReconcileNotice, LostMachinesAreNotStopped) {
  Reconciling r(JobBuilder().Build());
  const HostRun silent{
      .host = 1,
      .phase = HostPhase::kRunning,
      .error = base::Error{.message = "refused", .reason = base::Reason::kHostRefused}};
  r.ToRunning()
      .See(HostReport{.attempt = 1, .stage = CommandStage{}, .run = silent})
      .Announced(kOngoing);
  EXPECT_THAT(r.After(minutes{9}).effects(), IsEmpty());
  EXPECT_EQ(r.state(), "RUNNING");
  r.Ready(4, /*subnet=*/1);
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "RunStage run of attempt 2"));
  EXPECT_EQ(r.job().spent, Spent{}) << "maintenance costs nothing";
}

TEST(ReconcileNotice, WithoutASignalThereIsNoGrace) {
  Reconciling r(WithSignal("none"));
  r.ToRunning().HostNotices(0, kPreempted);
  EXPECT_THAT(r.job().why, HasSubstr("the command is told"));
  EXPECT_THAT(r.After(minutes{9}).effects(), IsEmpty());
  EXPECT_THAT(r.HostEnds(0, 75).effects(), ElementsAre("StopStage run of attempt 1"));
}

TEST(ReconcileNotice, ANewControllerPassesTheNoticeOn) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning();
  const auto names = [&] {
    std::vector<std::string> all;
    for (const Effect& effect : ImpliedEffects(r.job())) all.push_back(Describe(effect));
    return all;
  };
  EXPECT_THAT(names(), ElementsAre("RunStage run of attempt 1"));
  r.HostNotices(0, kPreempted);
  EXPECT_THAT(names(), ElementsAre("RunStage run of attempt 1",
                                   "PassNotice imminent preemption to attempt 1, signal TERM"));
}

}  // namespace
}  // namespace jobman::core

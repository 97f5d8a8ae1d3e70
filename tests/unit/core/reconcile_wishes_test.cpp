// The user's wishes: cancel, resume, reboot, requeue, delete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using base::Code;
using std::chrono::minutes;
using std::chrono::seconds;
using test::JobBuilder;
using test::Reconciling;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ReconcileWishes, CancelKeepsTheSlice) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kCancel);
  EXPECT_EQ(r.state(), "CANCELLING");
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  EXPECT_THAT(r.job().why, HasSubstr("TERM, at most 30s of grace, KILL"));
  r.AllEnd(143);
  EXPECT_EQ(r.state(), "CANCELLED");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kCreated);
  EXPECT_EQ(r.job().why, "cancelled by the user; slice train-000042-a1 is kept");
}

TEST(ReconcileWishes, CancelWaitsForEveryHost) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning(2).WishFor(Wish::kCancel).HostEnds(0, 143);
  EXPECT_EQ(r.state(), "CANCELLING");
  EXPECT_THAT(r.After(seconds{15}).effects(), IsEmpty()) << "stopping was decided once";
  r.HostLost(1);
  EXPECT_EQ(r.state(), "CANCELLED");
}

TEST(ReconcileWishes, CancelNamesTheHostThatDidNotAnswer) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning(2).WishFor(Wish::kCancel).HostEnds(0, 143);
  r.HostLost(1, base::Error{.message = "refused", .reason = base::Reason::kHostRefused});
  EXPECT_EQ(r.state(), "CANCELLED");
  EXPECT_EQ(r.job().why,
            "cancelled by the user; slice train-000042-a1 is kept; host 1 did not answer");
}

/// The command ended there, but what it left behind may run on and hold the chips.
TEST(ReconcileWishes, CancelNamesTheHostThatHadEndedAndDidNotAnswer) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning(2).HostEnds(0, 0).WishFor(Wish::kCancel).HostEnds(1, 143);
  const base::Error silent{.message = "silent", .reason = base::Reason::kHostHangs};
  r.See(core::HostReport{
      .attempt = 1,
      .stage = core::CommandStage{},
      .run = {.host = 0, .phase = core::HostPhase::kExited, .error = silent, .settled = true}});
  EXPECT_EQ(r.job().why,
            "cancelled by the user; slice train-000042-a1 is kept; host 0 did not answer");
}

TEST(ReconcileWishes, CancelNamesAHostThatRefusesTheLoginOnlyIfItHadStarted) {
  const base::Error refused{.code = Code::kUnauthenticated,
                            .message = "login as ann refused",
                            .reason = base::Reason::kHostAuth};
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Ready(2).HostRuns(1).WishFor(Wish::kCancel);
  r.HostLost(0, refused).HostLost(1, refused);
  EXPECT_EQ(r.state(), "CANCELLED");
  EXPECT_THAT(r.job().why, HasSubstr("; host 1 did not answer"));
  EXPECT_EQ(r.job().slice->unstopped, std::vector<int>{1});
}

TEST(ReconcileWishes, AWishThatIsRepeatedDoesNotBeginTheStopAnew) {
  for (const auto& [first, again] :
       {std::pair{Wish::kDelete, Wish::kDelete}, std::pair{Wish::kCancel, Wish::kCancel},
        std::pair{Wish::kReboot, Wish::kCancel}}) {
    Reconciling r(JobBuilder().Build());
    r.ToRunning().WishFor(first);
    const TimePoint since = r.job().since;
    const std::string why = r.job().why;
    r.clock.Advance(seconds{20});
    r.WishFor(again);
    EXPECT_EQ(r.job().since, since);
    EXPECT_EQ(r.job().why, why);
    EXPECT_THAT(r.effects(), IsEmpty());
  }
}

TEST(ReconcileWishes, CancelStopsHostsThatHaveEndedToo) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning(2).HostEnds(0, 0).WishFor(Wish::kCancel).HostEnds(1, 143);
  EXPECT_EQ(r.state(), "CANCELLING") << "a child may have outlived the command on host 0";
  r.HostSettles(0);
  EXPECT_EQ(r.state(), "CANCELLED");
}

TEST(ReconcileWishes, CancelInTheQueueDeletesTheRequest) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Queued(QueuedState::kWaitingForResources).WishFor(Wish::kCancel);
  EXPECT_EQ(r.state(), "CANCELLING");
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  r.Absent().Absent().Absent();
  EXPECT_EQ(r.state(), "CANCELLING") << "listings prove nothing";
  EXPECT_THAT(r.effects(), ElementsAre("LookUpSlice train-000042-a1"));
  r.NotFound();
  EXPECT_EQ(r.state(), "CANCELLED");
  EXPECT_FALSE(r.job().slice);
}

TEST(ReconcileWishes, CancelBeforeTheAnswerWaitsForTheAnswer) {
  // A delete could overtake the create, whose slice would then be left over.
  Reconciling r(JobBuilder().Build());
  r.Tick().WishFor(Wish::kCancel);
  EXPECT_EQ(r.state(), "CANCELLING");
  EXPECT_THAT(r.effects(), IsEmpty());
  r.Answered();
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  EXPECT_THAT(r.Gone().job().slice->phase, SlicePhase::kDeleting)
      << "not found, but never seen: it may be too new to be shown";
  r.Queued(QueuedState::kAccepted).Gone();
  EXPECT_EQ(r.state(), "CANCELLED");
}

TEST(ReconcileWishes, CancelOfARefusedRequestIsDone) {
  Reconciling r(JobBuilder().Build());
  r.Tick().WishFor(Wish::kCancel).Refused({.code = Code::kInvalidArgument, .message = "no"});
  EXPECT_EQ(r.state(), "CANCELLED");
  EXPECT_FALSE(r.job().slice);
}

TEST(ReconcileWishes, ARefusalDuringARebootDoesNotCountForTheNextRequest) {
  Reconciling r(JobBuilder().Build());
  r.Tick().WishFor(Wish::kReboot).Refused({.code = Code::kInvalidArgument, .message = "no"});
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a2"));
  ASSERT_TRUE(r.job().slice);
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a2");
}

TEST(ReconcileWishes, CancelOfAnUnansweredRequestNeverDeletesAForeignSlice) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Refused({.code = Code::kAlreadyExists, .message = "exists"}).WishFor(Wish::kCancel);
  EXPECT_THAT(r.effects(), IsEmpty());
  r.Foreign();
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.state(), "CANCELLED");
}

TEST(ReconcileWishes, ARequestThatNeverArrivedIsForgottenAfterAWhile) {
  Reconciling r(JobBuilder().Build());
  r.Tick().WishFor(Wish::kDelete).Absent().Absent().Absent();
  EXPECT_EQ(r.state(), "DELETING") << "the request may still arrive";
  EXPECT_THAT(r.effects(), IsEmpty());
  r.clock.Advance(seconds{60});
  EXPECT_THAT(r.Absent().effects(), ElementsAre("LookUpSlice train-000042-a1"));
  EXPECT_EQ(r.state(), "DELETING");
  EXPECT_EQ(r.NotFound().state(), "DELETED");
}

TEST(ReconcileWishes, TheSliceOfAnAbandonedRequestIsWatchedFor) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Refused({.code = Code::kUnavailable, .message = "no answer"});
  r.WishFor(Wish::kCancel);
  const auto see = [&](std::vector<NodeSeen> nodes) {
    r.See(SliceSeen{.slice = "train-000042-a1", .began = r.clock.Now(), .nodes = std::move(nodes)});
  };
  see({});
  r.clock.Advance(seconds{61});
  see({});
  r.NotFound();
  ASSERT_EQ(r.state(), "CANCELLED");
  ASSERT_FALSE(r.job().slice);
  ASSERT_EQ(r.job().abandoned.size(), 1u);
  EXPECT_EQ(r.job().abandoned[0].ref.name, "train-000042-a1");
  EXPECT_TRUE(NeedsCare(r.job()));
  r.After(minutes{9});
  see({});
  EXPECT_TRUE(NeedsCare(r.job())) << "the slice may still appear";
  r.After(minutes{2});
  EXPECT_TRUE(NeedsCare(r.job())) << "there was no look since";
  see({NodeSeen{.id = "train-000042-a1"}});
  EXPECT_TRUE(NeedsCare(r.job())) << "the slice appeared, and must be deleted";
  see({});
  EXPECT_FALSE(NeedsCare(r.job()));
  EXPECT_EQ(r.state(), "CANCELLED");
}

TEST(ReconcileWishes, CancelOfAPreemptedSliceDeletesIt) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kCancel).Queued(QueuedState::kSuspended);
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "DeleteSlice train-000042-a1"));
  EXPECT_EQ(r.Gone().state(), "CANCELLED");
}

TEST(ReconcileWishes, CancelDoesNotWaitForMachinesThatWereReplaced) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kCancel).Ready(4, /*subnet=*/1);
  EXPECT_THAT(r.effects(), ElementsAre("AbandonStage run of attempt 1"));
  EXPECT_EQ(r.state(), "CANCELLED");
}

TEST(ReconcileWishes, CancelDuringBackoffEndsTheWaiting) {
  Reconciling r(JobBuilder().Retries({.failure = 5}).Build());
  r.ToRunning().AllEnd(1).WishFor(Wish::kCancel);
  EXPECT_EQ(r.state(), "CANCELLED");
  EXPECT_TRUE(r.job().slice) << "the slice is fine";
}

TEST(ReconcileWishes, CancelOfAFinishedJobChangesNothing) {
  Reconciling r(JobBuilder().Build());
  r.ToDone().WishFor(Wish::kCancel);
  EXPECT_EQ(r.state(), "SUCCEEDED");
  EXPECT_THAT(r.effects(), IsEmpty());
}

TEST(ReconcileWishes, ResumeUsesTheHeldSlice) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kCancel).AllEnd(143).WishFor(Wish::kRun);
  EXPECT_EQ(r.state(), "PROVISIONING");
  EXPECT_THAT(r.effects(), IsEmpty()) << "no new request";
  r.Ready();
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.effects(), ElementsAre("RunStage run of attempt 2"));
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a1");
  EXPECT_EQ(r.job().attempt, 2);
  EXPECT_EQ(r.restart(), "resumed");
}

TEST(ReconcileWishes, ResumeWithoutASliceRequestsOne) {
  Reconciling r(JobBuilder().Retries({.preemption = 0}).Build());
  r.ToRunning().Queued(QueuedState::kSuspended).Gone();
  ASSERT_EQ(r.state(), "FAILED");
  r.WishFor(Wish::kRun);
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a2"));
  EXPECT_EQ(r.job().spent, Spent{}) << "the budgets are reset";
}

TEST(ReconcileWishes, ResumeWaitsUntilTheOldSliceIsDeleted) {
  Reconciling r(JobBuilder().Retries({.preemption = 0}).Build());
  r.ToRunning().Queued(QueuedState::kSuspended).WishFor(Wish::kRun);
  EXPECT_EQ(r.state(), "QUEUED");
  EXPECT_EQ(r.job().why, "waiting until slice train-000042-a1 is deleted");
  r.Gone();
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_EQ(r.job().attempt, 2);
}

TEST(ReconcileWishes, ResumeRequestsANewSliceWhenTheHeldOneIsLost) {
  Reconciling r(JobBuilder().Build());
  r.ToDone().Absent().Absent();
  EXPECT_THAT(r.effects(), ElementsAre("LookUpSlice train-000042-a1"));
  EXPECT_TRUE(r.job().slice);
  r.NotFound();
  EXPECT_EQ(r.state(), "SUCCEEDED");
  EXPECT_FALSE(r.job().slice);
  EXPECT_THAT(r.WishFor(Wish::kRun).effects(), ElementsAre("CreateSlice train-000042-a2"));
}

TEST(ReconcileWishes, RunWhileItRunsChangesNothing) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning();
  const Job before = r.job();
  r.WishFor(Wish::kRun);
  EXPECT_EQ(r.job(), before);
}

TEST(ReconcileWishes, RunWhileItIsBeingCancelledStartsItAgain) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kCancel).WishFor(Wish::kRun);
  EXPECT_EQ(r.state(), "CANCELLING");
  r.AllEnd(143);
  EXPECT_EQ(r.state(), "PROVISIONING");
}

TEST(ReconcileWishes, RebootRunsAgainOnTheSameSlice) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kReboot);
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  r.AllEnd(143);
  EXPECT_EQ(r.state(), "PROVISIONING");
  r.Ready();
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a1");
  EXPECT_EQ(r.restart(), "rebooted");
  EXPECT_EQ(r.job().wish, Wish::kRun);
}

TEST(ReconcileWishes, RequeueTakesANewSlice) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kRequeue).AllEnd(143);
  EXPECT_EQ(r.state(), "CANCELLING");
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  r.Gone();
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a2"));
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a2");
}

TEST(ReconcileWishes, ADeleteThatIsRefusedIsRepeatedWithGrowingPauses) {
  Reconciling r(JobBuilder().Build());
  r.ToDone().WishFor(Wish::kDelete);
  std::vector<std::int64_t> pauses;
  std::int64_t pause = 0;
  r.DeleteRefused({.code = Code::kPermissionDenied, .message = "no"});
  for (int tick = 0; tick < 400; ++tick) {
    pause += 15;
    r.After(seconds{15});
    if (r.effects().empty()) continue;
    ASSERT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
    r.DeleteRefused({.code = Code::kPermissionDenied, .message = "no"});
    pauses.push_back(std::exchange(pause, 0));
  }
  ASSERT_GE(pauses.size(), 8U);
  pauses.resize(7);
  EXPECT_THAT(pauses, ElementsAre(60, 120, 240, 480, 600, 600, 600));
  EXPECT_EQ(r.state(), "DELETING");
  r.After(minutes{10}).DeleteAccepted();
  EXPECT_FALSE(r.job().slice->delete_refused);
  EXPECT_EQ(r.job().why, "waiting until slice train-000042-a1 is deleted");
}

TEST(ReconcileWishes, ASliceThatAListShowedAsLostIsNotForgottenOnAnOlderAnswer) {
  Reconciling r(JobBuilder().Direct().Build());
  r.confirms = false;
  r.Tick().WishFor(Wish::kDelete);  // the create is not answered
  r.clock.Advance(minutes{30});
  const core::SliceSeen asked{
      .slice = r.job().slice->ref.name, .began = r.clock.Now(), .by_name = true};
  r.clock.Advance(seconds{10});
  r.Absent().Absent().Node(core::NodeState::kPreempted);
  EXPECT_THAT(r.effects(), ElementsAre("LookUpSlice train-000042-a1"));
  r.clock.Advance(seconds{10});
  EXPECT_EQ(r.See(asked).state(), "DELETING") << r.job().why;
  EXPECT_TRUE(r.job().slice) << "the request arrived: it must be given back";
}

TEST(ReconcileWishes, DeleteEndsDeleted) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kDelete);
  EXPECT_EQ(r.state(), "DELETING");
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"))
      << "the command gets its grace";
  r.AllEnd(143);
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  r.Absent().Absent();
  EXPECT_EQ(r.state(), "DELETING") << "listings prove nothing";
  r.NotFound();
  EXPECT_EQ(r.state(), "DELETED");
  EXPECT_FALSE(NeedsCare(r.job()));
  EXPECT_FALSE(r.job().wake_at);
}

/// The hosts may refuse the login, or be unreachable: what the cloud takes back depends on none.
TEST(ReconcileWishes, ASliceOnWhichNothingWasStartedIsGivenBackAtOnce) {
  for (const Wish wish : {Wish::kDelete, Wish::kRequeue}) {
    Reconciling r(JobBuilder().Build());
    r.Tick().Answered().Ready(2).WishFor(wish);
    EXPECT_THAT(r.effects(),
                ElementsAre("AbandonStage run of attempt 1", "DeleteSlice train-000042-a1"));
  }
  Reconciling started(JobBuilder().Build());
  started.Tick().Answered().Ready(2).HostRuns(1).WishFor(Wish::kDelete);
  EXPECT_THAT(started.effects(), ElementsAre("StopStage run of attempt 1"));
  Reconciling kept(JobBuilder().Build());
  kept.Tick().Answered().Ready(2).WishFor(Wish::kCancel);
  EXPECT_THAT(kept.effects(), ElementsAre("StopStage run of attempt 1"));
}

TEST(ReconcileWishes, DeleteOfAFinishedJobDeletesItsSlice) {
  Reconciling r(JobBuilder().Build());
  r.ToDone().WishFor(Wish::kDelete);
  EXPECT_EQ(r.state(), "DELETING");
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  EXPECT_EQ(r.Gone().state(), "DELETED");
}

TEST(ReconcileWishes, DeleteOfADeletedJobChangesNothing) {
  Reconciling r(JobBuilder().Build());
  r.ToDone().WishFor(Wish::kDelete).Gone();
  const Job before = r.job();
  r.WishFor(Wish::kDelete);
  EXPECT_EQ(r.job(), before);
}

TEST(ReconcileWishes, ADeleteWithoutEffectIsRepeated) {
  Reconciling r(JobBuilder().Build());
  r.ToDone().WishFor(Wish::kDelete);
  r.See(DeleteAnswered{.slice = "train-000042-a1",
                       .error = base::Error{.code = Code::kUnavailable, .message = "503"}});
  EXPECT_EQ(r.state(), "DELETING");
  EXPECT_THAT(r.After(seconds{29}).effects(), IsEmpty());
  EXPECT_THAT(r.After(seconds{1}).effects(), ElementsAre("DeleteSlice train-000042-a1"));
}

TEST(ReconcileWishes, ADeleteDoesNotHitANewOwnerOfTheName) {
  Reconciling r(JobBuilder().Build());
  r.ToDone().WishFor(Wish::kDelete);
  r.clock.Advance(minutes{1});
  r.Foreign();
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.state(), "DELETED");
}

TEST(ReconcileWishes, AHeldSliceThatIsPreemptedIsDeleted) {
  Reconciling r(JobBuilder().Build());
  r.ToDone().Node(NodeState::kPreempted);
  EXPECT_EQ(r.state(), "SUCCEEDED");
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  r.Gone();
  EXPECT_FALSE(r.job().slice);
  EXPECT_FALSE(r.job().wake_at);
}

TEST(ReconcileWishes, AHeldSliceIsLookedAt) {
  Reconciling r(JobBuilder().Build());
  r.ToDone();
  EXPECT_EQ(r.job().wake_at, r.clock.Now() + r.policy.poll);
  EXPECT_TRUE(NeedsCare(r.job()));
}

}  // namespace
}  // namespace jobman::core

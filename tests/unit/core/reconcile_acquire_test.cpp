// From QUEUED to a READY slice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/core/slice_name.hpp"
#include "tests/support/cloud_words.hpp"
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

const base::Error kNoAnswer{
    .code = Code::kUnavailable, .message = "connection reset", .reason = Reason::kUnreachable};
const base::Error kStockout{.code = Code::kResourceExhausted,
                            .message = "no more capacity in the zone",
                            .reason = Reason::kStockout};
const base::Error kInternal{.code = Code::kInternal, .message = "an internal error has occurred"};

TEST(ReconcileAcquire, RequestsASliceNamedAfterJobAndAttempt) {
  Reconciling r(JobBuilder().Build());
  r.Tick();
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a1"));
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a1");
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kIntended);
  EXPECT_THAT(r.job().why, HasSubstr("asking for slice train-000042-a1: ondemand v4-32"));
}

TEST(ReconcileAcquire, AFullGroupIsWaitedFor) {
  Job job = JobBuilder().Build();
  job.spec.group = "sweep";
  job.spec.max_running = 2;
  Reconciling r(std::move(job));
  r.policy.full = GroupFull{.at_work = {{1}, {2}}};
  EXPECT_EQ(r.Tick().state(), "QUEUED");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.job().attempt, 0);
  EXPECT_EQ(r.job().why,
            "waits for its turn: job.max_running lets 2 jobs of group sweep work at a "
            "time");
  r.policy.full.reset();
  EXPECT_EQ(r.Tick().state(), "REQUESTING");
}

TEST(ReconcileAcquire, AJobThatIsOverTakesNoPlaceWhileItIsDeletedOrGivesItsSliceUp) {
  Job job = JobBuilder().Build();
  for (const JobState& ends : {JobState(Cancelling{}), JobState(Deleting{})}) {
    job.state = ends;
    job.stage.reset();
    EXPECT_FALSE(IsAtWork(job)) << StateName(ends);
    job.stage = Stage{.id = CommandStage{}};
    EXPECT_TRUE(IsAtWork(job)) << StateName(ends) << ": its command is being stopped";
  }
}

TEST(ReconcileAcquire, ASliceHasAValidNameWhateverTheJobIsCalled) {
  const std::pair<const char*, const char*> names[] = {
      {"My Run", "my-run"},
      {"llama 3/7B (seed 1)", "llama-3-7b--seed-1"},
      {"42", "j42"},
      {"日本", "j"},
      {"a_b", "a-b"}};
  for (const auto& [name, prefix] : names) {
    core::Job job = JobBuilder().Build();
    job.name = name;
    EXPECT_EQ(core::SliceName(job, 1), std::string(prefix) + "-000042-a1") << name;
  }
}

TEST(ReconcileAcquire, GoesThroughTheQueueToTheCommand) {
  Reconciling r(JobBuilder().Build());
  EXPECT_EQ(r.Tick().Answered().state(), "REQUESTING");
  EXPECT_EQ(r.Queued(QueuedState::kWaitingForResources).state(), "WAITING");
  EXPECT_EQ(r.Queued(QueuedState::kProvisioning).state(), "PROVISIONING");
  EXPECT_THAT(r.effects(), IsEmpty());
  r.Ready();
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.effects(), ElementsAre("RunStage run of attempt 1"));
  EXPECT_EQ(r.job().stage->hosts.size(), 4U);
}

TEST(ReconcileAcquire, ADirectNodeHasNoQueue) {
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick().Answered();
  EXPECT_EQ(r.Node(NodeState::kCreating).state(), "PROVISIONING");
  EXPECT_EQ(r.Ready().state(), "RUNNING");
}

TEST(ReconcileAcquire, MayGoBackFromProvisioningToTheQueue) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Queued(QueuedState::kProvisioning);
  EXPECT_EQ(r.Queued(QueuedState::kWaitingForResources).state(), "WAITING");
  EXPECT_THAT(r.effects(), IsEmpty());
}

TEST(ReconcileAcquire, AdoptsItsOwnSliceAfterAlreadyExists) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Refused({.code = Code::kAlreadyExists, .message = "already exists"});
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.Ready().state(), "RUNNING");
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kCreated);
  EXPECT_EQ(r.job().attempt, 1);
}

TEST(ReconcileAcquire, NeverDeletesAForeignSlice) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Refused({.code = Code::kAlreadyExists, .message = "already exists"}).Foreign();
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_FALSE(r.job().slice);
  r.After(minutes{10});
  EXPECT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a2"));
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a2") << "the next name is free";
}

TEST(ReconcileAcquire, AnUnansweredCreateIsLookedForBeforeItIsRepeated) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Refused(kNoAnswer);
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_THAT(r.job().why, HasSubstr("looking before asking again"));
  EXPECT_THAT(r.Absent().effects(), IsEmpty()) << "one look is not enough";
  EXPECT_THAT(r.Absent().effects(), ElementsAre("CreateSlice train-000042-a1"));
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a1") << "the same name prevents a second slice";
  EXPECT_THAT(r.Absent().effects(), IsEmpty()) << "two looks are needed again";
}

TEST(ReconcileAcquire, AnUnansweredCreateThatArrivedIsUsed) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Refused(kNoAnswer).Queued(QueuedState::kAccepted);
  EXPECT_EQ(r.state(), "WAITING");
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kCreated);
}

TEST(ReconcileAcquire, ARefusalDoesNotForgetAnEarlierUnansweredCreate) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Refused(kNoAnswer).Absent();
  r.clock.Advance(seconds{15});
  r.Absent().Refused(
      {.code = Code::kResourceExhausted, .message = "limit reached", .reason = Reason::kQuota});
  EXPECT_EQ(r.state(), "BACKOFF");
  ASSERT_TRUE(r.job().slice) << "the first request may have arrived and hold the quota";
  r.After(minutes{5});
  EXPECT_EQ(r.state(), "BACKOFF") << "no second slice before the first request is settled";
  r.Queued(QueuedState::kAccepted);
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kCreated);
  EXPECT_EQ(r.Tick().job().slice->ref.name, "train-000042-a1");
  EXPECT_THAT(r.effects(), IsEmpty());
}

TEST(ReconcileAcquire, ANewSliceMayBeInvisibleForAMoment) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Absent().Absent().Absent();
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_THAT(r.effects(), IsEmpty());
  r.clock.Advance(seconds{61});
  EXPECT_THAT(r.Absent().effects(), ElementsAre("LookUpSlice train-000042-a1"));
  EXPECT_EQ(r.NotFound().state(), "BACKOFF");
}

TEST(ReconcileAcquire, AListingCountsFromItsOwnTime) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Absent();
  const SliceSeen listing{.slice = "train-000042-a1", .began = r.clock.Now()};
  r.clock.Advance(minutes{20});  // this machine was suspended
  r.See(listing).See(listing);
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.Absent().NotFound().state(), "BACKOFF");
}

TEST(ReconcileAcquire, StockoutCostsNoBudget) {
  Reconciling r(JobBuilder().Direct().Retries({.infra = 0}).Build());
  for (int attempt = 1; attempt <= 20; ++attempt) {
    r.After(minutes{10});
    ASSERT_EQ(r.state(), "REQUESTING");
    r.Answered().Failed(kStockout);
    ASSERT_EQ(r.state(), "BACKOFF");
    ASSERT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a" + std::to_string(attempt)))
        << "the failed node may hold the name";
    r.Gone();
    ASSERT_FALSE(r.job().slice);
  }
  EXPECT_EQ(r.job().spent.infra, 0);
}

TEST(ReconcileAcquire, AFailedQueuedResourceIsDeletedFirst) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Queued(QueuedState::kFailed, kInternal);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  EXPECT_EQ(r.As<BackingOff>().error, kInternal);
  EXPECT_EQ(r.job().spent.infra, 1);
  EXPECT_THAT(r.After(minutes{10}).effects(), ElementsAre("DeleteSlice train-000042-a1"))
      << "no new slice while the failed one exists";
  r.Absent().Absent().NotFound();
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a2");
}

TEST(ReconcileAcquire, AnOperationErrorIsCountedOnce) {
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick().Answered().Failed(kInternal);
  EXPECT_EQ(r.job().spent.infra, 1);
  const Job once = r.job();
  r.Failed(kInternal).Failed(kInternal);
  EXPECT_EQ(r.job(), once);
}

TEST(ReconcileAcquire, ALateOperationErrorDoesNotTouchAReadySlice) {
  Reconciling r(JobBuilder().Direct().Build());
  r.ToRunning().Failed(kInternal);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.effects(), IsEmpty());
}

TEST(ReconcileAcquire, AFailedListingChangesNothing) {
  // A failed list is not an observation: for the reconciler only time passes.
  for (const bool waiting : {true, false}) {
    Reconciling r(JobBuilder().Build());
    r.Tick().Answered();
    r.Queued(waiting ? QueuedState::kWaitingForResources : QueuedState::kProvisioning);
    const Job before = r.job();
    for (int hour = 0; hour < 48; ++hour) {
      r.After(minutes{60});
      ASSERT_THAT(r.effects(), IsEmpty());
      ASSERT_FALSE(r.changed());
    }
    EXPECT_EQ(r.job().state, before.state);
  }
}

TEST(ReconcileAcquire, ProvisioningThatNeverEndsIsGivenUp) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Queued(QueuedState::kProvisioning);
  r.clock.Advance(minutes{60});
  EXPECT_EQ(r.Queued(QueuedState::kProvisioning).state(), "PROVISIONING");
  r.clock.Advance(seconds{1});
  r.Queued(QueuedState::kProvisioning);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  EXPECT_EQ(r.As<BackingOff>().error.code, Code::kDeadlineExceeded);
}

TEST(ReconcileAcquire, WaitsDuringRepairAndUnknownStates) {
  for (const NodeState state : {NodeState::kRepairing, NodeState::kUnknown, NodeState::kStopping,
                                NodeState::kHiding, NodeState::kRestarting}) {
    Reconciling r(JobBuilder().Direct().Build());
    r.Tick().Answered().Node(state);
    EXPECT_EQ(r.state(), "PROVISIONING");
    EXPECT_THAT(r.effects(), IsEmpty());
    EXPECT_THAT(r.job().why, HasSubstr(test::WordFor(state)));
    EXPECT_EQ(r.Ready().state(), "RUNNING");
  }
}

TEST(ReconcileAcquire, AReadyNodeWithoutAddressesIsNotReadyYet) {
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick().Answered().Node(NodeState::kReady);
  EXPECT_EQ(r.state(), "PROVISIONING");
  EXPECT_EQ(r.Maintained().state(), "PROVISIONING") << "nor is one under maintenance";
}

TEST(ReconcileAcquire, ASliceLostBeforeItsUseIsReplaced) {
  for (const NodeState state :
       {NodeState::kPreempted, NodeState::kTerminated, NodeState::kStopped}) {
    Reconciling r(JobBuilder().Direct().Build());
    r.Tick().Answered().Node(state);
    EXPECT_EQ(r.job().spent.preemption, 1);
    EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
    r.Gone();
    EXPECT_EQ(r.state(), "REQUESTING");
    EXPECT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a2"));
    EXPECT_EQ(r.restart(), "preempted");
  }
}

TEST(ReconcileAcquire, WaitsForADeletionBySomebodyElse) {
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick().Answered().Node(NodeState::kDeleting);
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_THAT(r.effects(), IsEmpty());
  r.Absent().Absent().NotFound();
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  r.Gone();
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a2");
}

TEST(ReconcileAcquire, ObservationsOfAnotherSliceAreIgnored) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered();
  const Job before = r.job();
  r.See(SliceSeen{.slice = "train-000042-a0"}).See(SliceSeen{.slice = "train-000042-a0"});
  r.See(CreateAnswered{.slice = "train-000042-a0", .error = kStockout});
  r.See(OperationFailed{.slice = "train-000042-a0", .error = kInternal});
  r.See(DeleteAnswered{.slice = "train-000042-a0", .gone = true});
  EXPECT_EQ(r.job(), before);
  EXPECT_FALSE(r.changed());
}

TEST(ReconcileAcquire, PermanentErrorsEndAtOnceWithTheHint) {
  for (const Reason reason :
       {Reason::kQuotaZero, Reason::kPermission, Reason::kApiDisabled, Reason::kZoneNotAllowed,
        Reason::kBadAccelerator, Reason::kBadZone, Reason::kBadRuntime}) {
    Reconciling r(JobBuilder().Build());
    const base::Error error{.code = Code::kPermissionDenied,
                            .message = "refused",
                            .reason = reason,
                            .hint = "ask the owner of the project"};
    r.Tick().Refused(error);
    EXPECT_EQ(r.state(), "FAILED") << base::ReasonName(reason);
    EXPECT_THAT(r.effects(), IsEmpty());
    EXPECT_EQ(r.As<Done>().error->hint, "ask the owner of the project");
    EXPECT_FALSE(r.job().slice);
    EXPECT_FALSE(r.job().wake_at);
  }
}

/// The usual outcome of a spot request without capacity.
TEST(ReconcileAcquire, AQueuedResourceSuspendedBeforeUseFoundNoCapacity) {
  Reconciling r(JobBuilder().Retries({.preemption = 0, .infra = 0}).Build());
  for (int attempt = 1; attempt <= 3; ++attempt) {
    r.After(minutes{10});
    ASSERT_EQ(r.state(), "REQUESTING");
    r.Answered().Queued(QueuedState::kWaitingForResources).Queued(QueuedState::kProvisioning);
    r.Queued(QueuedState::kSuspending);
    ASSERT_EQ(r.state(), "BACKOFF");
    EXPECT_EQ(r.As<BackingOff>().error.reason, Reason::kStockout);
    EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a" + std::to_string(attempt)));
    r.Gone();
  }
  EXPECT_EQ(r.job().spent.preemption, 0);
  EXPECT_NE(r.restart(), "preempted");
}

TEST(ReconcileAcquire, NothingIsStartedOnAnUnhealthyNode) {
  for (const char* health : {"UNHEALTHY_TPU", "TIMEOUT", "UNHEALTHY_TENSORFLOW", "A_NEW_WORD"}) {
    Reconciling r(JobBuilder().Build());
    r.Tick().Answered().Unhealthy(health);
    EXPECT_EQ(r.state(), "PROVISIONING") << health;
    EXPECT_EQ(Reconciling(r).Ready().state(), "RUNNING") << health;
    EXPECT_FALSE(Reconciling(r).Ready().job().slice->unhealthy_since);
    r.clock.Advance(minutes{16});
    EXPECT_THAT(r.Unhealthy(health).effects(), ElementsAre("DeleteSlice train-000042-a1"));
    EXPECT_EQ(r.job().spent.infra, 1);
  }
  for (const char* health : {"", "HEALTHY", "HEALTH_UNSPECIFIED"}) {
    Reconciling r(JobBuilder().Build());
    EXPECT_EQ(r.Tick().Answered().Unhealthy(health).state(), "RUNNING") << health;
  }
}

TEST(ReconcileAcquire, ANodeUnderRepairIsNotWellBeforeTheServiceSaysSo) {
  Reconciling r(JobBuilder().Direct().Step("step").Build());
  r.Tick().Answered().Ready().Unhealthy("UNHEALTHY_TPU").AllEnd();
  ASSERT_EQ(r.state(), "SETUP") << r.job().why;
  SliceSeen repair{.slice = r.job().slice->ref.name};
  repair.nodes = {{.id = repair.slice,
                   .uid = "uid-" + repair.slice,
                   .state = NodeState::kRepairing,
                   .raw_state = "REPAIRING",
                   .health = "UNHEALTHY_TPU",
                   .hosts = test::Addresses(4)}};
  EXPECT_THAT(r.See(repair).effects(), IsEmpty());
  EXPECT_EQ(r.Ready().state(), "RUNNING");
}

TEST(ReconcileAcquire, RefusedCredentialsAreAwaitedAndCostNothing) {
  Reconciling r(JobBuilder().Retries({.infra = 0}).Build());
  for (int attempt = 1; attempt <= 10; ++attempt) {
    r.After(hours{1});
    ASSERT_EQ(r.state(), "REQUESTING");
    r.Refused({.code = Code::kUnauthenticated, .message = "401", .hint = "log in"});
    ASSERT_EQ(r.state(), "BACKOFF");
    ASSERT_EQ(r.As<BackingOff>().error.hint, "log in");
  }
  EXPECT_EQ(r.job().spent.infra, 0);
}

TEST(ReconcileAcquire, TransientErrorsAreRetried) {
  for (const Reason reason :
       {Reason::kStockout, Reason::kQuota, Reason::kRateLimit, Reason::kNoToken}) {
    Reconciling r(JobBuilder().Build());
    const Code code =
        reason == Reason::kNoToken ? Code::kUnauthenticated : Code::kResourceExhausted;
    r.Tick().Refused({.code = code, .message = "not now", .reason = reason});
    EXPECT_EQ(r.state(), "BACKOFF") << base::ReasonName(reason);
    EXPECT_EQ(r.After(minutes{10}).state(), "REQUESTING");
    EXPECT_EQ(r.job().spent.infra, 0);
  }
}

TEST(ReconcileAcquire, TheFullStopOfACloudMessageIsRemoved) {
  Reconciling r(JobBuilder().Build());
  base::Error error = kStockout;
  error.message = "There is no more capacity in the zone.";
  r.Tick().Refused(error);
  EXPECT_TRUE(r.job().why.starts_with("There is no more capacity in the zone: trying again"))
      << r.job().why;
}

TEST(ReconcileAcquire, RetryAfterIsHonoured) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Refused({.code = Code::kResourceExhausted,
                    .message = "slow down",
                    .reason = Reason::kRateLimit,
                    .retry_after = seconds{900}});
  EXPECT_EQ(r.As<BackingOff>().until, r.clock.Now() + seconds{900});
  EXPECT_EQ(r.job().wake_at, r.clock.Now() + seconds{900});
}

TEST(ReconcileAcquire, BacksOffUpToTheCap) {
  Reconciling r(JobBuilder().Build());
  r.unit_random = 1.0;
  for (const int wait : {15, 30, 60, 120, 240, 480, 600, 600}) {
    r.Tick().Refused(kStockout);
    EXPECT_EQ(r.As<BackingOff>().until - r.clock.Now(), seconds{wait});
    r.clock.Advance(minutes{10});
  }
}

Job ThatWaits(std::optional<Duration> each, std::optional<TimePoint> all = {}) {
  Job job = JobBuilder().Build();
  job.spec.tpu.valid_for = each;
  job.spec.tpu.valid_until = all;
  return job;
}

// The service's answer for an expired request is not documented.
const base::Error kOver{.code = Code::kDeadlineExceeded, .message = "its time is over"};
const base::Error kUnknown{.code = Code::kUnknown, .message = "it failed"};

TEST(ReconcileAcquire, AnExpiredDurationIsRequestedAgainAtNoCost) {
  for (const auto& [error, waited] :
       {std::pair{kOver, seconds{3595}}, std::pair{kUnknown, seconds{3600}}}) {
    Reconciling r(ThatWaits(hours{1}));
    r.Tick().Answered().Queued(QueuedState::kWaitingForResources).After(waited);
    r.Queued(QueuedState::kFailed, error);
    EXPECT_EQ(r.state(), "BACKOFF");
    EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
    EXPECT_THAT(r.job().why, HasSubstr("train-000042-a1 found no capacity within "
                                       "tpu.valid_until, 1h: trying again in"));
    EXPECT_EQ(r.job().spent.infra, 0);
    EXPECT_EQ(r.As<BackingOff>().error.reason, Reason::kStockout);
    r.Gone().Absent().Absent().After(minutes{10});
    EXPECT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a2"));
    EXPECT_EQ(r.job().slice->ref.name, "train-000042-a2");
  }
}

TEST(ReconcileAcquire, AFailureBeforeValidUntilKeepsItsOwnCause) {
  Reconciling r(ThatWaits(hours{1}));
  r.Tick().Answered().Queued(QueuedState::kWaitingForResources).After(minutes{59});
  r.Queued(QueuedState::kFailed, kUnknown);
  EXPECT_THAT(r.job().why, HasSubstr("it failed: trying again in"));
  EXPECT_EQ(r.job().spent.infra, 1);
}

TEST(ReconcileAcquire, AnExpiredTimeEndsTheJob) {
  Reconciling r(ThatWaits({}, test::FakeClock{}.Now() + hours{1}));
  r.Tick().Answered().Queued(QueuedState::kWaitingForResources).After(hours{1});
  EXPECT_EQ(r.state(), "WAITING") << "the service's clock says when, not ours";
  r.Queued(QueuedState::kFailed, kUnknown);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  EXPECT_THAT(r.job().why, HasSubstr("has passed: no slice is requested any more"));
  EXPECT_EQ(r.As<Done>().error->reason, Reason::kExpired);
  EXPECT_THAT(r.As<Done>().error->hint, HasSubstr("a later tpu.valid_until"));
  EXPECT_FALSE(r.Gone().job().slice);
}

TEST(ReconcileAcquire, AfterValidUntilOnlyAHeldSliceIsUsed) {
  Reconciling r(ThatWaits({}, test::FakeClock{}.Now() + hours{1}));
  r.ToDone().After(hours{2});
  r.WishFor(Wish::kRun);
  EXPECT_EQ(r.Ready().state(), "RUNNING") << "the slice was granted in time";
  r.Queued(QueuedState::kSuspended);
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 2", "DeleteSlice train-000042-a1"));
  r.Gone().Absent().Absent();
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.As<Done>().error->reason, Reason::kExpired);
  EXPECT_EQ(r.As<Done>().exit_code, 0) << "no command ended";
  EXPECT_FALSE(r.job().slice);
}

TEST(ReconcileAcquire, HostsThatDoNotExistAreRefused) {
  Reconciling command(JobBuilder().Workers({0, 4}).Build());
  command.Tick().Answered().Ready(4);
  EXPECT_THAT(command.job().why, HasSubstr("command.workers names host 4"));
  EXPECT_EQ(command.state(), "FAILED");
  EXPECT_EQ(command.job().slice->phase, SlicePhase::kCreated) << "kept for the corrected job";
  Reconciling setup(
      JobBuilder().With({.name = "data", .hosts = {.all = false, .numbers = {7}}}).Build());
  setup.Tick().Answered().Ready(4);
  EXPECT_EQ(setup.state(), "FAILED");
  EXPECT_THAT(setup.job().why, HasSubstr("setup step data names host 7"));
}

// --- The recorded end of attempts ---

TEST(ReconcileAcquire, ARefusalIsRecordedAsARefusal) {
  Reconciling r(JobBuilder().Direct().Build());
  r.ToRunning().Node(NodeState::kPreempted);
  EXPECT_THAT(r.ended(), ElementsAre("1 preempted"));
  r.Gone();
  EXPECT_EQ(r.restart(), "preempted");
  r.Refused(kStockout);
  EXPECT_THAT(r.ended(), ElementsAre("2 refused"));
  r.After(minutes{10});
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_EQ(r.restart(), "infra");
}

TEST(ReconcileAcquire, ARefusalAfterAResumeIsRecordedAsARefusal) {
  Reconciling r(JobBuilder().Direct().Build());
  r.ToDone().WishFor(Wish::kDelete).Gone();
  r.WishFor(Wish::kRun);
  EXPECT_EQ(r.restart(), "resumed");
  r.Refused(kStockout);
  EXPECT_THAT(r.ended(), ElementsAre("2 refused"));
}

TEST(ReconcileAcquire, ATakenNameIsRecordedAsARefusal) {
  Reconciling r(JobBuilder().Direct().Build());
  r.ToRunning().Node(NodeState::kPreempted).Gone().Foreign();
  EXPECT_THAT(r.ended(), ElementsAre("2 refused"));
  EXPECT_EQ(r.restart(), "infra");
}

TEST(ReconcileAcquire, FailedVanishedAndSlowRequestsAreRecordedAsSuch) {
  Reconciling failed(JobBuilder().Build());
  failed.Tick().Answered().Queued(QueuedState::kFailed, kInternal);
  EXPECT_THAT(failed.ended(), ElementsAre("1 request failed"));
  Reconciling slow(JobBuilder().Direct().Build());
  slow.Tick().Answered().Node(NodeState::kCreating);
  slow.clock.Advance(hours{2});
  slow.Node(NodeState::kCreating);
  EXPECT_THAT(slow.ended(), ElementsAre("1 too slow"));
  EXPECT_EQ(slow.restart(), "infra");
  Reconciling vanished(JobBuilder().Direct().Build());
  vanished.Tick().Answered().Node(NodeState::kCreating).Absent().Absent().NotFound();
  EXPECT_THAT(vanished.ended(), ElementsAre("1 vanished"));
  EXPECT_EQ(vanished.restart(), "preempted");
}

// --- A request without an answer, whose repetition is refused ---

TEST(ReconcileAcquire, LooksUpByNameWhenARepeatedCreateIsRefused) {
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick().Refused({.code = Code::kUnavailable, .message = "no answer"}).Absent().Absent();
  ASSERT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a1"));
  r.Refused(kStockout);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), ElementsAre("LookUpSlice train-000042-a1"));
  EXPECT_THAT(ImpliedEffects(r.job()), ElementsAre(LookUpSlice{r.job().slice->ref}));
  r.NotFound();
  EXPECT_FALSE(r.job().slice) << "at once, not only after a minute of listings";
  ASSERT_EQ(r.job().abandoned.size(), 1U) << "a late slice is deleted";
  EXPECT_EQ(r.job().abandoned[0].ref.name, "train-000042-a1");
  r.After(minutes{10});
  EXPECT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a2"));
}

TEST(ReconcileAcquire, ARequestThatDidArriveIsUsed) {
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick().Refused({.code = Code::kUnavailable, .message = "no answer"}).Absent().Absent();
  r.Refused(kStockout).Node(NodeState::kCreating);
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kCreated);
  EXPECT_EQ(r.After(minutes{10}).state(), "PROVISIONING");
}

TEST(ReconcileAcquire, OneListingDoesNotSettleAnUnansweredRequest) {
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick().Refused({.code = Code::kUnavailable, .message = "no answer"}).Absent().Absent();
  r.Refused(kStockout).Absent().Absent();
  EXPECT_TRUE(r.job().slice) << "the request may still arrive";
}

TEST(ReconcileAcquire, ARequestWithoutAClearAnswerIsRepeatedLessAndLessOften) {
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick();
  const auto sent = [&] {
    r.Refused({.code = Code::kInternal, .message = "oops"}).Absent().Absent();
    return r.job().slice->requests_sent;
  };
  EXPECT_EQ(sent(), 2) << "the first may be lost";
  EXPECT_EQ(sent(), 2);
  for (int second = 0; second < 600; ++second) {
    r.clock.Advance(seconds{1});
    sent();
  }
  EXPECT_GE(sent(), 14);
  EXPECT_LE(sent(), 18);
}

// --- The backoff ---

TEST(ReconcileAcquire, OldRefusalsDoNotMakeTheWaitLonger) {
  Reconciling r(JobBuilder().Direct().Build());
  r.unit_random = 0.999;
  for (int refusal = 1; refusal <= 8; ++refusal) {
    r.After(minutes{10});
    r.Refused(kStockout);
  }
  const Duration longest = r.As<BackingOff>().until - r.clock.Now();
  EXPECT_GT(longest, minutes{9});
  r.After(minutes{10});
  r.Answered().Node(NodeState::kCreating);
  for (int quarter = 0; quarter < 4; ++quarter) {  // an hour without refusals
    r.clock.Advance(minutes{14});
    r.Node(NodeState::kCreating);
  }
  r.Failed(kStockout);
  EXPECT_LT(r.As<BackingOff>().until - r.clock.Now(), minutes{1});
}

}  // namespace
}  // namespace jobman::core

// Slices of several nodes: tpu.num_slices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/core/slice_name.hpp"
#include "tests/support/cloud_words.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using test::JobBuilder;
using test::Reconciling;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two nodes of two hosts each; READY nodes have addresses.
NodeSeen Node(int number, NodeState state) {
  const std::string id = "train-000042-a1-" + std::to_string(number);
  NodeSeen node{.id = id, .uid = "uid-" + id, .state = state};
  node.raw_state = test::WordFor(state);
  if (state == NodeState::kReady) node.hosts = test::Addresses(2, number);
  return node;
}

SliceSeen Look(std::vector<NodeSeen> nodes) {
  return {.slice = "train-000042-a1", .nodes = std::move(nodes)};
}

/// The answers of get calls.
SliceSeen ByName(std::vector<NodeSeen> nodes) {
  SliceSeen seen = Look(std::move(nodes));
  seen.by_name = true;
  return seen;
}

SliceSeen Active(std::vector<NodeSeen> nodes) {
  SliceSeen seen = Look(std::move(nodes));
  seen.queued = QueuedSeen{.state = QueuedState::kActive, .raw_state = "ACTIVE"};
  return seen;
}

constexpr auto kReady = NodeState::kReady;
constexpr auto kCreating = NodeState::kCreating;

Reconciling AtWork(Job job) {
  Reconciling r(std::move(job));
  const bool direct = r.job().spec.tpu.allocation_mode == AllocationMode::kTpuVm;
  const std::vector<NodeSeen> nodes = {Node(0, kReady), Node(1, kReady)};
  r.Tick().Answered().See(direct ? Look(nodes) : Active(nodes));
  for (int host = 0; host < 4; ++host) r.HostRuns(host);
  return r;
}

TEST(Multislice, ANodeTooYoungToBeShownIsNotForgotten) {
  Reconciling r(JobBuilder().Direct().Slices(2).Build());
  r.Tick().Answered().See(Look({Node(1, kCreating)}));
  const base::Error stockout{.code = base::Code::kResourceExhausted,
                             .reason = base::Reason::kStockout};
  r.Failed(stockout).Gone();
  ASSERT_TRUE(r.job().slice.has_value());
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kDeleting);
  r.After(minutes{2}).Gone();
  EXPECT_NE(r.job().slice ? r.job().slice->ref.name : "", "train-000042-a1");
}

/// The look was in progress when the answer came: it proves that the node existed.
TEST(Multislice, ANodeThatAnEarlyLookShowedIsGoneWhenAbsent) {
  Reconciling r(JobBuilder().Direct().Slices(2).Build());
  const base::Error quota{.code = base::Code::kResourceExhausted, .reason = base::Reason::kQuota};
  r.Tick().See(CreateAnswered{
      .slice = "train-000042-a1", .error = quota, .accepted = {"train-000042-a1-0"}});
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  SliceSeen early = Look({Node(0, kReady)});
  early.began = r.clock.Now() - seconds{1};
  r.See(early);
  EXPECT_THAT(r.effects(), IsEmpty());
  r.Gone();
  EXPECT_NE(r.job().slice ? r.job().slice->ref.name : "", "train-000042-a1");
}

TEST(Multislice, ANodeThatAnEarlyLookDoesNotShowMayExist) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Build());
  SliceSeen early = Look({});
  early.began = r.job().slice->last_evidence_at - seconds{1};
  r.See(early).See(early).See(early);
  EXPECT_EQ(r.state(), "RUNNING");
  early = Active({Node(0, kReady), Node(1, NodeState::kPreempted)});
  early.began = r.job().slice->last_evidence_at - seconds{1};
  r.See(early);
  EXPECT_THAT(r.effects(), IsEmpty());
}

/// The look shows only the taken name; the node that was just accepted is in the next look.
TEST(Multislice, ATakenNameIsNotJudgedByALookBeforeTheAnswer) {
  Reconciling r(JobBuilder().Direct().Slices(2).Build());
  SliceSeen early = Look({});
  early.taken = {"train-000042-a1-0"};
  r.Tick();
  early.began = r.clock.Now() + seconds{1};
  r.clock.Advance(seconds{2});
  r.Answered().See(early);
  EXPECT_THAT(r.effects(), IsEmpty());
  SliceSeen seen = Look({Node(1, kReady)});
  seen.taken = early.taken;
  r.See(seen);
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  r.Gone();
  EXPECT_NE(r.job().slice ? r.job().slice->ref.name : "", "train-000042-a1");
}

TEST(Multislice, ANodeWhoseOperationFailedIsNotAwaited) {
  Reconciling r(JobBuilder().Direct().Slices(2).Build());
  r.Tick().Answered().See(Look({Node(1, kCreating)}));
  r.See(OperationFailed{
      .slice = "train-000042-a1",
      .error = {.code = base::Code::kResourceExhausted, .reason = base::Reason::kStockout},
      .nodes = {"train-000042-a1-0"}});
  r.Gone();
  EXPECT_NE(r.job().slice ? r.job().slice->ref.name : "", "train-000042-a1");
}

TEST(Multislice, ANodeThatWasShownOnceIsGoneWhenAbsent) {
  Reconciling r(JobBuilder().Direct().Slices(2).Build());
  r.Tick().Answered().See(Look({Node(0, kCreating)})).See(Look({Node(1, kCreating)}));
  r.WishFor(Wish::kDelete).Gone();
  EXPECT_EQ(r.state(), "DELETED");
}

TEST(Multislice, WhenANameIsTakenTheOtherNodesAreDeletedAtOnce) {
  Reconciling r(JobBuilder().Direct().Slices(2).Build());
  SliceSeen seen = Look({Node(1, kReady)});
  seen.taken = {"train-000042-a1-0"};
  r.Tick().See(seen);
  EXPECT_THAT(r.effects(), IsEmpty()) << "the request may be in progress";
  r.Answered().See(seen);
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  EXPECT_THAT(r.As<BackingOff>().error.message, HasSubstr("the name train-000042-a1-0 is taken"));
  EXPECT_EQ(r.job().spent.infra, 1);
  r.Gone();
  EXPECT_NE(r.job().slice ? r.job().slice->ref.name : "", "train-000042-a1");
}

/// The other node may be on its way, or too new to be shown.
TEST(Multislice, OneTakenNameDoesNotMakeTheSliceForeign) {
  SliceSeen seen = Look({});
  seen.taken = {"train-000042-a1-0"};
  Reconciling r(JobBuilder().Direct().Slices(2).Build());
  r.Tick().See(seen);
  EXPECT_THAT(r.effects(), IsEmpty());
  r.See(seen);
  EXPECT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a1")) << "as without any slice";
  r.Answered().See(seen);
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  r.Gone().See(seen).See(seen);
  ASSERT_TRUE(r.job().slice) << "the other node may exist";
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a1");
  r.clock.Advance(minutes{2});
  seen.by_name = true;
  r.See(seen);
  EXPECT_NE(r.job().slice ? r.job().slice->ref.name : "", "train-000042-a1");
}

TEST(Multislice, AnAbandonedSliceIsAsNewAsItsAnswer) {
  Reconciling r(JobBuilder().Direct().Slices(2).Build());
  r.Tick();
  r.clock.Advance(minutes{2});
  r.See(Look({Node(0, kCreating)})).WishFor(Wish::kDelete);
  r.clock.Advance(minutes{2});
  r.Answered().See(Look({})).See(Look({}));
  EXPECT_EQ(r.state(), "DELETING") << "node 1 was accepted just now";
}

TEST(Multislice, NamesItsNodesAsTheServiceDoes) {
  const SliceRef queued{.name = "s", .nodes = 2};
  EXPECT_THAT(NodeIds(queued), ElementsAre("s-0", "s-1"));
  EXPECT_THAT(PartsOf(queued), ElementsAre(queued)) << "one request for all";
  const SliceRef direct{.mode = AllocationMode::kTpuVm, .name = "s", .nodes = 2};
  ASSERT_EQ(PartsOf(direct).size(), 2);
  EXPECT_EQ(PartsOf(direct)[1].name, "s-1");
  EXPECT_EQ(PartsOf(direct)[1].nodes, 1);
  EXPECT_EQ(NodeId(queued, 1), "s-1");
  EXPECT_THAT(NodeIds(SliceRef{.name = "s"}), ElementsAre("s"));
  EXPECT_EQ(NodeId(SliceRef{.name = "s"}, 0), "s");
}

TEST(Multislice, IsReadyWhenEveryNodeIs) {
  Reconciling r(JobBuilder().Slices(2).Build());
  r.Tick().Answered().See(Active({Node(0, kReady), Node(1, kCreating)}));
  EXPECT_EQ(r.state(), "PROVISIONING");
  r.See(Active({Node(0, kReady), Node(1, kReady)}));
  EXPECT_EQ(r.state(), "RUNNING");
  ASSERT_EQ(r.job().slice->hosts.size(), 4);
  const HostPosition third = PositionOf(*r.job().slice, 2);
  EXPECT_EQ(third.node, 1);
  EXPECT_EQ(third.host, 0);
  EXPECT_EQ(third.node_id, "train-000042-a1-1");
  EXPECT_EQ(third.node_uid, "uid-train-000042-a1-1");
}

TEST(Multislice, OneLostNodeLosesTheSliceAndItIsDeletedWhole) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Build());
  r.See(Active({Node(0, kReady), Node(1, NodeState::kPreempted)}));
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"))
      << "processes on the other have their grace";
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_EQ(r.job().slice->cloud_state, "PREEMPTED (node train-000042-a1-1)");
  r.See(Active({Node(0, kReady), Node(1, NodeState::kPreempted)}));
  EXPECT_THAT(r.effects(), testing::IsEmpty());
  r.HostEnds(0, 143);
  EXPECT_EQ(r.state(), "RUNNING");
  r.HostEnds(1, 143);
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "DeleteSlice train-000042-a1"));
  EXPECT_EQ(r.job().spent.preemption, 1);
  EXPECT_EQ(r.job().spent.failure, 0);
  EXPECT_EQ(r.restart(), "preempted");
}

TEST(Multislice, RemainingNodesAreNotAwaitedWhenTheyAreLostToo) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Build());
  r.See(Active({Node(0, kReady), Node(1, NodeState::kPreempted)}));
  r.See(Active({Node(0, NodeState::kPreempted), Node(1, NodeState::kPreempted)}));
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "DeleteSlice train-000042-a1"));
  EXPECT_EQ(r.job().spent.preemption, 1);
}

TEST(Multislice, FailuresBesideALostNodeAreNotTheCommandsFault) {
  Job job = JobBuilder().Slices(2).Build();
  job.spec.watchdog.bad_output = {{.match = "x"}};
  Reconciling r = AtWork(job);
  r.See(Active({Node(0, kReady), Node(1, NodeState::kPreempted)}));
  r.See(BadOutput{.attempt = 1, .host = 0, .rule = 0, .line = "x"});
  r.See(Active({Node(0, kReady), Node(1, NodeState::kPreempted)}));
  EXPECT_EQ(r.state(), "RUNNING");
  r.HostEnds(0, 1).HostEnds(1, 1);
  EXPECT_EQ(r.job().spent.preemption, 1);
  EXPECT_NE(r.state(), "FAILED");
}

TEST(Multislice, ALostNodeDoesNotMatterWhenAllSucceeded) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Build());
  r.HostEnds(2).HostEnds(3);
  r.See(Active({Node(0, kReady), Node(1, NodeState::kPreempted)}));
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  r.HostEnds(0).HostEnds(1);
  EXPECT_EQ(r.state(), "SUCCEEDED");
  EXPECT_EQ(r.job().spent.preemption, 0);
}

TEST(Multislice, ALostNodeGivesNoRetryToAJobThatTheWatchdogEnds) {
  Job job = JobBuilder().Slices(2).Build();
  job.spec.watchdog.bad_output = {{.match = "x", .action = WatchdogAction::kFail}};
  Reconciling r = AtWork(job);
  r.See(BadOutput{.attempt = 1, .host = 0, .rule = 0, .line = "x"});
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  r.See(Active({Node(0, kReady), Node(1, NodeState::kPreempted)}));
  EXPECT_EQ(r.state(), "RUNNING") << "the others have their grace";
  r.HostEnds(0, 143).HostEnds(1, 143);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.job().spent.preemption, 0);
}

TEST(Multislice, ACancelLeavesTheHostsTheirGrace) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Build());
  r.WishFor(Wish::kCancel);
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  r.See(Active({Node(0, kReady), Node(1, NodeState::kPreempted)}));
  EXPECT_THAT(r.effects(), testing::IsEmpty());
  EXPECT_EQ(r.state(), "CANCELLING");
  r.HostEnds(0, 143).HostEnds(1, 143);
  EXPECT_NE(r.state(), "RUNNING");
  r.See(Active({Node(0, kReady), Node(1, NodeState::kPreempted)}));
  EXPECT_THAT(r.effects(), testing::Contains("DeleteSlice train-000042-a1"));
}

TEST(Multislice, HostsThatHaveEndedAreNotStoppedWhenANodeIsLost) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Build());
  r.HostEnds(0).HostEnds(1);
  r.See(Active({Node(0, kReady), Node(1, NodeState::kPreempted)}));
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "DeleteSlice train-000042-a1"));
}

TEST(Multislice, ANodeThatIsMissingIsBelievedWhileItsHostsAnswer) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Direct().Build());
  for (int host = 0; host < 4; ++host) r.HostRuns(host);
  r.See(Look({Node(1, kReady)})).See(Look({Node(1, kReady)})).See(ByName({Node(1, kReady)}));
  EXPECT_THAT(r.effects(), IsEmpty()) << "hosts 0 and 1 have living sessions";
  EXPECT_EQ(r.state(), "RUNNING");
  r.clock.Advance(minutes{6});
  r.See(ByName({Node(1, kReady)}));
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
}

TEST(Multislice, ANodeIsMissedAlsoWhenListingsShowNone) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Direct().Build());
  r.clock.Advance(minutes{1});
  for (int listing = 0; listing < 40 && r.state() == "RUNNING"; ++listing) {
    r.See(Look({})).See(Look({}));
    EXPECT_THAT(r.effects(), ElementsAre("LookUpSlice train-000042-a1"));
    r.See(ByName({Node(1, kReady)}));
    if (r.job().stage && r.job().stage->stop) break;
    r.clock.Advance(std::chrono::seconds{15});
  }
  ASSERT_TRUE(r.job().stage && r.job().stage->stop) << "its hosts are believed for five minutes";
}

TEST(Multislice, ANodeThatIsNotFoundByNameIsLost) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Direct().Build());
  r.See(Look({Node(1, kReady)}));
  EXPECT_EQ(r.state(), "RUNNING") << "one listing proves nothing";
  r.See(Look({Node(0, kReady), Node(1, kReady)})).See(Look({Node(1, kReady)}));
  EXPECT_EQ(r.state(), "RUNNING") << "nor do two with a complete one between them";
  r.See(Look({Node(1, kReady)}));
  EXPECT_THAT(r.effects(), ElementsAre("LookUpSlice train-000042-a1"));
  EXPECT_EQ(r.state(), "RUNNING") << "nor do any";
  for (int host = 0; host < 2; ++host) {
    r.See(core::HostReport{.attempt = 1,
                           .stage = core::CommandStage{},
                           .run = {.host = host,
                                   .phase = core::HostPhase::kRunning,
                                   .error = base::Error{.code = base::Code::kUnavailable,
                                                        .message = "no route to host",
                                                        .reason = base::Reason::kUnreachable}}});
  }
  r.See(ByName({Node(1, kReady)}));
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  r.HostEnds(2, 143).HostEnds(3, 143);
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "DeleteSlice train-000042-a1"));
  EXPECT_EQ(r.restart(), "preempted");
}

TEST(Multislice, WhenOneNodeIsReplacedTheOthersAreStoppedBeforeTheNextStart) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Build());
  NodeSeen replaced = Node(1, kReady);
  replaced.hosts = test::Addresses(2, 7);
  r.See(Active({Node(0, kReady), replaced}));
  EXPECT_EQ(r.state(), "RUNNING") << "processes of the attempt live on hosts 0 and 1";
  EXPECT_THAT(r.effects(), ElementsAre("StopStage run of attempt 1"));
  EXPECT_THAT(r.job().why, HasSubstr("stopping run on the others"));
  r.HostEnds(0, 143);
  EXPECT_THAT(r.effects(), IsEmpty());
  r.HostEnds(1, 143);
  EXPECT_THAT(r.effects(), ElementsAre("AbandonStage run of attempt 1"));
  r.See(Active({Node(0, kReady), replaced}));
  EXPECT_THAT(r.effects(), ElementsAre("RunStage run of attempt 2"));
  EXPECT_EQ(r.job().attempt, 2);
  EXPECT_EQ(r.restart(), "maintenance");
  EXPECT_EQ(r.job().spent, Spent{});
}

TEST(Multislice, WhenAllNodesAreReplacedNothingIsLeftToStop) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Build());
  NodeSeen first = Node(0, kReady);
  NodeSeen second = Node(1, kReady);
  first.hosts = test::Addresses(2, 6);
  second.hosts = test::Addresses(2, 7);
  r.See(Active({first, second}));
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "RunStage run of attempt 2"));
}

TEST(Multislice, ACancelStopsTheHostsThatWereNotReplaced) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Build());
  r.WishFor(Wish::kCancel);
  NodeSeen replaced = Node(1, kReady);
  replaced.uid = "another";
  r.See(Active({Node(0, kReady), replaced}));
  EXPECT_EQ(r.state(), "CANCELLING");
  r.HostEnds(0, 143).HostEnds(1, 143);
  EXPECT_EQ(r.state(), "CANCELLED");
}

TEST(Multislice, AcceptedNodesAreDeletedWhenOthersAreRefused) {
  Reconciling r(JobBuilder().Slices(2).Direct().Build());
  const base::Error quota{
      .code = base::Code::kResourceExhausted, .message = "quota", .reason = base::Reason::kQuota};
  r.Tick().See(CreateAnswered{.slice = "train-000042-a1",
                              .operations = {"operations/1"},
                              .error = quota,
                              .accepted = {"train-000042-a1-0"}});
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(r.As<BackingOff>().error.reason, base::Reason::kQuota);
  EXPECT_EQ(r.job().spent.infra, 0) << "quota costs nothing";
}

TEST(Multislice, AnIncompleteRequestIsRepeatedForTheMissingNodes) {
  Reconciling r(JobBuilder().Slices(2).Direct().Build());
  r.Tick().See(Look({Node(0, kCreating)}));
  EXPECT_THAT(r.effects(), IsEmpty()) << "the request may be in progress";
  r.See(Look({Node(0, kCreating)}));
  EXPECT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a1"));
  r.Answered().See(Look({Node(0, kReady), Node(1, kReady)}));
  EXPECT_EQ(r.state(), "RUNNING");
}

TEST(Multislice, AMissingNodeIsAwaitedForALimitedTime) {
  Reconciling r(JobBuilder().Slices(2).Direct().Build());
  r.Tick().Answered().See(Look({Node(0, kReady)})).See(Look({Node(0, kReady)}));
  EXPECT_EQ(r.state(), "PROVISIONING");
  r.clock.Advance(minutes{2});
  r.See(Look({Node(0, kReady)}));
  EXPECT_THAT(r.effects(), ElementsAre("LookUpSlice train-000042-a1"));
  r.See(ByName({Node(0, kReady)}));
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
}

TEST(Multislice, ACancelDuringTheRequestDeletesTheSlice) {
  Reconciling r(JobBuilder().Slices(2).Direct().Build());
  r.Tick().WishFor(Wish::kDelete).See(Look({Node(0, kCreating)}));
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  r.Gone();
  r.See(Look({})).See(Look({}));
  EXPECT_EQ(r.state(), "DELETING") << "the other node may not be shown yet";
  r.clock.Advance(minutes{2});
  r.See(ByName({}));
  EXPECT_EQ(r.state(), "DELETED");
}

TEST(Multislice, IsGoneWhenALookByNameShowsNoNode) {
  Reconciling r = AtWork(JobBuilder().Slices(2).Direct().Build());
  r.WishFor(Wish::kRequeue);
  for (int host = 0; host < 4; ++host) r.HostEnds(host, 143);
  EXPECT_THAT(r.effects(), testing::Contains("DeleteSlice train-000042-a1"));
  r.See(Look({Node(1, NodeState::kDeleting)})).See(Look({}));
  r.See(Look({}));
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a1") << "listings prove nothing";
  EXPECT_THAT(r.effects(), ElementsAre("LookUpSlice train-000042-a1"));
  r.See(ByName({}));
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a2");
}

TEST(Multislice, APartlyRefusedSliceIsNotGoneBeforeItCouldBeSeen) {
  Reconciling r(JobBuilder().Slices(2).Direct().Build());
  const base::Error denied{.code = base::Code::kPermissionDenied, .message = "no"};
  r.Tick().See(CreateAnswered{
      .slice = "train-000042-a1", .error = denied, .accepted = {"train-000042-a1-0"}});
  EXPECT_EQ(r.state(), "FAILED");
  r.Gone();
  ASSERT_TRUE(r.job().slice) << "a node that was just accepted may be invisible for a moment";
  r.See(Look({Node(0, kCreating)}));
  r.After(minutes{1});
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  r.Gone();
  EXPECT_FALSE(r.job().slice) << "the other was refused";
}

TEST(Multislice, ASliceThatAppearsAfterAnEmptyDeleteIsDeletedAgain) {
  Reconciling r(JobBuilder().Slices(2).Direct().Build());
  const base::Error denied{.code = base::Code::kPermissionDenied, .message = "no"};
  r.Tick().See(CreateAnswered{
      .slice = "train-000042-a1", .error = denied, .accepted = {"train-000042-a1-0"}});
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  const auto began = r.clock.Now();
  r.clock.Advance(seconds{2});
  r.See(Look({Node(0, kCreating)}));
  r.See(DeleteAnswered{.slice = "train-000042-a1", .began = began, .gone = true});
  ASSERT_TRUE(r.job().slice) << "the delete was before it was shown";
  r.After(minutes{1});
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  r.Gone();
  EXPECT_FALSE(r.job().slice);
}

TEST(Multislice, AnActiveQueuedResourceWithoutItsNodeIsGivenUp) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Queued(QueuedState::kWaitingForResources);
  r.Queued(QueuedState::kActive);
  EXPECT_EQ(r.state(), "PROVISIONING");
  r.clock.Advance(minutes{61});
  r.Queued(QueuedState::kActive);
  EXPECT_THAT(r.effects(), ElementsAre("LookUpSlice train-000042-a1"));
  SliceSeen without = Active({});
  without.by_name = true;
  r.See(without);
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
}

TEST(Multislice, AStockoutCountsEvenIfTheNodeWasSeenFirst) {
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick().Node(kCreating).Answered();
  r.Failed({.code = base::Code::kResourceExhausted, .reason = base::Reason::kStockout});
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(r.As<BackingOff>().error.reason, base::Reason::kStockout);
  EXPECT_EQ(r.job().spent.preemption, 0);
}

TEST(Multislice, RepairBeforeFirstReadyHasALimit) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Node(kCreating).Node(NodeState::kRepairing);
  EXPECT_THAT(r.job().why, HasSubstr("REPAIRING"));
  r.After(minutes{61}).Node(NodeState::kRepairing);
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  EXPECT_EQ(r.state(), "BACKOFF");
}

}  // namespace
}  // namespace jobman::core

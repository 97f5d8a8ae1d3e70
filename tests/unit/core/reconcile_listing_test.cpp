// What a slice is taken for that listings omit or contradict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using base::Code;
using base::Reason;
using std::chrono::minutes;
using std::chrono::seconds;
using test::JobBuilder;
using test::Reconciling;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ReconcileListing, ASliceThatListingsOmitIsAskedForByName) {
  Reconciling r(JobBuilder().Direct().Build());
  EXPECT_THAT(r.ToRunning().Absent().effects(), IsEmpty());
  EXPECT_THAT(r.Ready().Absent().effects(), IsEmpty()) << "the count starts over";
  for (int listing = 0; listing < 10; ++listing) {
    EXPECT_THAT(r.Absent().effects(), ElementsAre("LookUpSlice train-000042-a1"));
    EXPECT_EQ(r.state(), "RUNNING") << "listings prove nothing";
  }
}

TEST(ReconcileListing, AListingOvertakesALookByName) {
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

TEST(ReconcileListing, OtherMachinesInAListingAreAskedForByName) {
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

TEST(ReconcileListing, AnActiveQueuedResourceOvertakesALookByName) {
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

TEST(ReconcileListing, AListingThatShowsItAsLostOvertakesALookByName) {
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

TEST(ReconcileListing, ASliceIsLostWhenItIsNotFoundAndItsHostsAreSilent) {
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

TEST(ReconcileListing, AListingOvertakesALookByNameAlsoWhenALaterOneOmitsTheSlice) {
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

TEST(ReconcileListing, HostsOfASliceThatIsNotFoundAreBelievedForAWhile) {
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

TEST(ReconcileListing, ListingsWithoutTheQueuedResourceProveNothing) {
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

TEST(ReconcileListing, ASliceThatIsNotOursAnyMoreIsLeftUntouched) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().Foreign();
  EXPECT_EQ(r.state(), "REQUESTING");
  EXPECT_THAT(r.effects(),
              ElementsAre("AbandonStage run of attempt 1", "CreateSlice train-000042-a2"));
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a2");
}

}  // namespace
}  // namespace jobman::core

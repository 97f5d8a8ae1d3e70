// The user begins the maintenance that the cloud has announced.
#include "jobman/client/maintain.hpp"

#include <gmock/gmock.h>

#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class MaintainTest : public test::ClientWorld {
 protected:
  /// A job that holds a slice of so many nodes of a queued resource; all but the first, or all,
  /// announce maintenance.
  core::Job Held(int nodes, bool all = false) {
    core::Job job = test::JobBuilder().Slices(nodes).Build();
    job.attempt = 1;
    job = test::WithHosts(std::move(job), nodes);
    job.slice->nodes.assign(static_cast<std::size_t>(nodes), {.uid = "7001", .hosts = 1});
    for (const std::string& id : core::NodeIds(job.slice->ref)) {
      core::NodeSeen node{.id = id, .zone = job.spec.tpu.zone, .state = core::NodeState::kReady};
      if (all || id != core::NodeIds(job.slice->ref).front())
        node.notice = core::Notice{.text = "PENDING"};
      cloud_.AddNode(node);
    }
    return Put(job);
  }
};

TEST_F(MaintainTest, EachNodeIsAskedForAndAnswersForItself) {
  const core::Job job = Held(2);
  const auto asked = Await(BeginMaintenance(Context(), job.id));
  ASSERT_TRUE(asked.ok()) << asked.error().ToString();
  ASSERT_THAT(*asked, SizeIs(2));
  ASSERT_TRUE(asked->at(0).refused) << "none was announced";
  EXPECT_EQ(asked->at(0).refused->code, base::Code::kFailedPrecondition);
  EXPECT_THAT(asked->at(0).refused->hint, HasSubstr("jobman why 0000"));
  EXPECT_EQ(asked->at(1).node, core::NodeIds(job.slice->ref).at(1));
  EXPECT_FALSE(asked->at(1).refused);
  EXPECT_EQ(store_.Get(job.id)->version, job.version) << "it is no wish of the job";
}

TEST_F(MaintainTest, NodesOfAQueuedResourceAreAskedForAtOnce) {
  const core::Job job = Held(2, true);
  const auto asked = Await(BeginMaintenance(Context(), job.id));
  ASSERT_TRUE(asked.ok()) << asked.error().ToString();
  ASSERT_THAT(*asked, SizeIs(2));
  for (const MaintenanceAsked& one : *asked) EXPECT_FALSE(one.refused) << one.node;
  EXPECT_THAT(cloud_.calls(),
              testing::ElementsAre("PerformQueuedMaintenance " + job.slice->ref.name));
}

TEST_F(MaintainTest, NodesThatWereRequestedOneByOneAreAskedForOneByOne) {
  core::Job job = Held(2, true);
  job.slice->ref.mode = core::AllocationMode::kTpuVm;
  job = Change(job);
  ASSERT_TRUE(Await(BeginMaintenance(Context(), job.id)).ok());
  EXPECT_EQ(cloud_.CountCalls("PerformQueuedMaintenance"), 0);
  EXPECT_EQ(cloud_.CountCalls("PerformMaintenance"), 2);
}

/// Some may have begun: a second order would be refused for those.
TEST_F(MaintainTest, WithoutAnAnswerTheNodesAreNotAskedForAgain) {
  const core::Job job = Held(2, true);
  cloud_.SetReachable(false);
  const auto asked = Await(BeginMaintenance(Context(), job.id));
  ASSERT_TRUE(asked.ok()) << asked.error().ToString();
  ASSERT_THAT(*asked, SizeIs(2));
  for (const MaintenanceAsked& one : *asked) {
    ASSERT_TRUE(one.refused);
    EXPECT_EQ(one.refused->code, base::Code::kUnavailable);
  }
  EXPECT_EQ(cloud_.CountCalls("PerformMaintenance"), 0);
}

TEST_F(MaintainTest, AJobWithoutASliceHasNothingToMaintain) {
  const core::Job job = Put(test::JobBuilder().Build());
  const auto asked = Await(BeginMaintenance(Context(), job.id));
  ASSERT_FALSE(asked.ok());
  EXPECT_EQ(asked.error().code, base::Code::kFailedPrecondition);
  EXPECT_THAT(asked.error().message, HasSubstr("holds no slice"));
}

}  // namespace
}  // namespace jobman::client

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
  /// A job that holds a slice of so many nodes; all but the first announce maintenance.
  core::Job Held(int nodes) {
    core::Job job = test::JobBuilder().Slices(nodes).Build();
    job.attempt = 1;
    job = test::WithHosts(std::move(job), nodes);
    job.slice->nodes.assign(static_cast<std::size_t>(nodes), {.uid = "7001", .hosts = 1});
    for (const std::string& id : core::NodeIds(job.slice->ref)) {
      core::NodeSeen node{.id = id, .zone = job.spec.tpu.zone, .state = core::NodeState::kReady};
      if (id != core::NodeIds(job.slice->ref).front())
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

TEST_F(MaintainTest, AJobWithoutASliceHasNothingToMaintain) {
  const core::Job job = Put(test::JobBuilder().Build());
  const auto asked = Await(BeginMaintenance(Context(), job.id));
  ASSERT_FALSE(asked.ok());
  EXPECT_EQ(asked.error().code, base::Code::kFailedPrecondition);
  EXPECT_THAT(asked.error().message, HasSubstr("holds no slice"));
}

}  // namespace
}  // namespace jobman::client

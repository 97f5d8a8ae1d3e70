#include "controller/zone_watch.hpp"

#include "tests/unit/controller/cloud_fixture.hpp"

namespace jobman::controller {
namespace {

using testing::IsEmpty;
using testing::Not;

class ZoneWatchTest : public CloudFixture {
 protected:
  void Watch(const core::Job& job) {
    watch_->Watch(job);
    Turn();
  }
  void PollNow(const core::Job& job) {
    watch_->PollNow(job.spec.cloud, job.slice->ref.place);
    Turn();
  }
};

TEST_F(ZoneWatchTest, OneLookIsTwoListCallsForAllJobsOfAPlace) {
  const core::Job first = AddJob(), second = AddJob();
  Grant(RequestOf(first));
  Grant(RequestOf(second));
  Watch(first);
  Watch(second);
  EXPECT_EQ(api_->CountCalls("ListNodes"), 1);
  EXPECT_EQ(api_->CountCalls("ListQueued"), 1);
  EXPECT_NE(StateOf(first), "REQUESTING");
  EXPECT_NE(StateOf(second), "REQUESTING");
}

TEST_F(ZoneWatchTest, QueuedResourcesAreListedOnlyWhenAJobHasOne) {
  Watch(AddJob(core::AllocationMode::kTpuVm));
  EXPECT_EQ(api_->CountCalls("ListNodes"), 1);
  EXPECT_EQ(api_->CountCalls("ListQueued"), 0);
}

TEST_F(ZoneWatchTest, PollNowLooksAgain) {
  const core::Job job = AddJob();
  Watch(job);
  Watch(job);
  EXPECT_EQ(api_->CountCalls("ListNodes"), 1);
  PollNow(job);
  EXPECT_EQ(api_->CountCalls("ListNodes"), 2);
}

TEST_F(ZoneWatchTest, APlaceWithoutJobsIsNoLongerPolled) {
  const core::Job job = AddJob();
  Watch(job);
  store_.Lose(job.id);
  EXPECT_TRUE(base::RunTask(loop_, book_->Load()).ok());
  PollNow(job);
  PollNow(job);
  EXPECT_EQ(api_->CountCalls("ListNodes"), 1);
}

TEST_F(ZoneWatchTest, KnowsWhetherTheCloudAnsweredLately) {
  const core::Job job = AddJob();
  EXPECT_FALSE(watch_->Answers(job));
  Watch(job);
  EXPECT_TRUE(watch_->Answers(job));
  clock_.Advance(options_.policy.poll * 3);
  EXPECT_FALSE(watch_->Answers(job));
}

TEST_F(ZoneWatchTest, AFailedListingIsNoAbsenceAndTheCloudIsReopened) {
  const core::Job job = AddJob();
  api_->SetReachable(false);
  Watch(job);
  EXPECT_EQ(StateOf(job), "REQUESTING");
  EXPECT_FALSE(watch_->Answers(job));
  const int opened = opened_;
  api_->SetReachable(true);
  PollNow(job);
  EXPECT_EQ(opened_, opened + 1);
  EXPECT_TRUE(watch_->Answers(job));
}

/// A simulator that was started anew on the same port has another token.
TEST_F(ZoneWatchTest, ARefusedTokenReopensTheCloud) {
  const core::Job job = AddJob();
  api_->AddFault({.call = "ListNodes", .error = {.code = base::Code::kUnauthenticated}});
  Watch(job);
  const int opened = opened_;
  PollNow(job);
  EXPECT_EQ(opened_, opened + 1);
  EXPECT_TRUE(watch_->Answers(job));
}

/// A delete may have been lost.
TEST_F(ZoneWatchTest, EffectsAreRepeatedWhenTheCloudIsBack) {
  const core::Job job = AddJob();
  book_->Post(job.id, core::CreateAnswered{.slice = job.slice->ref.name});
  Turn();
  ASSERT_TRUE(
      store_.SetWish(job.id, core::Wish::kDelete, core::SetupWish::kAsNeeded, clock_.Now()).ok());
  EXPECT_TRUE(base::RunTask(loop_, book_->Load()).ok());
  Turn();
  ASSERT_EQ(StateOf(job), "DELETING");
  api_->SetReachable(false);
  Watch(job);
  decided_.clear();
  api_->SetReachable(true);
  PollNow(job);
  EXPECT_THAT(decided_, testing::Contains(testing::StartsWith("DeleteSlice")));
}

TEST_F(ZoneWatchTest, AStockoutOfADirectCreateIsFoundInItsOperation) {
  core::Job job = AddJob(core::AllocationMode::kTpuVm);
  api_->SetStock("us-central2-b", job.spec.tpu.accelerator, 0);
  Grant(RequestOf(job));
  book_->Post(job.id, core::CreateAnswered{.slice = job.slice->ref.name,
                                           .operations = {"projects/lab/locations/us-central2-b/"
                                                          "operations/operation-1"}});
  Turn();
  Watch(job);
  EXPECT_GE(api_->CountCalls("GetOperation"), 1);
  EXPECT_EQ(StateOf(job), "BACKOFF");
}

TEST_F(ZoneWatchTest, TheSliceOfAnAbandonedRequestIsDeleted) {
  const core::Job job = AddJob();
  core::SliceRequest earlier = RequestOf(job);
  earlier.ref.name = "train-000001-a0";
  ports::AttemptRecord ended{.attempt = 0,
                             .slice = earlier.ref.name,
                             .zone = earlier.ref.place.zone,
                             .ended_at = clock_.Now()};
  ASSERT_TRUE(store_.Commit({.job = *store_.Get(job.id), .attempts = {ended}}, 0).ok());
  Grant(earlier);
  Grant(RequestOf(job));
  Watch(job);
  EXPECT_THAT(api_->calls(), testing::Contains("Delete train-000001-a0"));
  EXPECT_THAT(api_->calls(), Not(testing::Contains("Delete train-000001-a1")));
}

}  // namespace
}  // namespace jobman::controller

#include "controller/abandoned_slices.hpp"

#include "tests/unit/controller/cloud_fixture.hpp"

namespace jobman::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Listings of a place, next to a job that holds train-000001-a1.
class AbandonedSlicesTest : public CloudFixture {
 protected:
  AbandonedSlicesTest() : job_(AddJob()) {
    listing_.place = job_.slice->ref.place;
    listing_.queued_listed = true;
  }
  void ListNode(const std::string& id, const std::string& store = "memory") {
    listing_.nodes.push_back(
        {.id = id, .state = core::NodeState::kReady, .labels = core::OwnerLabels(job_, store)});
  }
  /// The job asked for this slice in an earlier attempt; that has ended, or not.
  void RecordAttempt(int attempt, const std::string& slice, bool ended = true) {
    ports::AttemptRecord record{
        .job = job_.id, .attempt = attempt, .slice = slice, .zone = listing_.place.zone};
    if (ended) record.ended_at = clock_.Now();
    Commit(record);
  }
  void Commit(const ports::AttemptRecord& record) {
    const auto lease = store_.CurrentLease();
    const auto kept =
        store_.Commit({.job = *store_.Get(job_.id), .attempts = {record}}, (*lease)->token);
    ASSERT_TRUE(kept.ok()) << kept.error().ToString();
  }
  /// The slices that are deleted.
  std::vector<std::string> Deleted() {
    base::RunTask(loop_, DeleteAbandonedSlices(api_, ports_.stores.jobs, &*book_,
                                               options_.policy.store_id, listing_));
    return api_->calls();
  }
  core::Job job_;
  Listing listing_;
};

TEST_F(AbandonedSlicesTest, SlicesOfEarlierAttemptsAreDeletedButNotTheCurrentOne) {
  RecordAttempt(0, "train-000001-a0");
  RecordAttempt(1, "train-000001-a1", /*ended=*/false);
  ListNode("train-000001-a0");
  ListNode("train-000001-a1");
  EXPECT_THAT(Deleted(), ElementsAre("Delete train-000001-a0"));
}

TEST_F(AbandonedSlicesTest, SlicesOfOthersAreLeftAlone) {
  RecordAttempt(0, "train-000001-a0");
  ListNode("train-000001-a0", "another");
  listing_.nodes.push_back({.id = "by-hand"});
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(AbandonedSlicesTest, ASliceOfAnAbandonedRequestIsDeleted) {
  core::Job job = *store_.Get(job_.id);
  job.abandoned = {{.ref = core::SliceFor(job, 7), .until = clock_.Now()}};
  const auto lease = store_.CurrentLease();
  ASSERT_TRUE(store_.Commit({.job = job}, (*lease)->token).ok());
  ASSERT_TRUE(base::RunTask(loop_, book_->Load()).ok());
  ListNode("train-000001-a7");
  EXPECT_THAT(Deleted(), ElementsAre("Delete train-000001-a7"));
}

/// A copy of the store, and the slice is in use: labels alone say nothing.
TEST_F(AbandonedSlicesTest, ASliceThatIsOnNoRecordIsLeftToGc) {
  ListNode("train-000001-a0");
  ListNode("train-000001-a2");
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(AbandonedSlicesTest, ASliceOfAnAttemptThatGoesOnIsLeftAlone) {
  RecordAttempt(0, "train-000001-a0", /*ended=*/false);
  ListNode("train-000001-a0");
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(AbandonedSlicesTest, ASliceOfThatNameInAnotherZoneIsLeftAlone) {
  Commit({.job = job_.id,
          .attempt = 0,
          .slice = "train-000001-a0",
          .zone = "elsewhere",
          .ended_at = clock_.Now()});
  ListNode("train-000001-a0");
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(AbandonedSlicesTest, ASliceOfAnUnknownJobIsLeftToGc) {
  job_.id = core::JobId{77};
  ListNode("train-000077-a1");
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(AbandonedSlicesTest, NodesAreDeletedWithTheirQueuedResource) {
  RecordAttempt(0, "train-000001-a0");
  ListNode("train-000001-a0");
  listing_.nodes.back().queued_resource = "train-000001-a0";
  listing_.queued_listed = false;
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(AbandonedSlicesTest, ASliceThatIsBeingDeletedIsNotDeletedAgain) {
  RecordAttempt(0, "train-000001-a0");
  ListNode("train-000001-a0");
  listing_.nodes.back().state = core::NodeState::kDeleting;
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(AbandonedSlicesTest, AFailedDeleteDoesNotStopTheOthers) {
  RecordAttempt(-1, "train-000001-a00");
  RecordAttempt(0, "train-000001-a0");
  ListNode("train-000001-a0");
  ListNode("train-000001-a00");
  api_->AddFault({.call = "Delete", .error = {.code = base::Code::kUnavailable}});
  EXPECT_EQ(Deleted().size(), 2u);
}

}  // namespace
}  // namespace jobman::controller

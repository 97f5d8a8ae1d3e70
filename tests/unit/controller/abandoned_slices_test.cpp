#include "controller/abandoned_slices.hpp"

#include "jobman/core/explain.hpp"
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
  /// A node of the cloud, and of the listing. By its labels it is of this store, or another.
  void ListNode(const std::string& id, const std::string& store = "memory",
                const std::string& listed_store = {}) {
    const core::SliceRef node{
        .mode = core::AllocationMode::kTpuVm, .place = listing_.place, .name = id};
    EXPECT_TRUE(base::RunTask(loop_, api_->Create(core::RequestFor(job_, node, store))).ok());
    List(id, listed_store.empty() ? store : listed_store);
  }
  void List(const std::string& id, const std::string& store) {
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
    base::RunTask(loop_, abandoned_.Judge(api_, listing_));
    Turn();
    return Deletes();
  }
  std::vector<std::string> Deletes() const {
    std::vector<std::string> deletes;
    for (const std::string& call : api_->calls()) {
      if (call.starts_with("Delete ")) deletes.push_back(call);
    }
    return deletes;
  }
  core::Job job_;
  Listing listing_;
  AbandonedSlices abandoned_{loop_, ports_, options_, *book_};
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

/// The list may be wrong, or out of date.
TEST_F(AbandonedSlicesTest, ASliceThatAGetShowsAsAnothersIsLeftAlone) {
  RecordAttempt(0, "train-000001-a0");
  ListNode("train-000001-a0", "another", /*listed_store=*/"memory");
  EXPECT_THAT(Deleted(), IsEmpty());
  RecordAttempt(-1, "train-000001-a00");
  List("train-000001-a00", "memory");
  EXPECT_THAT(Deleted(), IsEmpty()) << "it is gone";
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

TEST_F(AbandonedSlicesTest, ARefusalIsOnRecordAndRepeatedLaterAndLater) {
  core::Job job = *store_.Get(job_.id);
  job.abandoned = {{.ref = core::SliceFor(job, 7), .until = clock_.Now()}};
  const auto lease = store_.CurrentLease();
  ASSERT_TRUE(store_.Commit({.job = job}, (*lease)->token).ok());
  ASSERT_TRUE(base::RunTask(loop_, book_->Load()).ok());
  ListNode("train-000001-a7");
  api_->AddFault({.call = "Delete",
                  .error = {.code = base::Code::kPermissionDenied, .message = "may not delete"},
                  .times = 3});
  std::vector<int> minutes;  // at which a delete was sent
  std::size_t sent = 0;
  for (int minute = 0; minute <= 12; ++minute, clock_.Advance(std::chrono::minutes{1})) {
    for (int look = 0; look < 3; ++look) {
      if (Deleted().size() == sent) continue;
      sent = Deletes().size();
      minutes.push_back(minute);
    }
    if (sent > 3) break;
    const core::Job now = *store_.Get(job_.id);
    ASSERT_EQ(now.abandoned.size(), 1u);
    ASSERT_TRUE(now.abandoned[0].delete_refused);
    EXPECT_EQ(now.abandoned[0].delete_refused->times, static_cast<int>(sent));
    const auto told = core::Explain(now, clock_.Now());
    EXPECT_THAT(told.facts, testing::Contains(testing::HasSubstr(
                                "refused to delete slice train-000001-a7, which may cost money: "
                                "may not delete")));
    EXPECT_THAT(told.next_step, testing::HasSubstr("delete it by hand"));
    EXPECT_THAT(now.why, testing::HasSubstr("may not delete"));
  }
  EXPECT_THAT(minutes, ElementsAre(0, 1, 3, 7));
  EXPECT_FALSE(store_.Get(job_.id)->abandoned[0].delete_refused) << "accepted in the end";
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

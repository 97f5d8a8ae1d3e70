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
  ListNode("train-000001-a0");
  ListNode("train-000001-a1");
  EXPECT_THAT(Deleted(), ElementsAre("Delete train-000001-a0"));
}

TEST_F(AbandonedSlicesTest, SlicesOfOthersAreLeftAlone) {
  ListNode("train-000001-a0", "another");
  listing_.nodes.push_back({.id = "by-hand"});
  EXPECT_THAT(Deleted(), IsEmpty());
}

/// The store may be an old copy, and the slice in use.
TEST_F(AbandonedSlicesTest, ASliceOfALaterAttemptIsLeftAlone) {
  ListNode("train-000001-a2");
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(AbandonedSlicesTest, ASliceOfAnUnknownJobIsLeftToGc) {
  job_.id = core::JobId{77};
  ListNode("train-000077-a1");
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(AbandonedSlicesTest, NodesAreDeletedWithTheirQueuedResource) {
  ListNode("train-000001-a0");
  listing_.nodes.back().queued_resource = "train-000001-a0";
  listing_.queued_listed = false;
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(AbandonedSlicesTest, ASliceThatIsBeingDeletedIsNotDeletedAgain) {
  ListNode("train-000001-a0");
  listing_.nodes.back().state = core::NodeState::kDeleting;
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(AbandonedSlicesTest, AFailedDeleteDoesNotStopTheOthers) {
  ListNode("train-000001-a0");
  ListNode("train-000001-a00");
  api_->AddFault({.call = "Delete", .error = {.code = base::Code::kUnavailable}});
  EXPECT_EQ(Deleted().size(), 2u);
}

}  // namespace
}  // namespace jobman::controller

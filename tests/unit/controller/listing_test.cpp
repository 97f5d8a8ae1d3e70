#include "controller/listing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/job_builder.hpp"

namespace jobman::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ListingTest : public testing::Test {
 protected:
  core::SliceSeen Seen() const { return SeenIn(listing_, ref_, core::OwnerLabels(job_, "store1")); }
  void AddNode(const std::string& id, const std::string& store) {
    listing_.nodes.push_back({.id = id, .labels = core::OwnerLabels(job_, store)});
  }
  void AddQueued(const std::string& id, const std::string& store) {
    listing_.queued.push_back({.id = id, .labels = core::OwnerLabels(job_, store)});
  }

  core::Job job_ = test::JobBuilder().Build();
  core::SliceRef ref_{.name = "train-000042-a1", .nodes = 2};
  Listing listing_;
};

TEST_F(ListingTest, NodesComeInTheOrderOfTheirNumbers) {
  AddQueued("train-000042-a1", "store1");
  AddNode("train-000042-a1-1", "store1");
  AddNode("another", "store1");
  AddNode("train-000042-a1-0", "store1");
  const auto seen = Seen();
  ASSERT_EQ(seen.nodes.size(), 2u);
  EXPECT_EQ(seen.nodes[0].id, "train-000042-a1-0");
  EXPECT_TRUE(seen.queued);
  EXPECT_THAT(seen.taken, IsEmpty());
}

TEST_F(ListingTest, ANameOfSomebodyElseIsTakenAndNotOurs) {
  AddQueued("train-000042-a1", "store2");
  const auto seen = Seen();
  EXPECT_FALSE(seen.queued);
  EXPECT_THAT(seen.taken, ElementsAre("train-000042-a1"));
  EXPECT_TRUE(seen.foreign);
}

TEST_F(ListingTest, ASliceOfAnotherUserIsNotOursAlthoughItNamesThisStore) {
  AddQueued("train-000042-a1", "store1");
  listing_.queued[0].labels["jobman-owner"] = "zoe";
  EXPECT_TRUE(Seen().foreign);
}

TEST_F(ListingTest, ASliceOfWhichAPartIsOursIsNotForeign) {
  ref_.mode = core::AllocationMode::kTpuVm;
  AddNode("train-000042-a1-0", "store2");
  EXPECT_FALSE(Seen().foreign) << "the other node may still come";
  AddNode("train-000042-a1-1", "store1");
  EXPECT_FALSE(Seen().foreign);
  listing_.nodes[1].labels.clear();
  EXPECT_TRUE(Seen().foreign);
}

TEST_F(ListingTest, AbsentPartsAreNotSeen) {
  const auto seen = Seen();
  EXPECT_EQ(seen.slice, "train-000042-a1");
  EXPECT_FALSE(seen.queued || seen.foreign);
  EXPECT_THAT(seen.nodes, IsEmpty());
}

}  // namespace
}  // namespace jobman::controller

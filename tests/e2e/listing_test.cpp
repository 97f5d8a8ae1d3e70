// Listings that are not what exists: nothing is lost, deleted or forgotten because of them.
#include "jobman/base/strings.hpp"
#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Listing : public RehearsalInEachWay {
 protected:
  /// The next listings, of nodes and of queued resources, have that fault.
  void ListingsAre(const std::string& fault, int times) {
    for (const char* method : {"nodes.list", "queuedResources.list"}) {
      Sim({"fault", method, fault, "--times", std::to_string(times)});
    }
  }
  /// Waits until the controller has seen that many.
  void AwaitListings(std::int64_t more) {
    const std::int64_t before = Lists();
    ASSERT_TRUE(place().Until("listings", [&] { return Lists() >= before + more; }));
  }
  void TheJobRunsOn() {
    EXPECT_EQ(StateOf(), "RUNNING");
    EXPECT_EQ(Attempt(), 1);
    EXPECT_EQ(Deletes(), 0);
    EXPECT_EQ(Creates(), way().Requests());
    EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
  }

 private:
  static std::int64_t Lists() {
    const auto log = base::ParseJson(place().Sim({"requests"}).out);
    return log.ok() ? base::GetInt(base::GetMember(*log, "counts"), "nodes.list") : 0;
  }
};

TEST_P(Listing, EmptyOnesDoNotEndAnAttempt) {
  CreateAndRun();
  ListingsAre("list_empty", 1000);
  AwaitListings(8);
  TheJobRunsOn();
  Sim({"calm"});
  AwaitListings(2);
  TheJobRunsOn();
}

TEST_P(Listing, PartialOnesDoNotEndAnAttempt) {
  CreateAndRun();
  ListingsAre("list_part", 1000);
  AwaitListings(8);
  TheJobRunsOn();
}

/// Only a GET by name says what became of the slice.
TEST_P(Listing, OnesThatShowItAsLostElsewhereOrAsSomebodysDoNotEndAnAttempt) {
  CreateAndRun();
  for (const char* fault : {"list_lost", "list_foreign", "list_moved"}) {
    ListingsAre(fault, 1000);
    AwaitListings(4);
    TheJobRunsOn();
    Sim({"calm"});
  }
  ListingsAre("list_foreign", 1000);
  Sim({"preempt", way().Node(Slice())});
  ASSERT_TRUE(place().Until("the preemption to count",
                            [&] { return Spent() == "preemption 1, failure 0, infra 0"; }));
  Sim({"calm"});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
}

TEST_P(Listing, UnreachableZonesAreToldAndAwaited) {
  CreateAndRun();
  ListingsAre("list_unreachable", 1000);
  EXPECT_TRUE(WhySays("the cloud has not answered for"));
  TheJobRunsOn();
}

TEST_P(Listing, WhatReallyVanishesIsStillNoticed) {
  CreateAndRun();
  ListingsAre("list_empty", 3);
  AwaitListings(4);
  TheJobRunsOn();
  Sim({"preempt", way().Node(Slice()), "--as", "gone"});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_EQ(Spent(), "preemption 1, failure 0, infra 0");
}

TEST_P(Listing, WhatVanishesWhileListingsAreEmptyIsNoticed) {
  CreateAndRun();
  ListingsAre("list_empty", 1000);
  AwaitListings(3);
  TheJobRunsOn();
  Sim({"delete", way().Resource(Slice())});
  ASSERT_TRUE(place().Until("the attempt to end", [&] {
    return Attempt() > 1 || Spent() != "preemption 0, failure 0, infra 0";
  }));
  Sim({"calm"});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
}

TEST_P(Listing, EmptyOnesDoNotFinishADelete) {
  CreateAndRun();
  // The cloud takes its time: the slice exists until the operation has ended.
  Sim({"set", "delays.delete=6s"});
  ListingsAre("list_empty", 1000);
  const Ran deleted = Jobman({"delete", id(), "--wait"});
  EXPECT_EQ(deleted.code, 0) << deleted.All();
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice()))) << "DELETED means that nothing is left";
  Sim({"set", "delays.delete=0s"});
}

/// Nor does a wrong answer of a GET: what has our name is deleted before it counts as gone.
TEST_P(Listing, AWrongNotFoundDoesNotFinishADelete) {
  CreateAndRun();
  Sim({"fault", "*.get", "not_found", "--times", "1000"});
  const Ran deleted = Jobman({"delete", id(), "--wait"});
  EXPECT_EQ(deleted.code, 0) << deleted.All();
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice()))) << "DELETED means that nothing is left";
}

INSTANTIATE_TEST_SUITE_P(Ways, Listing, kEachWay, NameOf);

}  // namespace
}  // namespace jobman::test

#include "jobman/core/site.hpp"

#include <gtest/gtest.h>

#include "jobman/core/flaw.hpp"
#include "jobman/core/reconcile.hpp"
#include "tests/support/sample_job.hpp"

namespace jobman::core {
namespace {

Site Home() {
  return {.machine = "m1",
          .cards = {"42:01:0a:00:00:02", "52:54:00:00:00:01"},
          .host = "laptop",
          .path = "/home/alice/store",
          .file = 7};
}

bool IsKnown(const Site& here, const Site& known = Home()) {
  return FindSite(here, {known}).has_value();
}

TEST(FindSite, IsTheSameMachineWithTheSameFile) {
  EXPECT_TRUE(IsKnown(Home()));
  Site restored = Home();
  restored.file = 8;
  EXPECT_FALSE(IsKnown(restored)) << "the original may have been moved aside";
  Site moved = Home();
  moved.path = "/home/alice/elsewhere";
  EXPECT_TRUE(IsKnown(moved)) << "a copy would be another file";
  moved.file = 8;
  EXPECT_FALSE(IsKnown(moved)) << "a copy";
  moved.file = 0;
  Site unseen = Home();
  unseen.file = 0;
  EXPECT_FALSE(IsKnown(moved, unseen)) << "two that are unknown are not the same";
}

TEST(FindSite, AnotherMachineIsTheSameOnlyOnAFileSystemOfBoth) {
  Site clone = Home();
  clone.machine = "m2";
  clone.cards = {};
  EXPECT_FALSE(IsKnown(clone));
  clone.shared = true;
  EXPECT_FALSE(IsKnown(clone)) << "it was not shared when it was recorded";
  Site network = Home();
  network.shared = true;
  EXPECT_TRUE(IsKnown(clone, network));
  clone.file = 8;
  EXPECT_FALSE(IsKnown(clone, network)) << "a copy on the same server";
}

TEST(FindSite, AClonedMachineHasOtherCards) {
  Site clone = Home();
  clone.cards = {"42:01:0a:00:00:03"};
  EXPECT_FALSE(IsKnown(clone));
  clone.cards.push_back(Home().cards[1]);
  EXPECT_TRUE(IsKnown(clone)) << "one card was replaced";
  clone.cards.clear();
  EXPECT_TRUE(IsKnown(clone)) << "they cannot be seen, as in a container";
}

TEST(FindSite, AMachineWithoutAnIdIsKnownByPathAndFile) {
  Site container = Home();
  container.machine.clear();
  container.cards.clear();
  EXPECT_TRUE(IsKnown(container, container));
  Site other = container;
  other.file = 8;
  EXPECT_FALSE(IsKnown(other, container));
  other = container;
  other.path = "/work";
  EXPECT_FALSE(IsKnown(other, container));
  other = container;
  other.cards = Home().cards;
  Site carded = other;
  carded.path = "/home/alice/elsewhere";
  EXPECT_TRUE(IsKnown(carded, other)) << "its cards tell which machine it is";
}

TEST(FindSite, AnyOfTheRecordedSitesWillDo) {
  Site second = Home();
  second.machine = "m2";
  second.cards = {};
  EXPECT_EQ(FindSite(second, {Home(), second}), 1u);
  EXPECT_EQ(FindSite(second, {}), std::nullopt);
}

TEST(WithSite, ReplacesTheRecordOfThatPathAndForgetsTheOldest) {
  Site restored = Home();
  restored.file = 8;
  EXPECT_EQ(WithSite({Home()}, restored), std::vector{restored});
  std::vector<Site> many;
  for (int number = 0; number < 20; ++number) {
    Site site = Home();
    site.machine = "m" + std::to_string(number);
    many = WithSite(many, site);
  }
  ASSERT_EQ(many.size(), 16u);
  EXPECT_EQ(many.back().machine, "m19");
}

TEST(Sites, AreReadAsTheyWereWritten) {
  Site network = Home();
  network.shared = true;
  network.file = ~std::uint64_t{0};
  const std::vector<Site> sites = {Home(), network, Site{}};
  EXPECT_EQ(SitesFromJson(SitesToJson(sites)).value(), sites);
  EXPECT_FALSE(SitesFromJson(base::Json::object()).ok());
}

TEST(LeftToOriginal, AJobThatIsNotOverEndsAndHoldsNothing) {
  const TimePoint now = test::kNow;
  Job job = test::BusyJob(test::SampleJob("train"));
  job.state = Running{};
  job.attempt_end.reset();
  const auto left = LeftToOriginal(job, now);
  ASSERT_TRUE(left);
  EXPECT_EQ(StateName(left->state), "CANCELLED");
  EXPECT_FALSE(left->slice || left->stage);
  EXPECT_TRUE(left->abandoned.empty());
  EXPECT_EQ(left->attempt_end->outcome, AttemptOutcome::kCancelled);
  EXPECT_EQ(left->why,
            "left to the store that this one is a copy of, with slice " + job.slice->ref.name);
  EXPECT_FALSE(NeedsCare(*left));
  EXPECT_EQ(FlawOf(*left), std::nullopt);
  EXPECT_FALSE(LeftToOriginal(*left, now)) << "at rest";
}

TEST(LeftToOriginal, AJobThatIsOverKeepsItsOutcome) {
  Job job = test::BusyJob(test::SampleJob("train"));
  job.state = Done{.outcome = Outcome::kFailed, .exit_code = 3};
  const auto left = LeftToOriginal(job, test::kNow);
  ASSERT_TRUE(left);
  EXPECT_EQ(StateName(left->state), "FAILED");
  EXPECT_FALSE(left->slice);
  EXPECT_FALSE(NeedsCare(*left));
}

}  // namespace
}  // namespace jobman::core

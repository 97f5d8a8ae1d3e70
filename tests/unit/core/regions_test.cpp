#include "jobman/core/regions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jobman::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Regions, AZoneIsInOne) {
  EXPECT_EQ(RegionOf("us-central2-b"), "us-central2");
  EXPECT_EQ(RegionOf("us-south1-ai1b"), "us-south1");
}

TEST(Regions, ABucketIsInOneInTwoOrInNone) {
  EXPECT_THAT(RegionsOf({.name = "us-central2"}), ElementsAre("us-central2"));
  EXPECT_THAT(RegionsOf({.name = "nam4"}), ElementsAre("us-central1", "us-east1"));
  EXPECT_THAT(RegionsOf({.name = "us", .regions = {"us-west1", "us-east5"}}),
              ElementsAre("us-west1", "us-east5"));
  EXPECT_THAT(RegionsOf({.name = "us"}), IsEmpty());
  EXPECT_THAT(RegionsOf({.name = "eur9"}), IsEmpty()) << "not known here";
  EXPECT_THAT(RegionsOf({.name = "us-central1", .regions = {"us-central1-a"}}),
              ElementsAre("us-central1"))
      << "a bucket in one zone";
}

TEST(Regions, ToReadWhereTheDataAreCostsNothing) {
  EXPECT_EQ(PriceOfReading({.name = "us-central2"}, "us-central2"), 0);
  EXPECT_EQ(PriceOfReading({.name = "nam4"}, "us-east1"), 0);
  EXPECT_EQ(
      PriceOfReading({.name = "eu", .regions = {"europe-west1", "europe-west4"}}, "europe-west4"),
      0);
}

TEST(Regions, ARegionWhoseNameOnlyBeginsAlikeIsAnother) {
  EXPECT_EQ(PriceOfReading({.name = "europe-west1"}, "europe-west10"), 20);
}

TEST(Regions, TheFartherTheDearer) {
  EXPECT_EQ(PriceOfReading({.name = "us-central1"}, "us-central2"), 20);
  EXPECT_EQ(PriceOfReading({.name = "us"}, "us-central2"), 20) << "from a multi-region, always";
  EXPECT_EQ(PriceOfReading({.name = "nam4"}, "us-central2"), 20);
  EXPECT_EQ(PriceOfReading({.name = "northamerica-northeast1"}, "us-central2"), 20);
  EXPECT_EQ(PriceOfReading({.name = "europe-west4"}, "us-central2"), 50);
  EXPECT_EQ(PriceOfReading({.name = "us-central2"}, "europe-west4"), 50);
  EXPECT_EQ(PriceOfReading({.name = "asia"}, "asia-northeast1"), 80);
  EXPECT_EQ(PriceOfReading({.name = "asia-east1"}, "europe-west4"), 80);
  EXPECT_EQ(PriceOfReading({.name = "us"}, "southamerica-west1"), 140);
  EXPECT_EQ(PriceOfReading({.name = "mars-north1"}, "us-central2"), std::nullopt);
  EXPECT_EQ(PriceOfReading({.name = "us"}, "mars-north1"), std::nullopt);
}

TEST(Regions, FromSomewhereElseItCostsBetweenTheNearestAndTheFarthest) {
  EXPECT_EQ(PricesOfReadingElsewhere("us-central2"), (PriceRange{.least = 20, .most = 140}));
  EXPECT_EQ(PricesOfReadingElsewhere("asia-east1"), (PriceRange{.least = 80, .most = 140}));
  EXPECT_EQ(PricesOfReadingElsewhere("mars-north1"), std::nullopt);
}

}  // namespace
}  // namespace jobman::core

#include "jobman/core/prices.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace jobman::core {
namespace {

TEST(Prices, AreOfAllChipsOfTheSlice) {
  TpuSpec tpu{.accelerator = "v4-32", .zone = "us-central2-b"};
  tpu.pricing = Pricing::kOnDemand;
  EXPECT_NEAR(HourlyPrice(tpu).value_or(0), 16 * 3.22, 0.001);
  tpu.pricing = Pricing::kSpot;
  EXPECT_NEAR(HourlyPrice(tpu).value_or(0), 16 * 0.9215, 0.001);
  tpu.num_slices = 2;
  EXPECT_NEAR(HourlyPrice(tpu).value_or(0), 32 * 0.9215, 0.001);
}

TEST(Prices, TheListNamesTheZonesOfAGeneration) {
  EXPECT_EQ(ZonesWithPrice("v4"), std::vector<std::string>{"us-central2-b"});
  EXPECT_TRUE(ZonesWithPrice("v9").empty());
  const auto all = ZonesWithPrice("");
  EXPECT_EQ(std::count(all.begin(), all.end(), "us-central1-a"), 1) << "of several generations";
}

TEST(Prices, OfAChipAreThoseOfItsGenerationInTheZone) {
  EXPECT_EQ(ChipPrices("v4", "us-central2-b"), (HourPrices{.on_demand = 3.22, .spot = 0.9215}));
  EXPECT_EQ(ChipPrices("v6e", "southamerica-west1-a"), HourPrices{.on_demand = 2.7});
  EXPECT_EQ(ChipPrices("v4", "us-east5-a"), HourPrices{});
}

TEST(Prices, WhatIsNotKnownHasNone) {
  EXPECT_FALSE(HourlyPrice({.accelerator = "v4-32", .zone = "mars-north1-a"}));
  EXPECT_FALSE(HourlyPrice({.accelerator = "v9-1", .zone = "us-central2-b"}));
  EXPECT_FALSE(HourlyPrice(
      {.pricing = Pricing::kSpot, .accelerator = "v6e-8", .zone = "southamerica-west1-a"}));
  for (const Pricing pricing : {Pricing::kFlexStart, Pricing::kReservationBound}) {
    EXPECT_FALSE(HourlyPrice({.pricing = pricing, .accelerator = "v6e-8", .zone = "us-east5-a"}));
  }
}

}  // namespace
}  // namespace jobman::core

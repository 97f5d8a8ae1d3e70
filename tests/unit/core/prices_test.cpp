#include "jobman/core/prices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace jobman::core {
namespace {

TEST(Prices, AreOfAllChipsOfTheSlice) {
  TpuSpec tpu{.accelerator = "v4-32", .zone = "us-central2-b"};
  tpu.pricing = Pricing::kOnDemand;
  EXPECT_NEAR(HourlyPrice(BuiltInPrices(), tpu).value_or(0), 16 * 3.22, 0.001);
  tpu.pricing = Pricing::kSpot;
  EXPECT_NEAR(HourlyPrice(BuiltInPrices(), tpu).value_or(0), 16 * 0.9215, 0.001);
  tpu.num_slices = 2;
  EXPECT_NEAR(HourlyPrice(BuiltInPrices(), tpu).value_or(0), 32 * 0.9215, 0.001);
}

TEST(Prices, TheListNamesTheZonesOfAGeneration) {
  EXPECT_EQ(ZonesWithPrice(BuiltInPrices(), "v4"), std::vector<std::string>{"us-central2-b"});
  EXPECT_TRUE(ZonesWithPrice(BuiltInPrices(), "v9").empty());
  const auto all = ZonesWithPrice(BuiltInPrices(), "");
  EXPECT_EQ(std::count(all.begin(), all.end(), "us-central1-a"), 1) << "of several generations";
}

TEST(Prices, OfAChipAreThoseOfItsGenerationInTheZone) {
  EXPECT_EQ(ChipPrices(BuiltInPrices(), "v4", "us-central2-b"),
            (HourPrices{.on_demand = 3.22, .spot = 0.9215}));
  EXPECT_EQ(ChipPrices(BuiltInPrices(), "v6e", "southamerica-west1-a"),
            HourPrices{.on_demand = 2.7});
  EXPECT_EQ(ChipPrices(BuiltInPrices(), "v4", "us-east5-a"), HourPrices{});
}

TEST(Prices, WhatIsNotKnownHasNone) {
  EXPECT_FALSE(HourlyPrice(BuiltInPrices(), {.accelerator = "v4-32", .zone = "mars-north1-a"}));
  EXPECT_FALSE(HourlyPrice(BuiltInPrices(), {.accelerator = "v9-1", .zone = "us-central2-b"}));
  EXPECT_FALSE(HourlyPrice(
      BuiltInPrices(),
      {.pricing = Pricing::kSpot, .accelerator = "v6e-8", .zone = "southamerica-west1-a"}));
  for (const Pricing pricing : {Pricing::kFlexStart, Pricing::kReservationBound}) {
    EXPECT_FALSE(HourlyPrice(BuiltInPrices(),
                             {.pricing = pricing, .accelerator = "v6e-8", .zone = "us-east5-a"}));
  }
}

TEST(Prices, OnDemandIsOfTheSameSlice) {
  const TpuSpec tpu{
      .pricing = Pricing::kSpot, .accelerator = "v4-32", .num_slices = 2, .zone = "us-central2-b"};
  EXPECT_NEAR(OnDemandPrice(BuiltInPrices(), tpu).value_or(0), 32 * 3.22, 0.001);
  TpuSpec flexible = tpu;
  flexible.pricing = Pricing::kFlexStart;
  EXPECT_TRUE(OnDemandPrice(BuiltInPrices(), flexible));
}

TEST(PriceList, ThatIsBuiltInHasItsDate) {
  ASSERT_EQ(BuiltInPrices().sources.size(), 1U);
  EXPECT_EQ(SourcesText(BuiltInPrices().sources), "skypilot-catalog 006059e, read 2026-11-26");
}

TEST(PriceList, OfTheUsersCountsBeforeTheOther) {
  const auto mine = ReadPriceList(R"({"source": "mine", "date": "2027-02-03",
      "usd_per_chip_hour": {"v4": {"us-central2-b": [3, null], "us-new1-a": [1, 0]}}})");
  ASSERT_TRUE(mine.ok()) << mine.error().message;
  const PriceList both = OverOther(*mine, BuiltInPrices());
  EXPECT_EQ(ChipPrices(both, "v4", "us-central2-b"), HourPrices{.on_demand = 3})
      << "spot is not known, whatever the other says";
  EXPECT_EQ(ChipPrices(both, "v4", "us-new1-a"), (HourPrices{.on_demand = 1, .spot = 0}));
  EXPECT_EQ(ChipPrices(both, "v2", "us-central1-b"),
            ChipPrices(BuiltInPrices(), "v2", "us-central1-b"));
  EXPECT_EQ(SourcesText(both.sources),
            "mine, read 2027-02-03; what that lacks: skypilot-catalog 006059e, read 2026-11-26");
}

TEST(PriceList, WhatIsWrongIsSaid) {
  const auto why = [](const std::string& text) {
    const auto read = ReadPriceList(text);
    return read.ok() ? std::string("it is read") : read.error().message;
  };
  const auto with = [&](const std::string& prices) {
    return why(R"({"date": "2027-02-03", "usd_per_chip_hour": )" + prices + "}");
  };
  EXPECT_EQ(with("{}"), "it is read");
  EXPECT_EQ(why("[]"), "no JSON object");
  EXPECT_EQ(why(R"({"dat": ""})"), "unknown key \"dat\"");
  EXPECT_EQ(why("{}"), "\"date\": no day such as \"2026-01-31\"");
  EXPECT_EQ(why(R"({"date": "2027-02-30"})"), why("{}"));
  EXPECT_EQ(why(R"({"date": "2027-02-03"})"), "usd_per_chip_hour: no object of generations");
  EXPECT_EQ(with(R"({"v5e": {}})"),
            "usd_per_chip_hour.v5e: generations are v2, v3, v4, v5litepod, v5p and v6e");
  EXPECT_EQ(with(R"({"v4": []})"), "usd_per_chip_hour.v4: no object of zones");
  for (const char* pair : {"1", "[1]", "[1, -1]", "[1, \"2\"]", "[1, 2, 3]"}) {
    EXPECT_EQ(with(R"({"v4": {"z-a": )" + std::string(pair) + "}}"),
              "usd_per_chip_hour.v4.z-a: no [on demand, spot] in USD, null where one is not known")
        << pair;
  }
}

}  // namespace
}  // namespace jobman::core

#include "jobman/core/job_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jobman::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HostSet, ReadsAllNumbersAndRanges) {
  EXPECT_TRUE(ParseHostSet("all")->all);
  EXPECT_TRUE(ParseHostSet(" all ")->all);
  EXPECT_THAT(ParseHostSet("7")->numbers, ElementsAre(7));
  EXPECT_THAT(ParseHostSet("3-5, 0")->numbers, ElementsAre(0, 3, 4, 5));
}

TEST(HostSet, WritesWhatItReads) {
  for (const std::string text : {"all", "0", "0-3", "0,3-7", "1,3,5"}) {
    EXPECT_EQ(HostSetText(*ParseHostSet(text)), text);
  }
}

TEST(HostSet, ErrorsNameThePart) {
  EXPECT_THAT(ParseHostSet("").error().message, HasSubstr("\"\" is neither"));
  EXPECT_THAT(ParseHostSet("0,x").error().message, HasSubstr("\"x\" is neither"));
  EXPECT_THAT(ParseHostSet("0,-3").error().message, HasSubstr("\"-3\" is neither"));
  EXPECT_THAT(ParseHostSet("0-").error().message, HasSubstr("\"0-\" is neither"));
  EXPECT_THAT(ParseHostSet("100000").error().message, HasSubstr("\"100000\" is neither"));
  EXPECT_EQ(ParseHostSet("5-3").error().message, "the range \"5-3\" runs backwards");
  EXPECT_EQ(ParseHostSet("1,0-3").error().message, "host 1 is named twice");
  EXPECT_EQ(ParseHostSet("0-99999,0-99999,0-99999").error().message, "host 0 is named twice");
}

TEST(HostSet, ContainsItsNumbersOnly) {
  EXPECT_TRUE(HostSet{}.Contains(1023));
  const HostSet some{.all = false, .numbers = {0, 3, 4}};
  EXPECT_TRUE(some.Contains(3));
  EXPECT_FALSE(some.Contains(2));
}

TEST(SpecWords, GoThereAndBack) {
  for (const auto mode : {AllocationMode::kQueuedResources, AllocationMode::kTpuVm}) {
    EXPECT_EQ(AllocationModeFromName(AllocationModeName(mode)), mode);
  }
  for (const auto pricing :
       {Pricing::kSpot, Pricing::kOnDemand, Pricing::kPreemptible, Pricing::kReserved}) {
    EXPECT_EQ(PricingFromName(PricingName(pricing)), pricing);
  }
  EXPECT_EQ(PricingFromName("cheap"), std::nullopt);
  EXPECT_EQ(AllocationModeFromName(""), std::nullopt);
}

}  // namespace
}  // namespace jobman::core

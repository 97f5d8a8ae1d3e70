#include "jobman/core/job_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/values_of.hpp"

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

TEST(HostSet, WritesTheSameText) {
  for (const std::string text : {"all", "0", "0-3", "0,3-7", "1,3,5"}) {
    EXPECT_EQ(HostSetText(*ParseHostSet(text)), text);
  }
}

TEST(HostSet, ErrorsNameThePart) {
  EXPECT_THAT(ParseHostSet("").error().message, HasSubstr("\"\" is not a host"));
  EXPECT_THAT(ParseHostSet("0,x").error().message, HasSubstr("\"x\" is not a host"));
  EXPECT_THAT(ParseHostSet("0,-3").error().message, HasSubstr("\"-3\" is not a host"));
  EXPECT_THAT(ParseHostSet("0-").error().message, HasSubstr("\"0-\" is not a host"));
  EXPECT_THAT(ParseHostSet("100000").error().message, HasSubstr("\"100000\" is not a host"));
  EXPECT_EQ(ParseHostSet("5-3").error().message, "the range \"5-3\" is backwards");
  EXPECT_EQ(ParseHostSet("1,0-3").error().message, "host 1 is listed twice");
  EXPECT_EQ(ParseHostSet("0-99999,0-99999,0-99999").error().message, "host 0 is listed twice");
}

TEST(HostSet, ContainsItsNumbersOnly) {
  EXPECT_TRUE(HostSet{}.Contains(1023));
  const HostSet some{.all = false, .numbers = {0, 3, 4}};
  EXPECT_TRUE(some.Contains(3));
  EXPECT_FALSE(some.Contains(2));
}

template <class Enum>
void RoundTrip(std::size_t count) {
  EXPECT_EQ(test::ValuesOf<Enum>().size(), count);
  for (const Enum value : test::ValuesOf<Enum>()) EXPECT_EQ(FromWord<Enum>(WordOf(value)), value);
  EXPECT_EQ(FromWord<Enum>("nonsense"), std::nullopt);
  EXPECT_EQ(FromWord<Enum>(""), std::nullopt);
}

TEST(SpecWords, RoundTrip) {
  RoundTrip<AllocationMode>(2);
  RoundTrip<Pricing>(6);
  RoundTrip<WatchdogAction>(3);
  RoundTrip<HookEvent>(9);
  RoundTrip<SmtpTls>(3);
}

}  // namespace
}  // namespace jobman::core

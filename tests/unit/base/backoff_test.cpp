#include "jobman/base/backoff.hpp"

#include <gtest/gtest.h>

#include <climits>

namespace jobman::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Backoff kBackoff{.base = seconds{1}, .cap = minutes{5}, .factor = 2.0};

TEST(Backoff, BoundDoublesUntilTheCap) {
  EXPECT_EQ(kBackoff.Bound(1), seconds{1});
  EXPECT_EQ(kBackoff.Bound(2), seconds{2});
  EXPECT_EQ(kBackoff.Bound(9), seconds{256});
  EXPECT_EQ(kBackoff.Bound(10), minutes{5});
}

TEST(Backoff, BoundSurvivesAnyNumberOfAttempts) {
  EXPECT_EQ(kBackoff.Bound(INT_MAX), minutes{5});
  EXPECT_EQ(kBackoff.Bound(0), seconds{1});
  EXPECT_EQ(kBackoff.Bound(INT_MIN), seconds{1});
}

TEST(Backoff, BaseAboveTheCapGivesTheCap) {
  constexpr Backoff kSteep{.base = minutes{10}, .cap = minutes{5}};
  EXPECT_EQ(kSteep.Bound(1), minutes{5});
}

TEST(Backoff, AStreakIsHalvedForEachQuietCap) {
  constexpr Backoff kShort{.base = seconds{1}, .cap = seconds{8}};
  EXPECT_EQ(StreakAfter(4, seconds{7}, kShort), 4);
  EXPECT_EQ(StreakAfter(4, seconds{8}, kShort), 2);
  EXPECT_EQ(StreakAfter(4, seconds{17}, kShort), 1);
  EXPECT_EQ(StreakAfter(4, minutes{60}, kShort), 0);
  EXPECT_EQ(StreakAfter(4, seconds{-60}, kShort), 4);
}

TEST(Backoff, AStreakBeyondTheCapIsForgottenAsSoonAsOneThatReachesIt) {
  constexpr Backoff kShort{.base = seconds{1}, .cap = seconds{8}};
  EXPECT_EQ(StreakAfter(1000, seconds{0}, kShort), 4);
  EXPECT_EQ(StreakAfter(1000, seconds{8}, kShort), 2);
}

TEST(Backoff, FullJitterIsTheFractionOfTheBound) {
  EXPECT_EQ(kBackoff.FullJitter(3, 0.0), seconds{0});
  EXPECT_EQ(kBackoff.FullJitter(3, 0.5), seconds{2});
  EXPECT_EQ(kBackoff.FullJitter(3, 0.25), seconds{1});
  EXPECT_LT(kBackoff.FullJitter(3, 0.9999), seconds{4});
}

TEST(Backoff, FullJitterNeverLeavesTheBounds) {
  EXPECT_EQ(kBackoff.FullJitter(3, -7.0), seconds{0});
  EXPECT_EQ(kBackoff.FullJitter(3, 7.0), seconds{4});
}

TEST(Backoff, FactorOneWaitsTheSameEveryTime) {
  constexpr Backoff kFlat{.base = milliseconds{250}, .cap = minutes{1}, .factor = 1.0};
  EXPECT_EQ(kFlat.Bound(1), milliseconds{250});
  EXPECT_EQ(kFlat.Bound(1000), milliseconds{250});
}

}  // namespace
}  // namespace jobman::base

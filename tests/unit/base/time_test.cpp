#include "jobman/base/time.hpp"

#include <gtest/gtest.h>

namespace jobman::base {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kMorning{std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + hours{3} +
                             minutes{57} + milliseconds{123}};

TEST(Rfc3339, FormatsInUtcWithMilliseconds) {
  EXPECT_EQ(FormatRfc3339(kMorning), "2026-11-21T03:57:00.123Z");
  EXPECT_EQ(FormatRfc3339(FromMillis(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatRfc3339(FromMillis(-1)), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(FormatDateTime(kMorning), "2026-11-21 03:57:00");
}

struct Parse {
  const char* text;
  TimePoint time;
};

TEST(Rfc3339, ParsesWhatTheApiAndOthersSend) {
  const Parse cases[] = {
      {"2026-11-21T03:57:00.123Z", kMorning},
      {"2026-11-21T03:57:00.123456789Z", kMorning},
      {"2026-11-21T03:57:00.1Z", kMorning - milliseconds{23}},
      {"2026-11-21T03:57:00Z", kMorning - milliseconds{123}},
      {"2026-11-21t03:57:00z", kMorning - milliseconds{123}},
      {"2026-11-21 03:57:00.123Z", kMorning},
      {"2026-11-21T04:57:00.123+01:00", kMorning},
      {"2026-11-20T20:27:00.123-07:30", kMorning},
      {"2024-02-29T00:00:00Z", TimePoint{std::chrono::sys_days{std::chrono::year{2024} / 2 / 29}}},
      {"2016-12-31T23:59:60Z", TimePoint{std::chrono::sys_days{std::chrono::year{2017} / 1 / 1}}},
      {"1969-12-31T23:59:59.999Z", FromMillis(-1)},
  };
  for (const Parse& row : cases) {
    const auto parsed = ParseRfc3339(row.text);
    ASSERT_TRUE(parsed.ok()) << row.text;
    EXPECT_EQ(*parsed, row.time) << row.text << " gave " << FormatRfc3339(*parsed);
  }
}

TEST(Rfc3339, RefusesInvalidTimes) {
  for (const char* text : {"",
                           "2026-11-21",
                           "2026-11-21T03:57:00",
                           "2026-11-21T03:57Z",
                           "2026-13-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-11-21T24:00:00Z",
                           "2026-11-21T03:60:00Z",
                           "2026-11-21T03:57:61Z",
                           "2026-11-21T03:57:00.Z",
                           "2026-11-21T03:57:00.1234567890Z",
                           "2026-11-21T03:57:00Z ",
                           "2026-11-21T03:57:00+1:00",
                           "2026-11-21T03:57:00+24:00",
                           "2026-11-21T03:57:00+01:60",
                           "2026-11-21T03:57:00+",
                           "26-11-21T03:57:00Z",
                           "+026-11-21T03:57:00Z",
                           "2026-11-21T-3:57:00Z",
                           "yesterday"}) {
    EXPECT_FALSE(ParseRfc3339(text).ok()) << text;
  }
}

TEST(Rfc3339, RoundTripsManyTimes) {
  for (std::int64_t day = -400; day < 40'000; day += 13) {
    const TimePoint time = FromMillis(day * 86'400'123);
    const auto parsed = ParseRfc3339(FormatRfc3339(time));
    ASSERT_TRUE(parsed.ok());
    ASSERT_EQ(*parsed, time);
  }
}

struct Length {
  const char* text;
  Duration duration;
};

TEST(ParseDuration, TakesUnitsAndBareSeconds) {
  const Length cases[] = {
      {"90s", seconds{90}},
      {"15m", minutes{15}},
      {"1h30m", minutes{90}},
      {"2d", days{2}},
      {"250ms", milliseconds{250}},
      {"90", seconds{90}},
      {"0", seconds{0}},
      {"1d2h3m4s5ms", days{1} + hours{2} + minutes{3} + seconds{4} + milliseconds{5}},
      {"1.5h", minutes{90}},
      {"0.4s", milliseconds{400}},
      {"2.5", milliseconds{2500}},
  };
  for (const Length& row : cases) {
    const auto parsed = ParseDuration(row.text);
    ASSERT_TRUE(parsed.ok()) << row.text;
    EXPECT_EQ(*parsed, row.duration) << row.text;
  }
}

TEST(ParseDuration, RefusesMistakesAndSaysWhatToWrite) {
  for (const char* text : {"", "h", "-5s", "5 s", "5x", "1m1h", "1h2h", "1h30", "s5", ".", "1..5s",
                           "5S", "1e3s", "nan", "5ss"}) {
    const auto parsed = ParseDuration(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
    EXPECT_NE(parsed.error().hint.find("1h30m"), std::string::npos);
  }
}

TEST(ParseDuration, NamesTheLimitOfWhatIsTooLong) {
  for (const char* text : {"99999999d", "999999999h", "36600d1ms", "99999999999999999999s"}) {
    const auto parsed = ParseDuration(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code, Code::kOutOfRange);
    EXPECT_EQ(parsed.error().message,
              "\"" + std::string(text) + "\" is too long: the longest duration is 36600d");
  }
  EXPECT_EQ(*ParseDuration("36600d"), kLongestDuration);
}

TEST(FormatDuration, ShowsTheTwoLargestUnits) {
  const Length cases[] = {
      {"0s", seconds{0}},
      {"5ms", milliseconds{5}},
      {"0.4s", milliseconds{450}},
      {"1.5s", milliseconds{1500}},
      {"2s", milliseconds{2000}},
      {"59s", milliseconds{59'900}},
      {"3m20s", seconds{200}},
      {"3m", minutes{3}},
      {"5h2m", hours{5} + minutes{2} + seconds{59}},
      {"2d3h", hours{51} + minutes{59}},
      {"400d", days{400}},
      {"-3m", -minutes{3}},
  };
  for (const Length& row : cases) EXPECT_EQ(FormatDuration(row.duration), row.text);
}

TEST(FormatExactDuration, LosesNothing) {
  EXPECT_EQ(FormatExactDuration(Duration{0}), "0s");
  EXPECT_EQ(FormatExactDuration(seconds{90}), "1m30s");
  EXPECT_EQ(FormatExactDuration(hours{36} + Duration{5}), "1d12h5ms");
  for (std::int64_t millis = 1; millis < 40'000'000'000; millis = millis * 3 + 1) {
    EXPECT_EQ(*ParseDuration(FormatExactDuration(Duration{millis})), Duration{millis});
  }
}

TEST(FormatDuration, RoundTripsThroughParseDuration) {
  for (const Duration whole : {Duration{seconds{7}}, Duration{seconds{200}}, Duration{hours{26}}}) {
    EXPECT_EQ(*ParseDuration(FormatDuration(whole)), whole);
  }
}

TEST(FormatProtoDuration, IsSecondsWithThreeDecimalsWhereNeeded) {
  EXPECT_EQ(FormatProtoDuration(hours{6}), "21600s");
  EXPECT_EQ(FormatProtoDuration(milliseconds{1500}), "1.500s");
  EXPECT_EQ(FormatProtoDuration(milliseconds{-5}), "-0.005s");
}

}  // namespace
}  // namespace jobman::base

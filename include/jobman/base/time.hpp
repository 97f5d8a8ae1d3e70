#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "jobman/base/result.hpp"

namespace jobman::base {

using Duration = std::chrono::milliseconds;
using TimePoint = std::chrono::sys_time<Duration>;

/// "2026-11-21T03:57:00.123Z" (RFC 3339, UTC, milliseconds).
std::string FormatRfc3339(TimePoint time);
/// RFC 3339 with Z or an offset and up to nine decimals (the API sends nanoseconds).
Result<TimePoint> ParseRfc3339(std::string_view text);
/// "2026-11-21 03:57:00" in UTC, for people.
std::string FormatDateTime(TimePoint time);

/// A hundred years: far beyond any use, and far from overflow.
inline constexpr Duration kLongestDuration = std::chrono::hours{24} * 36'600;
/// "90s", "15m", "1h30m", "2d", "250ms"; a bare number is seconds. kInvalidArgument if it is none,
/// kOutOfRange if it is longer than kLongestDuration.
Result<Duration> ParseDuration(std::string_view text);
/// The two largest units, for people: "0.4s", "59s", "3m20s", "5h2m", "2d3h".
std::string FormatDuration(Duration duration);
/// Exact, as ParseDuration() reads it back: "90ms", "1m30s", "1h30m"; "0s". Not for negative ones.
std::string FormatExactDuration(Duration duration);
/// google.protobuf.Duration in JSON: "21600s".
std::string FormatProtoDuration(Duration duration);

/// Milliseconds since the epoch, as stored.
inline std::int64_t ToMillis(TimePoint time) {
  return time.time_since_epoch().count();
}
inline TimePoint FromMillis(std::int64_t millis) {
  return TimePoint{Duration{millis}};
}

}  // namespace jobman::base

#include "jobman/base/time.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <cmath>

namespace jobman::base {
namespace {

using std::chrono::days;
using std::chrono::floor;

struct Civil {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<Duration> clock;
  explicit Civil(TimePoint time) : date(floor<days>(time)), clock(time - floor<days>(time)) {}
};

std::string FormatWith(TimePoint time, char between) {
  const Civil civil(time);
  return fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}", static_cast<int>(civil.date.year()),
                     static_cast<unsigned>(civil.date.month()),
                     static_cast<unsigned>(civil.date.day()), between, civil.clock.hours().count(),
                     civil.clock.minutes().count(), civil.clock.seconds().count());
}

/// Reads a text from the left; after the first mismatch every read fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return rest_.empty(); }
  bool At(char c) const { return !rest_.empty() && rest_.front() == c; }

  /// Exactly `digits` decimal digits.
  int Number(std::size_t digits) {
    int number = 0;
    for (std::size_t i = 0; i < digits; ++i) number = number * 10 + Digit();
    return number;
  }
  char OneOf(std::string_view allowed) {
    if (rest_.empty() || allowed.find(rest_.front()) == std::string_view::npos) return Fail();
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  /// One to nine decimals as milliseconds, cut off.
  int Fraction() {
    int millis = 0;
    int digits = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++digits) {
      const int digit = Digit();
      if (digits < 3) millis = millis * 10 + digit;
    }
    if (digits < 1 || digits > 9) Fail();
    for (; digits < 3; ++digits) millis *= 10;
    return millis;
  }

 private:
  int Digit() {
    const bool is_digit = !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9';
    if (!is_digit) return Fail();
    const int digit = rest_.front() - '0';
    rest_.remove_prefix(1);
    return digit;
  }
  char Fail() {
    ok_ = false;
    rest_ = {};
    return '\0';
  }
  std::string_view rest_;
  bool ok_ = true;
};

struct Fields {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, millis = 0;
  std::chrono::minutes offset{0};
};

std::chrono::minutes ReadOffset(Reader& reader) {
  const char sign = reader.OneOf("Zz+-");
  if (!reader.ok() || sign == 'Z' || sign == 'z') return std::chrono::minutes{0};
  const int hours = reader.Number(2);
  reader.OneOf(":");
  const int minutes = reader.Number(2);
  // Limits of RFC 3339; a value out of range is reported by a read that cannot succeed.
  if (hours > 23 || minutes > 59) reader.OneOf("");
  return std::chrono::minutes{(sign == '-' ? -1 : 1) * (hours * 60 + minutes)};
}

Fields ReadFields(Reader& reader) {
  Fields fields;
  fields.year = reader.Number(4);
  reader.OneOf("-");
  fields.month = reader.Number(2);
  reader.OneOf("-");
  fields.day = reader.Number(2);
  reader.OneOf("Tt ");
  fields.hour = reader.Number(2);
  reader.OneOf(":");
  fields.minute = reader.Number(2);
  reader.OneOf(":");
  fields.second = reader.Number(2);
  if (reader.At('.')) {
    reader.OneOf(".");
    fields.millis = reader.Fraction();
  }
  fields.offset = ReadOffset(reader);
  return fields;
}

struct Unit {
  std::string_view name;
  std::int64_t millis;
};
constexpr std::array kUnits = {Unit{"ms", 1}, Unit{"s", 1'000}, Unit{"m", 60'000},
                               Unit{"h", 3'600'000}, Unit{"d", 86'400'000}};

Error BadDuration(std::string_view text) {
  return InvalidArgument(fmt::format("\"{}\" is not a duration", text),
                         "write for example 90s, 15m, 1h30m or 2d");
}

Error TooLong(std::string_view text) {
  Error error = InvalidArgument(fmt::format("\"{}\" is too long: the longest duration is {}", text,
                                            FormatExactDuration(kLongestDuration)),
                                "write for example 90s, 15m, 1h30m or 2d");
  error.code = Code::kOutOfRange;
  return error;
}

/// Takes digits with at most one decimal point from the front; negative when there are none.
double TakeNumber(std::string_view& text) {
  double number = 0;
  double scale = 0;
  std::size_t digits = 0;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && scale == 0) {
      scale = 1;
    } else if (text[i] >= '0' && text[i] <= '9') {
      number = number * 10 + (text[i] - '0');
      scale *= 10;
      ++digits;
    } else {
      break;
    }
  }
  text.remove_prefix(i);
  if (digits == 0) return -1;
  return scale > 0 ? number / scale : number;
}

std::string_view TakeUnit(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("dhms"), text.size());
  const std::string_view unit = text.substr(0, end);
  text.remove_prefix(end);
  return unit;
}

std::int64_t MillisOf(std::string_view unit) {
  for (const Unit& known : kUnits) {
    if (known.name == unit) return known.millis;
  }
  return 0;
}

std::string TwoUnits(std::int64_t large, char large_name, std::int64_t small, char small_name) {
  if (small == 0) return fmt::format(FMT_COMPILE("{}{}"), large, large_name);
  return fmt::format(FMT_COMPILE("{}{}{}{}"), large, large_name, small, small_name);
}

}  // namespace

std::string FormatRfc3339(TimePoint time) {
  const Civil civil(time);
  return fmt::format("{}.{:03}Z", FormatWith(time, 'T'), civil.clock.subseconds().count());
}

std::string FormatDateTime(TimePoint time) {
  return FormatWith(time, ' ');
}

Result<TimePoint> ParseRfc3339(std::string_view text) {
  Reader reader(text);
  const Fields fields = ReadFields(reader);
  const std::chrono::year_month_day date{std::chrono::year{fields.year},
                                         std::chrono::month{static_cast<unsigned>(fields.month)},
                                         std::chrono::day{static_cast<unsigned>(fields.day)}};
  // 60 is a leap second.
  const bool in_range = fields.hour <= 23 && fields.minute <= 59 && fields.second <= 60;
  if (!reader.ok() || !reader.AtEnd() || !date.ok() || !in_range) {
    return InvalidArgument(fmt::format("\"{}\" is not an RFC 3339 time", text),
                           "write for example 2026-11-21T03:57:00Z");
  }
  return TimePoint{std::chrono::sys_days{date}} + std::chrono::hours{fields.hour} +
         std::chrono::minutes{fields.minute} + std::chrono::seconds{fields.second} +
         Duration{fields.millis} - fields.offset;
}

Result<Duration> ParseDuration(std::string_view text) {
  double total = 0;
  std::int64_t last_unit = INT64_MAX;
  std::string_view rest = text;
  do {
    const double number = TakeNumber(rest);
    const bool bare = rest.empty() && last_unit == INT64_MAX;
    const std::int64_t unit = bare ? 1'000 : MillisOf(TakeUnit(rest));
    // Units must decrease: "1h30m", not "30m1h" or "1h2h", which are typos.
    if (number < 0 || unit == 0 || unit >= last_unit) return BadDuration(text);
    total += number * static_cast<double>(unit);
    last_unit = unit;
  } while (!rest.empty());
  if (total > static_cast<double>(kLongestDuration.count())) return TooLong(text);
  return Duration{std::llround(total)};
}

std::string FormatDuration(Duration duration) {
  const std::int64_t millis = duration.count();
  if (millis < 0) return "-" + FormatDuration(-duration);
  const std::int64_t seconds = millis / 1000;
  if (millis > 0 && millis < 100) return fmt::format(FMT_COMPILE("{}ms"), millis);
  if (seconds < 10 && millis % 1000 >= 100) {
    return fmt::format(FMT_COMPILE("{}.{}s"), seconds, millis % 1000 / 100);
  }
  if (seconds < 60) return fmt::format(FMT_COMPILE("{}s"), seconds);
  if (seconds < 3600) return TwoUnits(seconds / 60, 'm', seconds % 60, 's');
  if (seconds < 86400) return TwoUnits(seconds / 3600, 'h', seconds / 60 % 60, 'm');
  return TwoUnits(seconds / 86400, 'd', seconds / 3600 % 24, 'h');
}

std::string FormatExactDuration(Duration duration) {
  std::string text;
  std::int64_t rest = duration.count();
  for (auto unit = kUnits.rbegin(); unit != kUnits.rend(); ++unit) {
    const std::int64_t whole = rest / unit->millis;
    rest -= whole * unit->millis;
    if (whole > 0) text += fmt::format("{}{}", whole, unit->name);
  }
  return text.empty() ? "0s" : text;
}

std::string FormatProtoDuration(Duration duration) {
  const std::int64_t millis = duration.count();
  if (millis % 1000 == 0) return fmt::format("{}s", millis / 1000);
  const std::string_view sign = millis < 0 ? "-" : "";
  return fmt::format("{}{}.{:03}s", sign, std::abs(millis / 1000), std::abs(millis % 1000));
}

}  // namespace jobman::base

#include "config/scalars.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::config {
namespace {

using base::Json;
using base::Result;

constexpr std::int64_t kLargestNumber = 2'000'000'000;

base::Error Expected(const std::string& type, const Value& value, std::string hint = {}) {
  const std::string found =
      value.is_scalar() ? "\"" + value.text + "\"" : std::string(KindText(value));
  return base::InvalidArgument("expected " + type + ", found " + found, std::move(hint));
}

base::Error NotAboveZero() {
  return base::InvalidArgument("must be greater than 0");
}

Result<Json> ReadBool(const Value& value, const KeyRow& row) {
  if (!IsBoolText(value)) return Expected(TypeText(row), value);
  return Json(IsTrueText(value.text));
}

/// The least and the greatest number of a range like "1-256"; from zero to the largest if it is
/// empty.
std::pair<std::int64_t, std::int64_t> EndsOf(std::string_view range) {
  if (range.empty()) return {0, std::numeric_limits<std::int64_t>::max()};
  const std::size_t dash = range.find('-');
  return {*base::ParseNumber(range.substr(0, dash)), *base::ParseNumber(range.substr(dash + 1))};
}

base::Error OutOf(std::string_view range, std::int64_t largest) {
  if (range.empty()) return base::InvalidArgument("must be at most " + std::to_string(largest));
  const auto [least, most] = EndsOf(range);
  return base::InvalidArgument("must be between " + std::to_string(least) + " and " +
                               std::to_string(most));
}

Result<Json> CheckRange(std::int64_t number, std::string_view range) {
  const auto [least, most] = EndsOf(range);
  if (number >= least && number <= most) return Json(number);
  return OutOf(range, most);
}

/// Such a text is a number, however large.
bool OnlyDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<Json> ReadNumber(const Value& value, const KeyRow& row) {
  if (IsNumberText(value) && value.text.front() == '-') {
    return base::InvalidArgument("must not be negative");
  }
  if (IsNumberText(value) && base::Contains(value.text, ".")) {
    return Expected("a whole number", value);
  }
  if (value.quoted || !OnlyDigits(value.text)) return Expected(TypeText(row), value);
  const auto number = base::ParseNumber(value.text);
  if (!number || *number > kLargestNumber) return OutOf(row.allowed, kLargestNumber);
  return CheckRange(*number, row.allowed);
}

Result<Json> ReadSize(const Value& value, const KeyRow& row) {
  const std::string_view text = value.text;
  const std::size_t letter = std::string_view("KMG").find(text.empty() ? ' ' : text.back());
  const bool plain = letter == std::string_view::npos;
  const std::string_view digits = plain ? text : text.substr(0, text.size() - 1);
  if (!OnlyDigits(digits)) {
    return Expected(TypeText(row), value, "for example: 500K, 100M or 1G; without a letter: bytes");
  }
  const auto number = base::ParseNumber(digits);
  constexpr std::int64_t kMost = std::int64_t{1} << 30;  // of a number with a letter
  if (!number || (!plain && *number > kMost)) return OutOf(row.allowed, kMost);
  return CheckRange(plain ? *number : *number << (10 * (letter + 1)), row.allowed);
}

Result<Json> ReadCount(const Value& value, const KeyRow& row) {
  if (value.text == "unlimited") return Json(value.text);
  auto number = ReadNumber(value, row);
  const bool too_large = !value.quoted && OnlyDigits(value.text);
  if (number.ok() || too_large) return number;
  return Expected(TypeText(row), value);
}

/// However long.
bool IsDuration(std::string_view text) {
  const auto duration = base::ParseDuration(text);
  return duration.ok() || duration.error().code == base::Code::kOutOfRange;
}

Result<Json> ReadDuration(const Value& value, const KeyRow& row) {
  const auto duration = base::ParseDuration(value.text);
  if (!duration.ok() && duration.error().code == base::Code::kOutOfRange)
    return base::InvalidArgument(duration.error().message, "for example: 90s, 15m or 1h30m");
  if (!duration.ok()) return Expected(TypeText(row), value, "for example: 90s, 15m or 1h30m");
  if (row.type != Type::kDuration && duration->count() == 0) return NotAboveZero();
  return Json(value.text);
}

Result<Json> ReadDeadline(const Value& value, const KeyRow& row) {
  if (IsDuration(value.text)) return ReadDuration(value, row);
  if (base::ParseRfc3339(value.text).ok()) return Json(value.text);
  return Expected(TypeText(row), value, "for example: 6h or 2026-11-21T08:00:00Z");
}

/// A list of hosts; each item is a number or a range.
Result<Json> ReadHosts(const Value& value) {
  std::vector<std::string> parts;
  if (value.is_scalar()) parts.push_back(value.text);
  for (const Value& item : value.children) {
    if (!item.is_scalar()) return Expected("a number", item);
    if (item.text == "all") return base::InvalidArgument("\"all\" cannot be an item of a list");
    parts.push_back(item.text);
  }
  if (parts.empty()) return base::InvalidArgument("the list of hosts is empty");
  JM_ASSIGN_OR_RETURN(const core::HostSet hosts, core::ParseHostSet(base::Join(parts, ",")));
  return Json(core::HostSetText(hosts));
}

/// A duration where a word is asked for belongs to the key beside it that takes one, if that is
/// one: "did you mean job.when_done.keep=20s?"
std::string HintOfDuration(const std::string& text, const KeyRow& row) {
  if (!IsDuration(text)) return {};
  const std::string parent(row.path.substr(0, row.path.rfind('.') + 1));
  std::vector<std::string_view> takers;
  for (const KeyRow& other : Schema()) {
    const bool beside = other.path.starts_with(parent) &&
                        other.path.find('.', parent.size()) == std::string_view::npos;
    const bool takes = other.type == Type::kLimit || other.type == Type::kDuration;
    if (beside && takes) takers.push_back(other.path);
  }
  const bool one = takers.size() == 1 && !base::Contains(parent, "[]");
  return one ? "did you mean " + std::string(takers.front()) + "=" + text + "?" : std::string();
}

Result<Json> ReadWord(const Value& value, const KeyRow& row) {
  const std::vector<std::string> words = base::Split(row.allowed, '|');
  if (std::find(words.begin(), words.end(), value.text) != words.end()) return Json(value.text);
  const auto nearest = base::Nearest(value.text, words);
  return base::InvalidArgument(
      "\"" + value.text + "\" is not one of: " + base::Join(words, ", "),
      nearest ? "did you mean " + *nearest + "?" : HintOfDuration(value.text, row));
}

}  // namespace

Result<Json> ReadScalar(const Value& value, const KeyRow& row) {
  switch (row.type) {
    case Type::kWord:
      return ReadWord(value, row);
    case Type::kBool:
      return ReadBool(value, row);
    case Type::kNumber:
      return ReadNumber(value, row);
    case Type::kSize:
      return ReadSize(value, row);
    case Type::kCount:
      return ReadCount(value, row);
    case Type::kDuration:
    case Type::kLimit:
      return ReadDuration(value, row);
    case Type::kDeadline:
      return ReadDeadline(value, row);
    case Type::kHosts:
      return ReadHosts(value);
    case Type::kText:
    case Type::kPath:
    case Type::kTextList:
    case Type::kTextMap:
    case Type::kSource:
    case Type::kTextOrSource:
    case Type::kMap:
    case Type::kMaps:
    case Type::kNamed:
    case Type::kAny:
      return Json(value.text);
  }
  return Json(value.text);
}

}  // namespace jobman::config

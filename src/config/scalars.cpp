#include "config/scalars.hpp"

#include <algorithm>

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

/// Checks a number against a range like "1-256".
Result<Json> CheckRange(std::int64_t number, std::string_view range) {
  const std::size_t dash = range.find('-');
  const std::string least(range.substr(0, dash));
  const std::string most(range.substr(dash + 1));
  if (range.empty() || (number >= *base::ParseNumber(least) && number <= *base::ParseNumber(most)))
    return Json(number);
  return base::InvalidArgument("must be between " + least + " and " + most);
}

Result<Json> ReadNumber(const Value& value, const KeyRow& row) {
  if (IsNumberText(value) && value.text.front() == '-') {
    return base::InvalidArgument("must not be negative");
  }
  const auto number = value.quoted ? std::nullopt : base::ParseNumber(value.text);
  if (!number || *number > kLargestNumber) return Expected(TypeText(row), value);
  return CheckRange(*number, row.allowed);
}

Result<Json> ReadSize(const Value& value, const KeyRow& row) {
  const std::string_view text = value.text;
  const std::size_t letter = std::string_view("KMG").find(text.empty() ? ' ' : text.back());
  const bool plain = letter == std::string_view::npos;
  const auto number = base::ParseNumber(plain ? text : text.substr(0, text.size() - 1));
  constexpr std::int64_t kMost = std::int64_t{1} << 30;  // of a number with a letter
  if (!number || (!plain && *number > kMost)) {
    return Expected(TypeText(row), value, "for example: 500K, 100M or 1G; without a letter: bytes");
  }
  return CheckRange(plain ? *number : *number << (10 * (letter + 1)), row.allowed);
}

Result<Json> ReadCount(const Value& value, const KeyRow& row) {
  if (value.text == "unlimited") return Json(value.text);
  const auto number = ReadNumber(value, row);
  return number.ok() ? number : Expected(TypeText(row), value);
}

Result<Json> ReadDuration(const Value& value, const KeyRow& row) {
  const auto duration = base::ParseDuration(value.text);
  if (!duration.ok()) return Expected(TypeText(row), value, "for example: 90s, 15m or 1h30m");
  if (row.type != Type::kDuration && duration->count() == 0) return NotAboveZero();
  return Json(value.text);
}

Result<Json> ReadDeadline(const Value& value, const KeyRow& row) {
  if (base::ParseDuration(value.text).ok()) return ReadDuration(value, row);
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

Result<Json> ReadWord(const Value& value, const KeyRow& row) {
  const std::vector<std::string> words = base::Split(row.allowed, '|');
  if (std::find(words.begin(), words.end(), value.text) != words.end()) return Json(value.text);
  const auto nearest = base::Nearest(value.text, words);
  return base::InvalidArgument("\"" + value.text + "\" is not one of: " + base::Join(words, ", "),
                               nearest ? "did you mean " + *nearest + "?" : "");
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

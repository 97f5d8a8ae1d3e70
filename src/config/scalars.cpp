#include "config/scalars.hpp"

#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

constexpr std::int64_t kLargestNumber = 1'000'000'000;

base::Error Expected(Type type, const Value& value) {
  const std::string found = value.is_scalar() ? "\"" + value.text + "\"" : "";
  return base::InvalidArgument("expected " + std::string(TypeText(type)) + ", found " +
                               (found.empty() ? std::string(KindText(value)) : found));
}

template <class T>
std::optional<base::Error> ErrorOf(const base::Result<T>& result) {
  return result.ok() ? std::nullopt : std::optional(result.error());
}

/// Each item of a list of hosts is a number or a range.
base::Result<core::HostSet> ReadHostList(const Value& list) {
  std::vector<std::string> parts;
  for (const Value& item : list.children) {
    if (!item.is_scalar()) return Expected(Type::kNumber, item);
    if (item.text == "all") return base::InvalidArgument("\"all\" stands alone, not in a list");
    parts.push_back(item.text);
  }
  if (parts.empty()) return base::InvalidArgument("the list of hosts is empty");
  return core::ParseHostSet(base::Join(parts, ","));
}

}  // namespace

base::Result<bool> ReadBool(const Value& value) {
  if (!IsBoolText(value)) return Expected(Type::kBool, value);
  return IsTrueText(value.text);
}

base::Result<int> ReadNumber(const Value& value) {
  if (IsNumberText(value) && value.text.front() == '-') {
    return base::InvalidArgument("must not be negative");
  }
  const auto number = value.quoted ? std::nullopt : base::ParseNumber(value.text);
  if (!number || *number > kLargestNumber) return Expected(Type::kNumber, value);
  return static_cast<int>(*number);
}

base::Result<std::optional<int>> ReadCount(const Value& value) {
  if (value.text == "unlimited") return std::optional<int>{};
  const auto number = ReadNumber(value);
  if (!number.ok()) return Expected(Type::kCount, value);
  return std::optional<int>{*number};
}

base::Result<base::Duration> ReadDuration(const Value& value) {
  auto duration = base::ParseDuration(value.text);
  if (duration.ok()) return duration;
  base::Error error = Expected(Type::kDuration, value);
  error.hint = "write it like 90s, 15m, 1h30m";
  return error;
}

base::Result<Deadline> ReadDeadline(const Value& value) {
  if (const auto duration = base::ParseDuration(value.text); duration.ok()) return *duration;
  if (const auto time = base::ParseRfc3339(value.text); time.ok()) return *time;
  base::Error error = Expected(Type::kDeadline, value);
  error.hint = "write it like 6h, or 2026-11-21T08:00:00Z";
  return error;
}

base::Result<core::HostSet> ReadHosts(const Value& value) {
  return value.is_list() ? ReadHostList(value) : core::ParseHostSet(value.text);
}

std::optional<base::Error> CheckScalar(const Value& value, const KeyRow& row) {
  switch (row.type) {
    case Type::kBool:
      return ErrorOf(ReadBool(value));
    case Type::kNumber:
      return ErrorOf(ReadNumber(value));
    case Type::kCount:
      return ErrorOf(ReadCount(value));
    case Type::kDuration:
      return ErrorOf(ReadDuration(value));
    case Type::kDeadline:
      return ErrorOf(ReadDeadline(value));
    case Type::kLimit:
      return value.is_scalar() ? ErrorOf(ReadDuration(value)) : std::nullopt;
    case Type::kHosts:
      return ErrorOf(ReadHosts(value));
    case Type::kText:
    case Type::kWord:
    case Type::kTextList:
    case Type::kTextMap:
    case Type::kSecrets:
    case Type::kPatterns:
    case Type::kSource:
    case Type::kHooks:
    case Type::kMap:
    case Type::kSteps:
    case Type::kAny:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace jobman::config

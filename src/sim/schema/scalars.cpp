#include "sim/schema/scalars.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <regex>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

constexpr double kLongestDuration = 315576000000;  ///< seconds, of google.protobuf.Duration

/// An integer, also as a string or with a zero fraction (3.0, 1e2).
std::optional<std::int64_t> Integer(const Json& value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost) return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    static const std::regex kInteger("-?(0|[1-9][0-9]*)");
    return text.size() < 32 && std::regex_match(text, kInteger) ? base::ParseNumber(text)
                                                                : std::nullopt;
  }
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  // Beyond 2^53 a double is no integer for sure.
  if (std::trunc(number) != number || std::abs(number) > 9007199254740992.0) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<Json> Int32(const Json& value) {
  const auto number = Integer(value);
  if (!number || *number < std::numeric_limits<std::int32_t>::min() ||
      *number > std::numeric_limits<std::int32_t>::max()) {
    return std::nullopt;
  }
  return *number;
}

std::optional<Json> Int64(const Json& value) {
  const auto number = Integer(value);
  return number ? std::optional<Json>(std::to_string(*number)) : std::nullopt;
}

std::optional<Json> Time(const Json& value) {
  static const std::regex kForm(
      R"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2}))");
  if (!value.is_string()) return std::nullopt;
  const std::string text = value.get<std::string>();
  const bool good = text.size() < 40 && std::regex_match(text, kForm) && !text.starts_with("0000");
  return good && base::ParseRfc3339(text).ok() ? std::optional(value) : std::nullopt;
}

std::optional<Json> Seconds(const Json& value) {
  static const std::regex kForm(R"(-?\d{1,12}(\.\d{1,9})?s)");
  if (!value.is_string()) return std::nullopt;
  const std::string text = value.get<std::string>();
  const bool good = text.size() < 40 && std::regex_match(text, kForm) &&
                    std::abs(std::stod(text)) <= kLongestDuration;
  return good ? std::optional(value) : std::nullopt;
}

std::optional<Json> If(bool good, const Json& value) {
  return good ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<Json> ReadScalar(const std::string& type, const Json& value) {
  if (type == "string" || type == "mask") return If(value.is_string(), value);
  if (type == "bool") return If(value.is_boolean(), value);
  if (type == "int32") return Int32(value);
  if (type == "int64") return Int64(value);
  if (type == "time") return Time(value);
  if (type == "duration") return Seconds(value);
  return value;  // "any"
}

std::optional<Json> ReadParameter(const std::string& type, const std::string& text) {
  if (type != "bool") return ReadScalar(type, text);
  const std::string word = base::ToLower(text);  // gcloud writes Python's "True"
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0") return false;
  return std::nullopt;
}

std::string ScalarName(const std::string& type) {
  static const std::map<std::string, std::string> kNames = {
      {"string", "TYPE_STRING"},
      {"bool", "TYPE_BOOL"},
      {"int32", "TYPE_INT32"},
      {"int64", "TYPE_INT64"},
      {"time", "type.googleapis.com/google.protobuf.Timestamp"},
      {"duration", "type.googleapis.com/google.protobuf.Duration"},
      {"mask", "type.googleapis.com/google.protobuf.FieldMask"},
      {"any", "type.googleapis.com/google.protobuf.Any"},
  };
  const auto found = kNames.find(type);
  return found == kNames.end() ? "" : found->second;
}

}  // namespace jobman::sim

#include "jobman/base/json.hpp"

#include <fmt/format.h>

#include <charconv>

namespace jobman::base {

Result<Json> ParseJson(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return InvalidArgument(fmt::format("not JSON: error at byte {}", error.byte));
  } catch (const Json::exception& error) {
    // For example a number that does not fit a double.
    return InvalidArgument(fmt::format("not JSON: {}", error.what()));
  }
}

const Json& GetMember(const Json& object, std::string_view key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string GetString(const Json& object, std::string_view key) {
  const auto* text = GetMember(object, key).get_ptr<const std::string*>();
  return text == nullptr ? std::string() : *text;
}

bool GetBool(const Json& object, std::string_view key) {
  const auto* flag = GetMember(object, key).get_ptr<const bool*>();
  return flag != nullptr && *flag;
}

namespace {

std::int64_t FromText(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc() && stop == end ? number : 0;
}

std::int64_t FromDouble(double number) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63: the first that does not fit
  if (!(number >= -kLimit && number < kLimit)) return 0;
  return static_cast<std::int64_t>(number);
}

}  // namespace

std::int64_t GetInt(const Json& object, std::string_view key) {
  const Json& member = GetMember(object, key);
  if (const auto* text = member.get_ptr<const std::string*>()) return FromText(*text);
  if (const auto* real = member.get_ptr<const double*>()) return FromDouble(*real);
  if (const auto* large = member.get_ptr<const std::uint64_t*>()) {
    return *large > static_cast<std::uint64_t>(INT64_MAX) ? 0 : static_cast<std::int64_t>(*large);
  }
  const auto* number = member.get_ptr<const std::int64_t*>();
  return number == nullptr ? 0 : *number;
}

}  // namespace jobman::base

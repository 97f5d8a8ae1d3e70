#include "jobman/base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "jobman/base/strings.hpp"

namespace jobman::base {
namespace {

/// Where the string that begins at `at` ends: its closing quote, or the end of the text.
std::size_t EndOfString(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at;
}

/// Whether no reading of the text could exceed a limit: most are short, and need no second look.
bool IsSmall(std::string_view text) {
  const auto opening = [](char c) { return c == '[' || c == '{'; };
  return text.size() <= kMostJsonValues &&
         std::count_if(text.begin(), text.end(), opening) <= kDeepestJson;
}

/// The limit that the text exceeds; empty if it keeps to them. Each comma and each bracket that
/// opens stands for one value more.
std::string Excess(std::string_view text) {
  if (IsSmall(text)) return {};
  int depth = 0;
  std::size_t values = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') at = EndOfString(text, at);
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == '[' || c == '{' || c == ',') ++values;
    if (depth > kDeepestJson) return fmt::format("more than {} levels deep", kDeepestJson);
    if (values > kMostJsonValues) return fmt::format("more than {} values", kMostJsonValues);
  }
  return {};
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  if (const std::string excess = Excess(text); !excess.empty()) {
    return InvalidArgument("JSON that is too large to read: " + excess);
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return InvalidArgument(fmt::format("not JSON: error at byte {}", error.byte));
  } catch (const Json::exception& error) {
    // For example a number that does not fit a double.
    constexpr std::size_t kShown = 200;  // it quotes the number, which may have any length
    return InvalidArgument("not JSON: " + Shorten(error.what(), kShown));
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

#include "jobman/base/regex.hpp"

#include <regex.h>

#include <array>
#include <cctype>
#include <utility>

namespace jobman::base {
namespace {

constexpr std::size_t kLongestPattern = 1000;

/// Syntax that other dialects have and this one misreads, or that is very slow.
Status CheckDialect(std::string_view pattern) {
  if (pattern.empty()) return InvalidArgument("an empty pattern matches every line");
  if (pattern.size() > kLongestPattern) {
    return InvalidArgument("the pattern is longer than " + std::to_string(kLongestPattern) +
                           " bytes");
  }
  if (pattern.find('\0') != std::string_view::npos) {
    return InvalidArgument("a pattern cannot hold a NUL byte");
  }
  for (std::size_t at = 0; at + 1 < pattern.size(); ++at) {
    if (pattern[at] != '\\') continue;
    const char next = pattern[++at];
    if (next == 'd') {
      return InvalidArgument("\\d is not part of this syntax (grep -E)", "write [0-9]");
    }
    if (std::isdigit(static_cast<unsigned char>(next)) != 0) {
      return InvalidArgument(
          "back references are not supported: matching one line could take hours");
    }
  }
  return Ok();
}

}  // namespace

struct Regex::Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    if (good) ::regfree(&regex);
  }
  regex_t regex = {};
  bool good = false;
};

Result<Regex> Regex::Compile(const std::string& pattern) {
  JM_TRY(CheckDialect(pattern));
  auto compiled = std::make_shared<Compiled>();
  const int code = ::regcomp(&compiled->regex, pattern.c_str(), REG_EXTENDED | REG_NOSUB);
  compiled->good = code == 0;
  if (compiled->good) return Regex(std::move(compiled));
  std::array<char, 200> why = {};
  ::regerror(code, &compiled->regex, why.data(), why.size());
  return InvalidArgument("\"" + pattern + "\" is not a regular expression: " + why.data(),
                         "the syntax is that of grep -E");
}

bool Regex::Matches(std::string_view text) const {
  regmatch_t bounds = {};
  bounds.rm_so = 0;
  bounds.rm_eo = static_cast<regoff_t>(text.size());
  // With REG_NOSUB alone the bounds would not be read.
  const char* bytes = text.data() == nullptr ? "" : text.data();
  return ::regexec(&compiled_->regex, bytes, 1, &bounds, REG_STARTEND) == 0;
}

}  // namespace jobman::base

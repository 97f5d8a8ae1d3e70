#include "jobman/base/regex.hpp"

#include <re2/re2.h>

#include <cctype>
#include <utility>

namespace jobman::base {
namespace {

constexpr std::size_t kLongestPattern = 1000;
/// Instructions. RE2's time for a byte is in proportion to them where its table of states would
/// not fit into the memory.
constexpr int kLargestProgram = 1000;
/// Of one compiled pattern with its caches.
constexpr std::int64_t kMostMemory = std::int64_t{1} << 20;

/// Syntax that grep -E has and RE2 lacks.
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
    if (next == '<' || next == '>') {
      return InvalidArgument(std::string("\\") + next + " is not part of this syntax", "write \\b");
    }
    if (std::isdigit(static_cast<unsigned char>(next)) != 0) {
      return InvalidArgument(
          "back references are not supported: matching one line could take hours");
    }
  }
  return Ok();
}

re2::RE2::Options OptionsOf() {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // bytes
  options.set_posix_syntax(true);
  options.set_perl_classes(true);
  options.set_word_boundary(true);
  options.set_dot_nl(true);
  options.set_one_line(true);  // ^ and $ are the ends of the text
  options.set_never_capture(true);
  options.set_log_errors(false);
  options.set_max_mem(kMostMemory);
  return options;
}

}  // namespace

struct Regex::Compiled {
  explicit Compiled(const std::string& pattern) : engine(pattern, OptionsOf()) {}
  re2::RE2 engine;
};

Result<Regex> Regex::Compile(const std::string& pattern) {
  JM_TRY(CheckDialect(pattern));
  auto compiled = std::make_shared<Compiled>(pattern);
  const re2::RE2& engine = compiled->engine;
  if (engine.ok() && engine.ProgramSize() > kLargestProgram) {
    return InvalidArgument("the pattern is too large: it takes " +
                               std::to_string(engine.ProgramSize()) + " steps, and the limit is " +
                               std::to_string(kLargestProgram),
                           "use smaller repetitions");
  }
  if (engine.ok()) return Regex(std::move(compiled));
  const bool large = engine.error_code() == re2::RE2::ErrorPatternTooLarge ||
                     engine.error_code() == re2::RE2::ErrorRepeatSize;
  return InvalidArgument("\"" + pattern + "\" is not a regular expression: " + engine.error(),
                         large ? "a repetition counts to at most 1000, and those around it with it"
                               : "the syntax is that of grep -E");
}

int Regex::steps() const {
  return compiled_->engine.ProgramSize();
}

bool Regex::Matches(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_->engine);
}

}  // namespace jobman::base

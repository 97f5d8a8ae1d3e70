#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "jobman/base/result.hpp"

namespace jobman::base {

/// A regular expression over bytes: the POSIX extended syntax, as `grep -E` takes it, with \d, \s,
/// \w and \b. RE2 compiles it within a bound of memory and matches it in time proportional to the
/// text, so that neither a pattern nor a line of a log can keep the caller busy for long.
class Regex {
 public:
  /// The error says what is wrong with the pattern, in RE2's words if it has any.
  static Result<Regex> Compile(const std::string& pattern);
  /// Whether it matches anywhere in the text. Any bytes, also NUL.
  bool Matches(std::string_view text) const;
  /// How many steps a byte of text may take.
  int steps() const;

 private:
  struct Compiled;
  explicit Regex(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace jobman::base

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "jobman/base/result.hpp"

namespace jobman::base {

/// A POSIX extended regular expression, as `grep -E` takes it, over bytes. The C library matches it
/// without backtracking, so that no line of a log can keep the caller busy for long.
class Regex {
 public:
  /// The error says what is wrong with the pattern, in the C library's words if it has any.
  static Result<Regex> Compile(const std::string& pattern);
  /// Whether it matches anywhere in the text. Any bytes, also NUL.
  bool Matches(std::string_view text) const;

 private:
  struct Compiled;
  explicit Regex(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace jobman::base

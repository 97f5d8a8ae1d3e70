#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/regex.hpp"

namespace jobman::cli {

/// Keeps the lines of each host that match; without a pattern everything, as it comes.
class LineFilter {
 public:
  /// kInvalidArgument if the pattern is none.
  static base::Result<LineFilter> For(const std::string& pattern);
  /// Whether it keeps a line, given without its end.
  bool Keeps(std::string_view line) const { return !pattern_ || pattern_->Matches(line); }
  /// What is left of the host's next bytes: whole lines, if there is a pattern.
  std::string Take(int host, std::string_view bytes);
  /// What is left of unfinished lines, by host; to be called at the end of their files.
  std::map<int, std::string> Finish();

 private:
  std::optional<base::Regex> pattern_ = {};
  std::map<int, std::string> unfinished_ = {};
};

}  // namespace jobman::cli

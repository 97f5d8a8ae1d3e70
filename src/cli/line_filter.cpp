#include "cli/line_filter.hpp"

namespace jobman::cli {
namespace {

/// A host that never ends its line must not fill the memory.
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

}  // namespace

base::Result<LineFilter> LineFilter::For(const std::string& pattern) {
  LineFilter filter;
  if (pattern.empty()) return filter;
  JM_ASSIGN_OR_RETURN(filter.pattern_, base::Regex::Compile(pattern));
  return filter;
}

std::string LineFilter::Take(int host, std::string_view bytes) {
  if (!pattern_) return std::string(bytes);
  std::string& line = unfinished_[host];
  std::string kept;
  for (const char byte : bytes) {
    line += byte;
    if (byte != '\n' && line.size() < kLongestLine) continue;
    const std::string_view text =
        std::string_view(line).substr(0, line.size() - (byte == '\n' ? 1 : 0));
    if (pattern_->Matches(text)) kept += line;
    line.clear();
  }
  return kept;
}

std::map<int, std::string> LineFilter::Finish() {
  std::map<int, std::string> kept;
  for (auto& [host, line] : unfinished_) {
    if (pattern_ && !line.empty() && pattern_->Matches(line)) kept[host] = line;
  }
  unfinished_.clear();
  return kept;
}

}  // namespace jobman::cli

#include "cli/line_filter.hpp"

#include <algorithm>

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
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    const std::size_t taken = std::min(end, kLongestLine - line.size());
    line += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    const bool ends = line.back() == '\n';
    if (!ends && line.size() < kLongestLine) continue;
    if (pattern_->Matches(std::string_view(line).substr(0, line.size() - (ends ? 1 : 0))))
      kept += line;
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

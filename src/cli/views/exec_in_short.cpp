#include <fmt/format.h>

#include <algorithm>

#include "cli/views/exec_result.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli::views {
namespace {

constexpr std::int64_t kShortOutput = 40;  // bytes
constexpr std::size_t kMostGroups = 6;
constexpr std::size_t kMostRanges = 40;  // characters

/// What one host printed and how it ended; nothing if that is not short.
base::Result<std::optional<std::string>> ShortEnd(const ExecResult::Row& row,
                                                  const ui::HostText* output) {
  if (!row.exit_code) return std::optional(row.brief);
  const bool failed = *row.exit_code != 0;
  if (output == nullptr || output->facts.empty())
    return std::optional(failed ? row.brief : std::string("(no output)"));
  if (!output->facts.one_line() || output->facts.size() > kShortOutput)
    return std::optional<std::string>();
  std::string text;
  const ui::TakePiece take = [&text](std::string_view piece) {
    text += piece;
    return base::Ok();
  };
  JM_TRY(output->read(take));
  const std::string line = base::CleanLine(base::Trim(text));
  return std::optional(failed ? fmt::format("{} ({})", line, row.brief) : line);
}

/// Hosts by what ShortEnd() says of them; nothing if not all are short, or they are too many.
base::Result<std::map<std::string, std::vector<int>>> ByEnd(const ExecResult& view) {
  std::map<std::string, std::vector<int>> ends;
  for (const ExecResult::Row& row : view.rows) {
    const auto output = view.output.find(row.host);
    JM_ASSIGN_OR_RETURN(const auto end,
                        ShortEnd(row, output == view.output.end() ? nullptr : &output->second));
    if (end) ends[*end].push_back(row.host);
    if (!end || ends.size() > kMostGroups) return std::map<std::string, std::vector<int>>();
  }
  return ends;
}

/// "host 417", "hosts 3,7".
std::string Named(const std::vector<int>& hosts) {
  return (hosts.size() == 1 ? "host " : "hosts ") + base::ShortRanges(hosts, kMostRanges);
}

}  // namespace

base::Result<std::string> InShort(const ExecResult& view) {
  if (view.output.empty()) return std::string();
  JM_ASSIGN_OR_RETURN(const auto ends, ByEnd(view));
  if (ends.size() < 2) return std::string();
  using End = std::pair<std::string, std::vector<int>>;
  std::vector<End> ordered(ends.begin(), ends.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const End& a, const End& b) {
    if (a.second.size() != b.second.size()) return a.second.size() > b.second.size();
    return a.second.front() < b.second.front();
  });
  std::vector<std::string> parts;
  for (const auto& [end, hosts] : ordered) {
    const bool most = parts.empty() && hosts.size() > ordered.at(1).second.size();
    const std::string who = most ? base::Plural(std::ssize(hosts), "host") : Named(hosts);
    parts.push_back(who + ": " + end);
  }
  return base::Join(parts, "; ");
}

}  // namespace jobman::cli::views

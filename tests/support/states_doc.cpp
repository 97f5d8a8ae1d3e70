#include "tests/support/states_doc.hpp"

#include <fmt/format.h>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::test {
namespace {

constexpr std::string_view kHead = "| from | to | because | story |\n| --- | --- | --- | --- |\n";
constexpr std::string_view kFirstTable = "## Observations and what follows";
constexpr std::string_view kStories = "](../tests/stories/";

/// The table between the two markers.
base::Result<std::pair<std::size_t, std::size_t>> FindTable(const std::string& text,
                                                            const std::string& table) {
  const std::string first = "<!-- " + table + ": begin -->\n";
  const auto begin = text.find(first);
  const auto end = text.find("<!-- " + table + ": end -->");
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return base::NotFound("docs/states.md has no markers of the table of " + table);
  }
  return std::pair{begin + first.size(), end};
}

}  // namespace

base::Result<std::map<Edge, TransitionRow>> ReadTransitions(const std::string& path,
                                                            const std::string& table) {
  JM_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  JM_ASSIGN_OR_RETURN(const auto found, FindTable(text, table));
  std::map<Edge, TransitionRow> rows;
  for (const auto& line : base::Split(text.substr(found.first, found.second - found.first), '\n')) {
    const auto cells = base::Split(line, '|');
    const bool has_story = cells.size() == 6;
    if ((!has_story && cells.size() != 5) || line.starts_with("| from") ||
        line.starts_with("| ---"))
      continue;
    const auto cell = [&](std::size_t index) { return std::string{base::Trim(cells[index])}; };
    rows.emplace(Edge{cell(1), cell(2)},
                 TransitionRow{.cause = cell(3), .story = has_story ? cell(4) : ""});
  }
  return rows;
}

base::Result<std::set<Edge>> ReadArrows(const std::string& path) {
  JM_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  std::set<Edge> arrows;
  for (const std::string& line : base::Split(text, '\n')) {
    const auto arrow = line.find(" --> ");
    if (arrow == std::string::npos || base::Contains(line, "[*]")) continue;
    const auto label = line.find(':');
    const std::string to =
        line.substr(arrow + 5, label == std::string::npos ? label : label - arrow - 5);
    arrows.emplace(base::Trim(line.substr(0, arrow)), base::Trim(to));
  }
  return arrows;
}

base::Status WriteTransitions(const std::string& path, const std::set<Edge>& edges,
                              const std::map<Edge, TransitionRow>& rows) {
  JM_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  JM_ASSIGN_OR_RETURN(const auto table, FindTable(text, kJobTransitions));
  std::string lines{kHead};
  for (const Edge& edge : edges) {
    const auto row = rows.find(edge);
    const TransitionRow told = row == rows.end() ? TransitionRow{.cause = kNoCause} : row->second;
    lines +=
        fmt::format("| {} | {} | {} | {} |\n", edge.first, edge.second, told.cause, told.story);
  }
  return base::WriteFileAtomic(
      path, text.substr(0, table.first) + lines + text.substr(table.second), 0644);
}

std::string StoryLink(const std::string& name) {
  return fmt::format("[{}{}{}.txt)", name, kStories, name);
}

base::Result<std::vector<StoryRow>> ReadStoryRows(const std::string& path) {
  JM_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  std::vector<StoryRow> rows;
  bool in_table = false;  // after its header
  const auto begin = std::min(text.find(kFirstTable), text.size());
  for (const std::string& line : base::Split(text.substr(begin), '\n')) {
    const bool line_of_table = line.starts_with("| ");
    if (in_table && line_of_table) {
      StoryRow row{.text = line};
      for (auto at = line.find(kStories); at != std::string::npos; at = line.find(kStories, at)) {
        at += kStories.size();
        row.stories.push_back(line.substr(at, line.find(".txt)", at) - at));
      }
      rows.push_back(row);
    }
    in_table = line_of_table && (in_table || line.starts_with("| ---"));
  }
  return rows;
}

}  // namespace jobman::test

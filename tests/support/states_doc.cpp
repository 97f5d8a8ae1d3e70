#include "tests/property/states_doc.hpp"

#include <fmt/format.h>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::test {
namespace {

constexpr std::string_view kBegin = "<!-- transitions: begin -->\n";
constexpr std::string_view kEnd = "<!-- transitions: end -->";

/// Where the table is: after the first marker, before the second.
base::Result<std::pair<std::size_t, std::size_t>> FindTable(const std::string& text) {
  const auto begin = text.find(kBegin);
  const auto end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return base::NotFound("docs/states.md has no markers of the table of transitions");
  }
  return std::pair{begin + kBegin.size(), end};
}

}  // namespace

base::Result<std::map<Edge, std::string>> ReadTransitions(const std::string& path) {
  JM_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  JM_ASSIGN_OR_RETURN(const auto table, FindTable(text));
  std::map<Edge, std::string> rows;
  for (const auto& line : base::Split(text.substr(table.first, table.second - table.first), '\n')) {
    const auto cells = base::Split(line, '|');
    if (cells.size() != 5 || line.starts_with("| from") || line.starts_with("| ---")) continue;
    const auto cell = [&](std::size_t index) { return std::string{base::Trim(cells[index])}; };
    rows.emplace(Edge{cell(1), cell(2)}, cell(3));
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

base::Status BlessTransitions(const std::string& path, const std::set<Edge>& edges) {
  JM_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  JM_ASSIGN_OR_RETURN(const auto table, FindTable(text));
  JM_ASSIGN_OR_RETURN(const auto causes, ReadTransitions(path));
  std::string rows = "| from | to | because |\n| --- | --- | --- |\n";
  for (const Edge& edge : edges) {
    const auto cause = causes.find(edge);
    rows += fmt::format("| {} | {} | {} |\n", edge.first, edge.second,
                        cause == causes.end() ? kNoCause : cause->second);
  }
  return base::WriteFileAtomic(path, text.substr(0, table.first) + rows + text.substr(table.second),
                               0644);
}

}  // namespace jobman::test

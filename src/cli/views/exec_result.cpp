#include "cli/views/exec_result.hpp"

#include <algorithm>
#include <utility>

#include "jobman/base/strings.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

std::string Result(const ExecResult::Row& row) {
  return row.exit_code ? std::to_string(*row.exit_code) : row.error;
}

ui::Tone ToneOf(const ExecResult::Row& row) {
  return row.exit_code == 0 ? ui::Tone::kGood : ui::Tone::kBad;
}

/// Where it is, or the output itself.
void AddOutput(const ExecResult& view, const ExecResult::Row& row, LargeJson& texts,
               base::OrderedJson& json) {
  if (!row.out_file.empty()) {
    json["out"] = row.out_file;
    json["err"] = row.err_file.empty() ? base::OrderedJson() : base::OrderedJson(row.err_file);
    return;
  }
  const auto output = view.output.find(row.host);
  json["output"] = output == view.output.end() ? "" : texts.Place(output->second.read);
}

}  // namespace

ui::Folding Folded(const ExecResult& view) {
  ui::Folding folding;
  for (const auto& [host, output] : view.output) folding.Add(host, output);
  return folding;
}

std::string RenderText(const ExecResult& view, const ui::Style& style) {
  // Hosts with the same result share a row.
  std::vector<ui::Column> columns = {
      {.header = "HOST"}, {.header = "EXIT CODE"}, {.header = "TIME"}};
  const bool failed = std::any_of(view.rows.begin(), view.rows.end(),
                                  [](const ExecResult::Row& row) { return !row.error.empty(); });
  // Last, where it may go on below: its end names the cause.
  if (failed) columns.push_back({.header = "ERROR", .wraps = true});
  ui::Table table(std::move(columns));
  std::map<std::string, std::pair<std::vector<int>, const ExecResult::Row*>> groups;
  std::vector<std::string> order;
  for (const ExecResult::Row& row : view.rows) {
    auto& group = groups[Result(row)];
    if (group.first.empty()) order.push_back(Result(row));
    group.first.push_back(row.host);
    if (group.second == nullptr || row.took > group.second->took) group.second = &row;
  }
  for (const std::string& result : order) {
    const auto& [hosts, slowest] = groups[result];
    table.AddRow({base::FormatRanges(hosts),
                  {slowest->exit_code ? result : "-", ToneOf(*slowest)},
                  base::FormatDuration(slowest->took),
                  {slowest->error, ui::Tone::kBad}});
  }
  return table.Render(style);
}

base::OrderedJson ToJson(const ExecResult& view, LargeJson& texts) {
  base::OrderedJson hosts = base::OrderedJson::array();
  for (const ExecResult::Row& row : view.rows) {
    base::OrderedJson json = {{"host", row.host}, {"exit_code", nullptr}, {"error", nullptr}};
    if (row.exit_code) json["exit_code"] = *row.exit_code;
    if (!row.error.empty()) json["error"] = row.error;
    json["seconds"] = static_cast<double>(row.took.count()) / 1000.0;
    AddOutput(view, row, texts, json);
    hosts.push_back(std::move(json));
  }
  return {{"job", view.job.value}, {"hosts", hosts}, {"summary", view.summary}};
}

}  // namespace jobman::cli::views

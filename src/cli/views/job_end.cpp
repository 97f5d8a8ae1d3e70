#include "cli/views/job_end.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/host_matrix.hpp"
#include "cli/views/words.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli::views {
namespace {

using core::Outcome;

const core::Done& DoneOf(const JobEnd& view) {
  static const core::Done kNone;
  const auto* done = std::get_if<core::Done>(&view.job.state);
  return done == nullptr ? kNone : *done;
}

constexpr std::size_t kManyHosts = 16;

/// A row per host; with many hosts, a row per group of hosts with the same result.
std::string RenderExitTable(const JobEnd& view, const ui::Style& style) {
  const HostMatrix matrix = MakeHostMatrix(view.job, view.exits);
  if (matrix.hosts.empty()) return {};
  std::vector<ui::Column> columns = {{.header = "HOST"}};
  for (const std::string& stage : matrix.stages) columns.push_back({.header = stage});
  ui::Table table(std::move(columns));
  std::vector<bool> shown(matrix.hosts.size(), false);
  for (std::size_t i = 0; i < matrix.hosts.size(); ++i) {
    if (shown[i]) continue;
    std::vector<int> alike;
    for (std::size_t j = i; j < matrix.hosts.size(); ++j) {
      const bool same =
          std::equal(matrix.hosts[i].stages.begin(), matrix.hosts[i].stages.end(),
                     matrix.hosts[j].stages.begin(), matrix.hosts[j].stages.end(),
                     [](const ui::Cell& a, const ui::Cell& b) { return a.text == b.text; });
      if (j != i && (!same || matrix.hosts.size() <= kManyHosts)) continue;
      shown[j] = true;
      alike.push_back(matrix.hosts[j].number);
    }
    std::vector<ui::Cell> row = {base::FormatRanges(alike)};
    row.insert(row.end(), matrix.hosts[i].stages.begin(), matrix.hosts[i].stages.end());
    table.AddRow(std::move(row));
  }
  return table.Render(style);
}

std::string NextCommands(const JobEnd& view) {
  const std::string id = core::FormatJobId(view.job.id);
  const bool held = view.job.slice && view.job.slice->phase == core::SlicePhase::kCreated;
  std::string text = "next:\n";
  if (DoneOf(view).outcome != Outcome::kSucceeded) {
    text += fmt::format("  jobman why {:<10} what happened, and what to do\n", id);
  }
  text += fmt::format("  jobman logs {:<9} what the hosts wrote\n", id);
  text += fmt::format("  jobman resume {:<7} run it again{}\n", id,
                      held ? ", on the slice that is still held" : "");
  if (held)
    text += fmt::format("  jobman delete {:<7} delete the slice\n", id);
  else
    text += fmt::format("  jobman show {:<9} everything about it\n", id);
  return text;
}

}  // namespace

std::string RenderText(const JobEnd& view, const ui::Style& style) {
  std::string text = "\n" + RenderExitTable(view, style);
  const auto state = core::StateName(view.job.state);
  const auto tone = DoneOf(view).outcome == Outcome::kSucceeded ? ui::Tone::kGood : ui::Tone::kBad;
  const std::string head =
      fmt::format("job {} ({}) ", core::FormatJobId(view.job.id), view.job.name);
  text += "\n" + StateLine(head, state, tone, view.job.why, style);
  return text + NextCommands(view);
}

std::string RenderQuiet(const JobEnd& view) {
  return std::string(core::StateName(view.job.state)) + "\n";
}

base::OrderedJson ToJson(const JobEnd& view) {
  base::OrderedJson stages = base::OrderedJson::object();
  for (const ports::ExitRecord& exit : view.exits) {
    auto& code = stages[exit.stage][std::to_string(exit.host)];
    if (exit.error.empty())
      code = exit.exit_code;
    else
      code = nullptr;
  }
  return {{"id", view.job.id.value},
          {"name", view.job.name},
          {"state", core::StateName(view.job.state)},
          {"exit_code", view.exit_code},
          {"why", view.job.why},
          {"stages", stages}};
}

}  // namespace jobman::cli::views

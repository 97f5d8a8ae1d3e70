#include "cli/views/job_end.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/host_matrix.hpp"
#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli::views {
namespace {

using core::Outcome;

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

/// Commands, and what each is for.
std::vector<std::pair<std::string, std::string>> NextLines(const NextCommands& view) {
  const bool held = !view.held.empty();
  const std::string again = view.several ? "run them again"
                            : held       ? "run it again, on the slice that is still held"
                                         : "run it again";
  std::vector<std::pair<std::string, std::string>> lines;
  if (!view.cure.empty())
    lines.emplace_back("jobman edit " + view.all, "change what it asks for");
  else if (!view.failed.empty())
    lines.emplace_back("jobman why " + view.failed, "what happened, and what to do");
  if (view.ran) lines.emplace_back("jobman logs " + view.all, "what the hosts wrote");
  lines.emplace_back("jobman resume " + (view.failed.empty() ? view.all : view.failed), again);
  if (held) {
    lines.emplace_back("jobman delete " + view.held,
                       view.several ? "delete the slices" : "delete the slice");
  } else {
    lines.emplace_back("jobman show " + view.all,
                       view.several ? "everything about them" : "everything about it");
  }
  return lines;
}

}  // namespace

bool HoldsSlice(const core::Job& job) {
  return job.slice && job.slice->phase == core::SlicePhase::kCreated && !job.slice->ref.existing;
}

bool HasSucceeded(const core::Job& job) {
  const auto* const done = std::get_if<core::Done>(&job.state);
  return done != nullptr && done->outcome == Outcome::kSucceeded;
}

NextCommands NextOf(const core::Job& job, bool ran) {
  const std::string id = core::FormatJobId(job.id);
  const auto* const done = std::get_if<core::Done>(&job.state);
  const bool told = !ran && done != nullptr && done->error.has_value();
  return {.all = id,
          .failed = HasSucceeded(job) ? "" : id,
          .held = HoldsSlice(job) ? id : std::string(),
          .ran = ran,
          .cure = told ? done->error->hint : std::string()};
}

std::string RenderCommands(const NextCommands& view, int indent, const ui::Style& style) {
  const auto lines = NextLines(view);
  std::size_t width = 0;
  for (const auto& line : lines) width = std::max(width, line.first.size());
  std::string text;
  for (const auto& [command, what] : lines)
    text += fmt::format("{:{}}{:<{}}  {}\n", "", indent, command, width, what);
  return WrapKeys(text, style.width);
}

std::string RenderText(const NextCommands& view, const ui::Style& style) {
  std::string head = "next:";
  if (!view.cure.empty()) head += " " + ui::Clean(view.cure, style.utf8);
  return WrapKeys(head + "\n", style.width) + RenderCommands(view, 2, style);
}

std::string RenderText(const JobEnd& view, const ui::Style& style) {
  const std::string table = RenderExitTable(view, style);
  const auto state = core::StateName(view.job.state);
  const auto tone = HasSucceeded(view.job) ? ui::Tone::kGood : ui::Tone::kBad;
  const std::string head =
      fmt::format("job {} ({}) ", core::FormatJobId(view.job.id), view.job.name);
  const std::string line = StateLine(head, state, tone, view.job.why, style);
  // Of several jobs the line tells whose table it is; that of a job alone ends in what to do.
  if (!view.alone) return "\n" + line + table;
  return (table.empty() ? "\n" : "\n" + table + "\n") + line +
         RenderText(NextOf(view.job, view.ran), style);
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

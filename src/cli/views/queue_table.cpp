#include "cli/views/queue_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using core::TaskState;
using TableOfTasks = QueueTable::Part;

/// Those that somebody looks for first.
constexpr std::array kStatesInOrder = {TaskState::kRunning, TaskState::kFailed, TaskState::kQueued,
                                       TaskState::kBlocked, TaskState::kPaused, TaskState::kRemoved,
                                       TaskState::kDone};
/// Below a table: more are counted.
constexpr std::size_t kMostProblems = 10;

bool IsHistory(const TaskRow& row) {
  return row.state == TaskState::kDone || row.state == TaskState::kRemoved;
}

ui::Tone ToneOfAge(const TaskRow& row) {
  return IsHistory(row) ? ui::Tone::kDim : ui::Tone::kPlain;
}

/// A column, and where its text comes from.
struct TaskColumn {
  ui::Column column;
  std::function<ui::Cell(const TaskRow& row)> cell;
  bool shared = false;  ///< said once in a heading, if all rows have the same
};

/// Without "run 3 on job 000002 failed: ", which STATE and TRIES say as well: a terminal has room
/// for a few words, and they are to be the cause.
std::string CauseOf(const TaskRow& row) {
  constexpr std::array<std::string_view, 2> kEnds = {" failed: ", " succeeded: "};
  const bool over = row.state == TaskState::kFailed || row.state == TaskState::kDone;
  for (const std::string_view end : kEnds) {
    const std::size_t at = row.why.find(end);
    const bool of_run = over && row.why.starts_with("run ") && at != std::string::npos;
    if (of_run) return row.why.substr(at + end.size());
  }
  return row.why;
}

std::vector<TaskColumn> ColumnsOf(core::TimePoint now, bool brief) {
  return {
      {{.header = "TASK", .flexible = 3, .enough = 24},
       [](const TaskRow& row) { return ui::Cell(row.task.definition.id); }},
      {{.header = "ACCELERATOR", .drop = 2},
       [](const TaskRow& row) { return ui::Cell(OrDash(row.task.definition.accelerator)); },
       true},
      {{.header = "ZONE", .drop = 1},
       [](const TaskRow& row) { return ui::Cell(OrDash(row.task.definition.zone)); },
       true},
      {{.header = "STATE"},
       [](const TaskRow& row) {
         const std::string state(core::TaskStateName(row.state));
         return ui::Cell(state + (row.preview ? "*" : ""), ToneOfState(state));
       }},
      {{.header = "WHERE", .flexible = 2, .enough = 14},
       [](const TaskRow& row) { return ui::Cell(OrDash(WhereOf(row))); }},
      {{.header = "SINCE"},
       [now](const TaskRow& row) { return ui::Cell(Ago(SinceOf(row), now), ToneOfAge(row)); }},
      {{.header = "TRIES", .right = true},
       [](const TaskRow& row) { return ui::Cell(std::to_string(row.task.runs)); }},
      {{.header = "WHY", .flexible = 1, .enough = 50},
       [brief](const TaskRow& row) {
         return ui::Cell(OrDash(brief ? CauseOf(row) : row.why), ToneOfAge(row));
       }},
  };
}

bool IsSame(const TaskColumn& column, const std::vector<TaskRow>& rows) {
  const std::string first = column.cell(rows.front()).text;
  return std::all_of(rows.begin(), rows.end(),
                     [&](const TaskRow& row) { return column.cell(row).text == first; });
}

/// What all tasks have in common is said once: "all 30 tasks: v4-32, us-central2-b".
std::string TakeCommon(std::vector<TaskColumn>& columns, const std::vector<TaskRow>& rows) {
  if (rows.size() < 2) return {};
  std::vector<std::string> said;
  std::erase_if(columns, [&](const TaskColumn& column) {
    if (!column.shared || !IsSame(column, rows)) return false;
    const std::string text = column.cell(rows.front()).text;
    if (text != "-") said.push_back(text);
    return true;
  });
  if (said.empty()) return {};
  return fmt::format("all {} tasks: {}", rows.size(), base::Join(said, ", "));
}

std::string Dim(const std::string& line, const ui::Style& style) {
  const std::string text = WrapText(ui::Clean(line, style.utf8), 0, kFurtherIn, style.width);
  return ui::Paint(ui::Tone::kDim, text, style) + "\n";
}

std::string Plain(const std::string& line, const ui::Style& style) {
  return WrapText(ui::Clean(line, style.utf8), 0, kFurtherIn, style.width) + "\n";
}

/// Those that fit the window: the ones that are under way first.
std::vector<const TaskRow*> RowsThatFit(const std::vector<TaskRow>& rows, int height) {
  std::vector<const TaskRow*> shown;
  for (const TaskRow& row : rows) shown.push_back(&row);
  const auto most = static_cast<std::size_t>(std::max(height, 1));
  if (height <= 0 || shown.size() <= most) return shown;
  const auto rank = [](const TaskRow* row) {
    return std::find(kStatesInOrder.begin(), kStatesInOrder.end(), row->state);
  };
  std::stable_sort(shown.begin(), shown.end(),
                   [&rank](const auto* a, const auto* b) { return rank(a) < rank(b); });
  shown.resize(most);
  return shown;
}

std::string TableText(const QueueTable& view, const TableOfTasks& part, const ui::Style& style) {
  if (part.rows.empty()) return {};
  std::vector<TaskColumn> columns = ColumnsOf(view.now, style.width > 0);
  std::string common;
  if (style.width > 0 && view.header) common = TakeCommon(columns, part.rows);
  std::vector<ui::Column> heads;
  for (const TaskColumn& column : columns) heads.push_back(column.column);
  ui::Table table(std::move(heads));
  const auto shown = RowsThatFit(part.rows, view.height);
  for (const TaskRow* const row : shown) {
    std::vector<ui::Cell> cells;
    for (const TaskColumn& column : columns) cells.push_back(column.cell(*row));
    table.AddRow(std::move(cells));
  }
  std::string text = common.empty() ? "" : Dim(common, style);
  text += table.Render(style, view.header);
  if (shown.size() == part.rows.size()) return text;
  return text + Dim(fmt::format("and {} more; without --watch all are shown",
                                part.rows.size() - shown.size()),
                    style);
}

/// What is wrong with the file, its tasks and their records, one line each.
std::vector<std::string> ProblemsOf(const TableOfTasks& part) {
  std::vector<std::string> lines;
  if (!part.error.empty()) {
    lines.push_back("the file is not used, the last good one goes on: " + part.error);
  }
  for (const core::RefusedTask& one : part.refused) {
    lines.push_back((one.id.empty() ? "a task is refused: " : "task " + one.id + " is refused: ") +
                    one.why);
  }
  for (const ports::TaskSetAside& one : part.set_aside) {
    lines.push_back("task " + one.id + " is set aside: " + one.why);
  }
  for (const std::string& warning : part.warnings) lines.push_back("warning: " + warning);
  if (lines.size() > kMostProblems) {
    const std::size_t more = lines.size() - kMostProblems;
    lines.resize(kMostProblems);
    lines.push_back(fmt::format("and {} more problems: --json has all", more));
  }
  return lines;
}

/// In a window, their number: the lines would push the table out of it.
std::vector<std::string> CountedProblems(const TableOfTasks& part) {
  std::vector<std::string> lines;
  if (!part.error.empty()) lines.emplace_back("the file is not used, the last good one goes on");
  const std::size_t others = part.refused.size() + part.set_aside.size() + part.warnings.size();
  if (others > 0) {
    lines.push_back(fmt::format("{} in the file: without --watch all are shown",
                                base::Plural(static_cast<std::int64_t>(others), "problem")));
  }
  return lines;
}

std::string BelowTable(const TableOfTasks& part, bool in_window, const ui::Style& style) {
  std::string counts = CountsText(part.counts);
  if (part.hidden > 0) counts += fmt::format("; {} hidden: --all shows them", part.hidden);
  std::string text = Plain(counts, style);
  const bool previews = std::any_of(part.rows.begin(), part.rows.end(),
                                    [](const TaskRow& row) { return row.preview; });
  if (previews) text += Dim("* as the file says now: no controller has read that yet", style);
  const auto problems = in_window ? CountedProblems(part) : ProblemsOf(part);
  for (const std::string& line : problems) text += Plain(line, style);
  return text;
}

base::OrderedJson RefusedJson(const std::vector<core::RefusedTask>& refused) {
  base::OrderedJson json = base::OrderedJson::array();
  for (const core::RefusedTask& one : refused) json.push_back({{"id", one.id}, {"why", one.why}});
  return json;
}

base::OrderedJson SetAsideJson(const std::vector<ports::TaskSetAside>& set_aside) {
  base::OrderedJson json = base::OrderedJson::array();
  for (const ports::TaskSetAside& one : set_aside) {
    json.push_back({{"id", one.id}, {"why", one.why}});
  }
  return json;
}

base::OrderedJson PartJson(const TableOfTasks& part) {
  base::OrderedJson tasks = base::OrderedJson::array();
  for (const TaskRow& row : part.rows) tasks.push_back(ToJson(row));
  base::OrderedJson json;
  json["file"] = part.file;
  json["workers"] = part.workers;
  json["counts"] = CountsJson(part.counts);
  json["hidden"] = part.hidden;
  json["error"] = part.error;
  json["refused"] = RefusedJson(part.refused);
  json["set_aside"] = SetAsideJson(part.set_aside);
  json["warnings"] = part.warnings;
  json["tasks"] = std::move(tasks);
  return json;
}

}  // namespace

std::string CountsText(const TaskCounts& counts) {
  int all = 0;
  std::vector<std::string> parts;
  for (const TaskState state : kStatesInOrder) {
    const auto found = counts.find(state);
    if (found == counts.end() || found->second == 0) continue;
    all += found->second;
    parts.push_back(fmt::format("{} {}", found->second, core::TaskStateName(state)));
  }
  if (all == 0) return "no tasks";
  return base::Plural(all, "task") + ": " + base::Join(parts, ", ");
}

base::OrderedJson CountsJson(const TaskCounts& counts) {
  base::OrderedJson json = base::OrderedJson::object();
  for (const TaskState state : kStatesInOrder) {
    const auto found = counts.find(state);
    json[std::string(core::TaskStateName(state))] = found == counts.end() ? 0 : found->second;
  }
  return json;
}

std::string RenderText(const QueueTable& view, const ui::Style& style) {
  ui::Style fit = style;
  if (view.wide) fit.width = 0;
  std::string text;
  for (const TableOfTasks& part : view.parts) {
    if (!view.header) {
      text += TableText(view, part, fit);
      continue;
    }
    if (!text.empty()) text += "\n";
    text += Plain("queue " + part.title, fit) + TableText(view, part, fit) +
            BelowTable(part, view.height > 0, fit);
  }
  return text;
}

std::string RenderQuiet(const QueueTable& view) {
  std::string text;
  for (const TableOfTasks& part : view.parts) {
    for (const TaskRow& row : part.rows) text += ui::Clean(row.task.definition.id, false) + "\n";
  }
  return text;
}

base::OrderedJson ToJson(const QueueTable& view) {
  base::OrderedJson queues = base::OrderedJson::array();
  for (const TableOfTasks& part : view.parts) queues.push_back(PartJson(part));
  return {{"queues", std::move(queues)}};
}

}  // namespace jobman::cli::views

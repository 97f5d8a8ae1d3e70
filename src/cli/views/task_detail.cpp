#include "cli/views/task_detail.hpp"

#include <fmt/format.h>

#include "cli/views/words.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/core/task_json.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

std::string FactLine(std::string_view label, const std::string& text, const ui::Style& style) {
  if (text.empty()) return {};
  return "  " + LabelledLine(label, text, 2, ui::Tone::kPlain, style);
}

/// "v4-32 in us-central2-b, all hosts".
std::string NeedsText(const core::TaskDefinition& task) {
  const std::string zone = task.zone.empty() ? "no zone" : task.zone;
  return task.accelerator + " in " + zone + ", " + HostsWords(task.workers);
}

std::string CodeOf(const core::TaskDefinition& task) {
  if (task.url.empty()) return {};
  return task.url + (task.branch.empty() ? "" : ", branch " + task.branch);
}

/// "3 runs, 1 failure of 3, 2 interruptions".
std::string TriesText(const core::Task& task) {
  return fmt::format("{}, {} of {}, {}", base::Plural(task.runs, "run"),
                     base::Plural(task.failures, "failure"), task.definition.max_retries,
                     base::Plural(task.interruptions, "interruption"));
}

std::string FactsText(const TaskDetails::Part& part, const ui::Style& style) {
  const core::Task& task = part.row.task;
  const core::TaskDefinition& is = task.definition;
  std::string text = FactLine("queue", part.row.title, style);
  text += FactLine("where", WhereOf(part.row), style);
  text += FactLine("slice", base::Join(part.row.slices, ", "), style);
  text += FactLine("last", task.why, style);
  text += FactLine("tries", TriesText(task), style);
  text += FactLine("needs", NeedsText(is), style);
  text += FactLine("after", base::Join(is.depends_on, ", "), style);
  text += FactLine("code", CodeOf(is), style);
  text += FactLine("workdir", is.workdir, style);
  text += FactLine("env", is.env, style);
  text += FactLine("run", FirstLine(is.run), style);
  text += FactLine("logs", part.files, style);
  if (task.prioritized) text += FactLine("note", "it is run before all others", style);
  if (part.row.preview) {
    text +=
        FactLine("note", "this is what the file says now: no controller has read it yet", style);
  }
  return text;
}

ui::Cell EndCell(const core::TaskRun& run) {
  if (!run.end) return {"goes on", ui::Tone::kGood};
  const std::string word(core::TaskEndName(run.end->kind));
  const bool failed = run.end->kind == core::TaskEndKind::kFailed;
  std::string text = run.end->why.empty() ? word : word + ": " + run.end->why;
  constexpr std::size_t kEnough = 12;  // of a commit, as git's own short form in large repositories
  if (!run.end->commit.empty()) text += "; commit " + run.end->commit.substr(0, kEnough);
  return {std::move(text), failed ? ui::Tone::kBad : ui::Tone::kPlain};
}

std::string RunsText(const std::vector<core::TaskRun>& runs, core::TimePoint now,
                     const ui::Style& style) {
  if (runs.empty()) return {};
  ui::Table table({{.header = "RUN", .right = true},
                   {.header = "JOB"},
                   {.header = "STARTED (UTC)"},
                   {.header = "TOOK"},
                   {.header = "END", .wraps = true}});
  for (const core::TaskRun& run : runs) {
    table.AddRow({std::to_string(run.number), core::FormatJobId(run.job),
                  base::FormatDateTime(run.started_at),
                  Ago(run.started_at, run.ended_at.value_or(now)), EndCell(run)});
  }
  return table.Render(style);
}

}  // namespace

std::string RenderText(const TaskDetails& view, const ui::Style& style) {
  std::string text;
  for (const TaskDetails::Part& part : view.parts) {
    if (!text.empty()) text += "\n";
    const std::string_view state = core::TaskStateName(part.row.state);
    const std::string head = "task " + ui::Clean(part.row.task.definition.id, style.utf8) + " is ";
    text += StateLine(head, state, ToneOfState(state), part.row.why, style);
    text += FactsText(part, style) + RunsText(part.runs, view.now, style);
  }
  return text;
}

std::string RenderQuiet(const TaskDetails& view) {
  std::string text;
  for (const TaskDetails::Part& part : view.parts) {
    text += std::string(core::TaskStateName(part.row.state)) + "\n";
  }
  return text;
}

base::OrderedJson ToJson(const TaskDetails& view) {
  base::OrderedJson tasks = base::OrderedJson::array();
  for (const TaskDetails::Part& part : view.parts) {
    base::OrderedJson json = ToJson(part.row);
    json["definition"] = base::OrderedJson(core::TaskToJson(part.row.task)["definition"]);
    base::OrderedJson runs = base::OrderedJson::array();
    for (const core::TaskRun& run : part.runs) {
      runs.push_back(base::OrderedJson(core::TaskRunToJson(run)));
    }
    json["history"] = std::move(runs);
    json["files"] = part.files;
    tasks.push_back(std::move(json));
  }
  return {{"tasks", std::move(tasks)}};
}

}  // namespace jobman::cli::views

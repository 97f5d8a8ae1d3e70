#include "cli/views/task_row.hpp"

#include "cli/views/words.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"

namespace jobman::cli::views {
namespace {

base::OrderedJson RunsOnJson(const TaskRow& row) {
  base::OrderedJson runs = base::OrderedJson::array();
  for (std::size_t i = 0; i < row.task.claims.size(); ++i) {
    const core::TaskClaim& claim = row.task.claims[i];
    runs.push_back({{"job", claim.job.value},
                    {"attempt", claim.attempt},
                    {"run", claim.run},
                    {"since", base::FormatRfc3339(claim.since)},
                    {"slice", i < row.slices.size() ? row.slices[i] : ""},
                    {"hosts", core::HostSetText(row.task.definition.workers)}});
  }
  return runs;
}

}  // namespace

std::string HostsWords(const core::HostSet& hosts) {
  if (hosts.all) return "all hosts";
  return (hosts.numbers.size() == 1 ? "host " : "hosts ") + core::HostSetText(hosts);
}

std::string WhereOf(const TaskRow& row) {
  std::vector<std::string> jobs;
  for (const core::TaskClaim& claim : row.task.claims) jobs.push_back(core::FormatJobId(claim.job));
  return jobs.empty() ? "" : base::Join(jobs, ",") + " " + HostsWords(row.task.definition.workers);
}

core::TimePoint SinceOf(const TaskRow& row) {
  return row.task.claims.empty() ? row.task.since : row.task.claims.front().since;
}

// Member by member: a braced list would copy its values, and there are many rows.
base::OrderedJson ToJson(const TaskRow& row) {
  const core::Task& task = row.task;
  base::OrderedJson json;
  json["id"] = task.definition.id;
  json["queue"] = row.file;
  json["state"] = core::TaskStateName(row.state);
  json["accelerator"] = task.definition.accelerator;
  json["zone"] = task.definition.zone;
  json["since"] = base::FormatRfc3339(SinceOf(row));
  json["why"] = row.why;
  json["last_change"] = task.why;
  json["runs"] = task.runs;
  json["failures"] = task.failures;
  json["interruptions"] = task.interruptions;
  json["max_retries"] = task.definition.max_retries;
  json["runs_on"] = RunsOnJson(row);
  json["depends_on"] = task.definition.depends_on;
  json["paused"] = task.paused;
  json["prioritized"] = task.prioritized;
  json["listed"] = task.listed;
  json["hide"] = task.definition.hide;
  json["preview"] = row.preview;
  return json;
}

std::string RenderText(const ChangedTasks& view, const ui::Style& style) {
  std::string text;
  for (const TaskRow& row : view.rows) {
    const std::string_view state = core::TaskStateName(row.state);
    const std::string head = "task " + ui::Clean(row.task.definition.id, style.utf8) + " is ";
    text += StateLine(head, state, ToneOfState(state), row.why, style);
  }
  for (const std::string& id : view.erased) {
    text += "task " + ui::Clean(id, style.utf8) + " is gone: its record and logs are deleted\n";
  }
  return text;
}

std::string RenderQuiet(const ChangedTasks& view) {
  std::string text;
  for (const TaskRow& row : view.rows) text += ui::Clean(row.task.definition.id, false) + "\n";
  for (const std::string& id : view.erased) text += ui::Clean(id, false) + "\n";
  return text;
}

base::OrderedJson ToJson(const ChangedTasks& view) {
  base::OrderedJson tasks = base::OrderedJson::array();
  for (const TaskRow& row : view.rows) tasks.push_back(ToJson(row));
  base::OrderedJson json = {{"tasks", std::move(tasks)}};
  if (!view.erased.empty()) json["erased"] = view.erased;
  return json;
}

}  // namespace jobman::cli::views

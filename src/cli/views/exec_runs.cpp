#include "cli/views/exec_runs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/core/stage.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using remote::RunAge;
using remote::RunStatus;

/// Characters of numbers of hosts in a row.
constexpr std::size_t kRowNumbers = 32;

std::string StateOf(const RunStatus& status) {
  if (status.kind == RunStatus::Kind::kRunning) return "running";
  if (status.kind == RunStatus::Kind::kExited)
    return "exit code " + std::to_string(status.exit_code);
  return "lost: " + status.text;
}

ui::Tone ToneOfRun(const RunStatus& status) {
  if (status.kind == RunStatus::Kind::kRunning) return ui::Tone::kBusy;
  const bool good = status.kind == RunStatus::Kind::kExited && status.exit_code == 0;
  return good ? ui::Tone::kGood : ui::Tone::kBad;
}

/// Hosts on which a run has the same state.
struct SameState {
  std::vector<int> hosts = {};
  base::Duration age = {};  ///< the longest
  RunStatus status = {};
};

/// The latest run first.
std::vector<std::pair<std::string, SameState>> Grouped(const ExecRuns& view) {
  std::map<std::pair<std::string, std::string>, SameState> groups;
  for (const client::ExecRunHost& host : view.hosts) {
    if (!host.runs.ok()) continue;
    for (const RunAge& run : *host.runs) {
      SameState& group = groups[{run.run_id, StateOf(run.status)}];
      group.hosts.push_back(host.host);
      group.age = std::max(group.age, run.age);
      group.status = run.status;
    }
  }
  std::vector<std::pair<std::string, SameState>> rows;
  for (const auto& [key, group] : groups) rows.emplace_back(key.first, group);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.age < b.second.age; });
  return rows;
}

base::OrderedJson RunJson(const RunAge& run) {
  const bool exited = run.status.kind == RunStatus::Kind::kExited;
  const bool running = run.status.kind == RunStatus::Kind::kRunning;
  const std::string state = exited ? "exited" : running ? "running" : "lost";
  base::OrderedJson json = {{"name", run.run_id}, {"state", state}};
  json["exit_code"] = exited ? base::OrderedJson(run.status.exit_code) : base::OrderedJson();
  json["why"] = exited || running ? base::OrderedJson() : base::OrderedJson(run.status.text);
  json["seconds"] = std::chrono::duration_cast<std::chrono::seconds>(run.age).count();
  return json;
}

/// Whether the run has begun there; nothing if the host's answer is lost.
std::optional<bool> HasBegun(const ssh::HostOutcome& host) {
  if (host.result.ok()) return true;
  return host.begun ? std::optional<bool>() : false;
}

}  // namespace

std::string RenderText(const ExecRuns& view, const ui::Style& style) {
  ui::Table table({{.header = "NAME", .flexible = 2},
                   {.header = "HOSTS"},
                   {.header = "STATE", .flexible = 1},
                   {.header = "SINCE", .right = true}});
  for (const auto& [name, row] : Grouped(view))
    table.AddRow({name,
                  base::ShortRanges(row.hosts, kRowNumbers),
                  {StateOf(row.status), ToneOfRun(row.status)},
                  base::FormatDuration(row.age)});
  for (const client::ExecRunHost& host : view.hosts)
    if (!host.runs.ok())
      table.AddRow(
          {"?", std::to_string(host.host), {host.runs.error().message, ui::Tone::kBad}, ""});
  return table.empty() ? "no detached runs\n" : table.Render(style);
}

std::string RenderQuiet(const ExecRuns& view) {
  std::set<std::string> seen;
  std::string lines;
  for (const auto& [name, row] : Grouped(view))
    if (seen.insert(name).second) lines += name + "\n";
  return lines;
}

base::OrderedJson ToJson(const ExecRuns& view) {
  base::OrderedJson hosts = base::OrderedJson::array();
  for (const client::ExecRunHost& host : view.hosts) {
    base::OrderedJson json = {{"host", host.host}};
    json["error"] =
        host.runs.ok() ? base::OrderedJson() : base::OrderedJson(host.runs.error().ToString());
    json["runs"] = base::OrderedJson::array();
    if (host.runs.ok())
      for (const RunAge& run : *host.runs) json["runs"].push_back(RunJson(run));
    hosts.push_back(std::move(json));
  }
  return {{"job", view.job.value}, {"hosts", std::move(hosts)}};
}

std::string RenderText(const ExecRunBegun& view, const ui::Style&) {
  std::vector<int> begun, unknown;
  for (const ssh::HostOutcome& host : view.result.hosts) {
    if (HasBegun(host) == true) begun.push_back(host.host);
    if (!HasBegun(host)) unknown.push_back(host.host);
  }
  const std::string exec = "jobman exec " + core::FormatJobId(view.job);
  std::string text;
  if (!begun.empty()) {
    const std::string some =
        std::ssize(begun) == view.job_hosts ? "" : " -w " + base::FormatRanges(begun);
    text = "run " + view.name + " has begun on " + base::Plural(std::ssize(begun), "host") +
           "; its output: " + exec + some + " --follow " + view.name + "\n";
  }
  if (!unknown.empty()) {
    text += "run " + view.name + " may have begun on " + core::HostNames(unknown) +
            "; to see whether it has: " + exec + " --runs\n";
  }
  return text.empty() ? "run " + view.name + " has begun on no host\n" : text;
}

std::string RenderQuiet(const ExecRunBegun& view) {
  const bool begun = std::any_of(view.result.hosts.begin(), view.result.hosts.end(),
                                 [](const auto& host) { return HasBegun(host) != false; });
  return begun ? view.name + "\n" : "";
}

base::OrderedJson ToJson(const ExecRunBegun& view) {
  base::OrderedJson hosts = base::OrderedJson::array();
  for (const ssh::HostOutcome& host : view.result.hosts) {
    base::OrderedJson json = {{"host", host.host}};
    json["error"] =
        host.result.ok() ? base::OrderedJson() : base::OrderedJson(host.result.error().ToString());
    const std::optional<bool> begun = HasBegun(host);
    json["begun"] = begun ? base::OrderedJson(*begun) : base::OrderedJson();
    hosts.push_back(std::move(json));
  }
  return {{"job", view.job.value}, {"name", view.name}, {"hosts", std::move(hosts)}};
}

}  // namespace jobman::cli::views

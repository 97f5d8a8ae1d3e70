#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/status_words.hpp"
#include "cli/views/job_list.hpp"

namespace jobman::cli {
namespace {

using base::Result;

struct ListOptions {
  std::vector<std::string> statuses = {};
  std::string name = {};
  std::string zone = {};
  std::string user = {};
  std::vector<std::string> labels = {};
  bool all = false;
  bool watch = false;
};

constexpr base::Duration kWatchEvery = std::chrono::seconds{1};
Result<std::map<std::string, std::string>> ReadLabels(const std::vector<std::string>& given) {
  std::map<std::string, std::string> labels;
  for (const std::string& label : given) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0)
      return base::InvalidArgument("--label: \"" + label + "\" is not KEY=VALUE");
    labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  return labels;
}

Result<ports::JobFilter> ReadFilter(const ListOptions& options) {
  ports::JobFilter filter{.name_glob = options.name,
                          .zone = options.zone,
                          .user = options.user,
                          .with_deleted = options.all};
  JM_ASSIGN_OR_RETURN(filter.states, ReadStatusWords("--status", options.statuses, StatusWords()));
  JM_ASSIGN_OR_RETURN(filter.labels, ReadLabels(options.labels));
  return filter;
}

Result<views::JobList> Look(const client::Context& context, const ports::JobFilter& filter) {
  JM_ASSIGN_OR_RETURN(std::vector<ports::JobSummary> jobs,
                      context.Await(context.stores.jobs->List(filter)));
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return views::JobList{.jobs = std::move(jobs), .now = context.Now()};
}

// On a terminal the table is repainted; elsewhere each change prints a new table (or line of JSON).
void ShowPicture(App& app, const views::JobList& view) {
  ui::Terminal& terminal = app.terminal();
  if (app.mode() == OutputMode::kJson) {
    app.ShowJsonLine(ToJson(view));
  } else {
    terminal.ClearScreen();
    app.Show(view);
    if (!terminal.facts().out_tty) terminal.Out("\n");
  }
  terminal.Flush();
}

Result<int> Watch(App& app, const client::Context& context, const ports::JobFilter& filter) {
  // On a terminal the table shows durations, so it is repainted even if nothing changed.
  const bool always = app.terminal().facts().out_tty && app.mode() == OutputMode::kText;
  std::optional<std::int64_t> seen;
  do {
    JM_ASSIGN_OR_RETURN(const std::int64_t changes,
                        context.Await(context.stores.jobs->ChangeCounter()));
    if (always || changes != seen) {
      JM_ASSIGN_OR_RETURN(const views::JobList view, Look(context, filter));
      ShowPicture(app, view);
      seen = changes;
    }
  } while (app.Wait(kWatchEvery));
  return app.EndOfWait();
}

Result<int> RunList(App& app, const ListOptions& options) {
  JM_ASSIGN_OR_RETURN(const ports::JobFilter filter, ReadFilter(options));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  if (options.watch) return Watch(app, context, filter);
  JM_ASSIGN_OR_RETURN(const views::JobList view, Look(context, filter));
  app.Show(view);
  if (view.jobs.empty() && app.mode() == OutputMode::kText) app.Say("no jobs");
  return kSuccess;
}

}  // namespace

void AddList(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command = root.add_subcommand("list", "All jobs: their state, since when, and why");
  command->alias("ls");
  command
      ->add_option("-s,--status", options->statuses,
                   "Only these: a state, or QUEUEING, RUNNING, IDLE, DEAD")
      ->type_name("STATUS,...")
      ->expected(1)
      ->take_all();
  command->add_option("-n,--name", options->name, "Only names that match (* and ?)")
      ->type_name("GLOB");
  command->add_option("-z,--zone", options->zone, "Only this zone")->type_name("ZONE");
  command->add_option("-l,--label", options->labels, "Only jobs with this label; repeatable")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  command->add_option("-u,--user", options->user, "Only jobs of this user")->type_name("USER");
  command->add_flag("-a,--all", options->all, "Deleted jobs, too");
  command->add_flag("-w,--watch", options->watch, "Show again whenever something changes");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunList(app, *options); }; });
}

}  // namespace jobman::cli

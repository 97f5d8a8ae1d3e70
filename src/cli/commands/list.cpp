#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/job_choice.hpp"
#include "cli/job_order.hpp"
#include "cli/list_footer.hpp"
#include "cli/one_of.hpp"
#include "cli/views/error.hpp"
#include "cli/views/job_list.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/job_words.hpp"
#include "jobman/client/last_words.hpp"

namespace jobman::cli {
namespace {

using base::Result;

struct ListOptions {
  JobChoice choice = {};
  std::string name = {};
  std::vector<std::string> zones = {};
  std::string user = {};
  std::string output = {};  ///< "wide", "name"
  std::string sort = "id";
  bool all = false;
  bool watch = false;
  bool no_header = false;
  bool details = false;
};

constexpr base::Duration kWatchEvery = std::chrono::seconds{1};

Result<ports::JobFilter> FilterOf(const ListOptions& options) {
  JM_ASSIGN_OR_RETURN(ports::JobFilter filter,
                      ReadFilter(options.choice.statuses, options.choice.labels));
  filter.name_glob = options.name;
  filter.zones = options.zones;
  filter.user = options.user;
  filter.with_deleted = options.all;
  return filter;
}

/// "no jobs", "no jobs match status running, zone us-east5-a".
std::string NoneText(const ListOptions& options) {
  std::vector<std::string> parts = options.choice.words;
  const auto add = [&](const std::string& what, const std::vector<std::string>& values) {
    const std::string all = base::Join(values, ",");
    if (!all.empty()) parts.push_back(what + all);
  };
  add("status ", options.choice.statuses);
  add("label ", options.choice.labels);
  add("name ", {options.name});
  add("zone ", options.zones);
  add("user ", {options.user});
  const std::string none = options.choice.for_workers.empty() ? "no jobs" : "no workers";
  return parts.empty() ? none : none + " match " + base::Join(parts, ", ");
}

/// Whether a word means the job, which need not exist: --watch waits for it.
bool IsNamed(const ports::JobSummary& job, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [&job](const std::string& word) {
    const auto number = base::ParseNumber(word);
    return (number && core::JobId{*number} == job.id) || base::GlobMatch(word, job.name);
  });
}

/// Of the jobs that run something now, or have run something. A list is for looking at: it stops at
/// so many.
std::map<core::JobId, std::string> LastOutputs(const client::Context& context,
                                               const std::vector<ports::JobSummary>& jobs) {
  constexpr std::size_t kMostJobs = 200;
  std::map<core::JobId, std::string> outputs;
  std::size_t looks = 0;
  for (const ports::JobSummary* const row : CurrentFirst(jobs)) {
    if (row->familiar == "QUEUEING") continue;
    if (++looks > kMostJobs) break;
    const auto job = context.Await(context.stores.jobs->Get(row->id));
    if (!job.ok()) continue;
    const auto output = core::IsFinal(job->state) ? client::FindFinalOutput(context.paths, *job)
                                                  : client::FindLastOutput(context.paths, *job);
    if (output) outputs[row->id] = client::LastOutputText(*output, context.Now());
  }
  return outputs;
}

/// A number or a name that means no job is told, rather than an empty table. A pattern filters.
base::Status MustExist(const client::Context& context, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.find_first_of("*?") != std::string::npos) continue;
    JM_TRY(context.Await(client::FindJob(context.stores.jobs, word)));
  }
  return base::Ok();
}

/// Of a record that cannot be read, nobody knows.
bool IsWorker(const client::Context& context, core::JobId id) {
  const auto job = context.Await(context.stores.jobs->Get(id));
  return job.ok() && job->spec.queue;
}

Result<std::vector<ports::JobSummary>> Matching(const client::Context& context,
                                                const ListOptions& options,
                                                const ports::JobFilter& filter) {
  JM_ASSIGN_OR_RETURN(std::vector<ports::JobSummary> jobs,
                      context.Await(context.stores.jobs->List(filter)));
  const auto& words = options.choice.words;
  if (!words.empty()) std::erase_if(jobs, [&](const auto& job) { return !IsNamed(job, words); });
  if (options.choice.for_workers.empty()) return jobs;
  std::erase_if(jobs, [&](const auto& job) { return !IsWorker(context, job.id); });
  return jobs;
}

Result<views::JobList> Look(App& app, const client::Context& context, const ListOptions& options,
                            const ports::JobFilter& filter) {
  JM_ASSIGN_OR_RETURN(auto jobs, Matching(context, options, filter));
  SortJobs(jobs, options.sort);
  views::JobList view{.now = context.Now(),
                      .wide = options.output == "wide",
                      .header = !options.no_header,
                      .height = options.watch ? app.terminal().facts().height : 0};
  if (options.details) view.outputs = LastOutputs(context, jobs);
  view.jobs = std::move(jobs);
  return view;
}

/// ", except 2 that are deleted: --all shows them": of what was asked for; empty if there are none.
Result<std::string> ExceptDeleted(const client::Context& context, const ListOptions& options,
                                  ports::JobFilter filter) {
  if (std::exchange(filter.with_deleted, true)) return std::string();
  JM_ASSIGN_OR_RETURN(const auto deleted, Matching(context, options, filter));
  if (deleted.empty()) return std::string();
  const bool one = deleted.size() == 1;
  return fmt::format(", except {} that {} deleted: --all shows {}", deleted.size(),
                     one ? "is" : "are", one ? "it" : "them");
}

/// What is below the table, and in its place if it is empty.
Result<std::vector<std::string>> LinesBelow(const client::Context& context,
                                            const views::JobList& view, const ListOptions& options,
                                            const ports::JobFilter& filter, int width) {
  JM_ASSIGN_OR_RETURN(auto lines, ListFooter(context, view.jobs, width));
  if (!view.jobs.empty()) return lines;
  JM_ASSIGN_OR_RETURN(const std::string except, ExceptDeleted(context, options, filter));
  lines.insert(lines.begin(), NoneText(options) + except);
  return lines;
}

// On a terminal the table is repainted; elsewhere each change prints a new table (or line of JSON).
void ShowPicture(App& app, const views::JobList& view, const std::vector<std::string>& footer) {
  ui::Terminal& terminal = app.terminal();
  if (app.mode() == OutputMode::kJson) {
    app.ShowJsonLine(ToJson(view));
  } else {
    terminal.ClearScreen();
    app.Show(view);
    if (app.mode() == OutputMode::kText) {
      for (const std::string& line : footer) terminal.Out(line + "\n");
    }
    if (!terminal.facts().out_tty) terminal.Out("\n");
  }
  terminal.Flush();
}

Result<int> Watch(App& app, const client::Context& context, const ListOptions& options,
                  const ports::JobFilter& filter) {
  // On a terminal the table shows durations, so it is repainted even if nothing changed.
  const bool always = app.terminal().facts().out_tty && app.mode() == OutputMode::kText;
  std::optional<std::int64_t> seen;
  std::string shown;
  do {
    JM_ASSIGN_OR_RETURN(const std::int64_t changes,
                        context.Await(context.stores.jobs->ChangeCounter()));
    if (!always && changes == seen) continue;
    seen = changes;
    JM_ASSIGN_OR_RETURN(views::JobList view, Look(app, context, options, filter));
    // The change may be of a job that is not listed.
    if (const std::string jobs = DumpJson(ToJson(view), -1);
        always || std::exchange(shown, jobs) != jobs) {
      const int width = app.terminal().facts().width;  // the window may have another size now
      JM_ASSIGN_OR_RETURN(const auto footer, LinesBelow(context, view, options, filter, width));
      if (view.height > 0) view.height = std::max(1, view.height - static_cast<int>(footer.size()));
      ShowPicture(app, view, footer);
    }
  } while (app.Wait(kWatchEvery));
  return app.EndOfWait();
}

Result<int> PrintWords(App& app, const client::Context& context,
                       const std::vector<ports::JobSummary>& jobs) {
  const ports::JobFilter every{.with_deleted = true, .without_labels = true};
  JM_ASSIGN_OR_RETURN(const auto all, context.Await(context.stores.jobs->List(every)));
  for (const std::string& word : client::WordsOf(jobs, all)) app.terminal().Out(word + "\n");
  return kSuccess;
}

Result<int> RunList(App& app, const ListOptions& options) {
  JM_ASSIGN_OR_RETURN(ports::JobFilter filter, FilterOf(options));
  filter.without_labels = app.mode() != OutputMode::kJson;
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  if (options.watch) return Watch(app, context, options, filter);
  JM_TRY(MustExist(context, options.choice.words));
  JM_ASSIGN_OR_RETURN(const views::JobList view, Look(app, context, options, filter));
  if (options.output == "name" && app.mode() != OutputMode::kJson)
    return PrintWords(app, context, view.jobs);
  app.Show(view);
  if (app.mode() != OutputMode::kText) return kSuccess;
  const int width = app.terminal().facts().width;
  JM_ASSIGN_OR_RETURN(const auto lines, LinesBelow(context, view, options, filter, width));
  for (const std::string& line : lines) app.Say(line);
  return kSuccess;
}

}  // namespace

void AddList(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command = root.add_subcommand("list", "All jobs: their state, since when, and why");
  command->alias("ls");
  AddJobChoice(*command, {options, &options->choice});
  command->add_option("-n,--name", options->name, "Only names that match (* and ?)")
      ->type_name("GLOB");
  command->add_option("-z,--zone", options->zones, "Only these zones")
      ->type_name("ZONE,...")
      ->expected(1)
      ->take_all()
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("-u,--user", options->user, "Only jobs of this user")->type_name("USER");
  command
      ->add_option("-o,--output", options->output,
                   "wide: every column, whole; name: a word for each job")
      ->check(OneOf({"wide", "name"}));
  command->add_option("--sort", options->sort, "By id, name, status, since, zone or user")
      ->type_name("COLUMN")
      ->check(OneOf({"id", "name", "status", "since", "zone", "user"}));
  command->add_flag("-v,--details", options->details, "What the hosts wrote last, too, and when");
  command->add_flag("--no-header", options->no_header, "Rows only");
  command->add_flag("-A,--all", options->all, "Deleted jobs, too");
  command->add_flag("--watch", options->watch, "Show again whenever something changes");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunList(app, *options); }; });
}

}  // namespace jobman::cli

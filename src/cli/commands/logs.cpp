#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands.hpp"
#include "cli/follow_job.hpp"
#include "cli/job_choice.hpp"
#include "cli/log_streams.hpp"
#include "cli/narrator.hpp"
#include "cli/since.hpp"
#include "cli/stored_logs.hpp"
#include "cli/whole_number.hpp"

namespace jobman::cli {
namespace {

using base::Result;

struct LogsOptions {
  JobChoice choice = {};
  std::string hosts = "all";
  client::LogQuery query = {};
  std::optional<std::int64_t> tail = {};
  std::optional<std::string> since = {};
  std::string grep = {};
  bool times = false;
  bool follow = false;
  bool fold = false;
};

constexpr base::Duration kReadEvery = std::chrono::milliseconds{100};
/// Lines of each host that --follow begins with.
constexpr std::int64_t kTailOfFollow = 20;

base::Status CheckFold(const LogsOptions& options) {
  if (!options.fold || !options.times) return base::Ok();
  return base::InvalidArgument("--fold and --timestamps exclude each other",
                               "hosts that share a line wrote it at different times");
}

Result<LogsWanted> Understand(App& app, const LogsOptions& options) {
  JM_TRY(CheckFold(options));
  LogsWanted wanted{.query = options.query,
                    .part = {.tail = options.tail},
                    .times = options.times,
                    .fold = options.fold};
  auto filter = LineFilter::For(options.grep);
  if (!filter.ok()) return std::move(filter).error().With("--grep");
  wanted.filter = *std::move(filter);
  if (!options.grep.empty()) {
    wanted.part.fits = [filter = wanted.filter](std::string_view line) {
      return filter.Keeps(line);
    };
  }
  JM_ASSIGN_OR_RETURN(wanted.part.since, ReadSince(options.since, app.Now()));
  auto hosts = core::ParseHostSet(options.hosts);
  if (!hosts.ok()) return std::move(hosts).error().With("--host");
  wanted.query.hosts = *std::move(hosts);
  if (options.follow && !wanted.part.tail && !wanted.part.since) wanted.part.tail = kTailOfFollow;
  return wanted;
}

/// A worker's own logs are those of its setup: its tasks have theirs.
void SayWhereLogsOfTasksAre(App& app, const std::vector<core::Job>& jobs,
                            const LogsWanted& wanted) {
  if (!wanted.query.stage.empty()) return;
  for (const core::Job& job : jobs) {
    if (!job.spec.queue) continue;
    const auto* const task = job.stage ? std::get_if<core::TaskStage>(&job.stage->id) : nullptr;
    const std::string id = core::FormatJobId(job.id);
    app.Say(task == nullptr
                ? "job " + id + " runs tasks, which have their own logs: jobman task logs TASK"
                : "job " + id + " runs task " + task->task + ": jobman task logs -f " + task->task);
  }
}

/// Of several jobs, one whose logs are not there does not keep the others' from being shown.
Result<int> PrintOnce(App& app, const client::Context& context, const std::vector<core::Job>& jobs,
                      const LogsWanted& wanted) {
  const auto labels = LabelsOf(jobs, app.terminal().facts().utf8);
  UntimedNote note(app, wanted);
  int worst = kSuccess;
  std::set<Shown> shown;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Result<Shown> printed = PrintStoredLogs(app, context, jobs[i], wanted, labels[i], note);
    if (app.terminal().out_error() != 0) return worst;  // nobody reads it
    if (printed.ok()) {
      shown.insert(*printed);
      continue;
    }
    if (jobs.size() == 1) return std::move(printed).error();
    base::Error named = std::move(printed).error().With(NumberAndName(jobs[i]));
    worst = std::max(worst, app.Fail(named));
  }
  if (shown.contains(Shown::kNoMatch) && !shown.contains(Shown::kSome)) app.Say("no line matches");
  return worst;
}

void SayEnd(App& app, const core::Job& job, bool alone) {
  const std::string named = alone ? "job " + core::FormatJobId(job.id) : NumberAndName(job);
  app.Say(fmt::format("{} is {}", named, core::StateName(job.state)));
}

/// The largest of the jobs' exit codes; 0 for one alone, whose output is all that was asked for.
int ExitCodeOfFollow(const std::vector<core::Job>& jobs) {
  int worst = kSuccess;
  for (const core::Job& job : jobs) {
    const bool counts = jobs.size() > 1 && core::IsFinal(job.state);
    if (counts) worst = std::max(worst, ExitCodeOfJob(job));
  }
  return worst;
}

/// Its hosts' output tells that better than a sentence could.
bool HasHostsAtWork(const core::Job& job) {
  return std::holds_alternative<core::Setup>(job.state) ||
         std::holds_alternative<core::Running>(job.state);
}

/// After each look at a job. How it ended is left to SayEnd().
void TellOf(Narrator& narrator, const core::Job& job) {
  core::IsFinal(job.state) ? narrator.Watch(job) : narrator.Tell(job);
}

Result<int> Follow(App& app, const client::Context& context, const std::vector<core::Job>& jobs,
                   const LogsWanted& wanted) {
  const bool alone = jobs.size() == 1;
  const auto labels = LabelsOf(jobs, app.terminal().facts().utf8);
  const core::HostSet& hosts = wanted.query.hosts;
  UntimedNote note(app, wanted);
  Narrator narrator(app, jobs);
  LogStreams streams(app, context, narrator);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    auto from = client::FollowFrom(context.paths, jobs[i], wanted.query);
    from.timed = wanted.times;
    from.begin_at = [&note, &wanted, id = jobs[i].id](const base::Path& log) {
      note.Look(id, log);
      return client::BeginOf(log, wanted.part);
    };
    const LogLook look{.one_host = !hosts.all && hosts.numbers.size() == 1,
                       .heading = StageHeading::kTold,
                       .times = wanted.times,
                       .label = labels[i],
                       .fold = wanted.fold};
    streams.Add(jobs[i].id, std::move(from), look, wanted.filter);
    if (HasHostsAtWork(jobs[i])) narrator.Known(jobs[i]);
  }
  const auto looked = [&app, &narrator, alone](const core::Job& job, bool over) {
    TellOf(narrator, job);
    if (!over) return;
    narrator.Settled(job.id);
    SayEnd(app, job, alone);
  };
  JM_ASSIGN_OR_RETURN(const bool done, streams.Follow(looked, kReadEvery));
  narrator.Hide();
  streams.Finish();
  return done ? ExitCodeOfFollow(streams.JobsThatAre(true)) : app.EndOfWait();
}

Result<int> RunLogs(App& app, const LogsOptions& options) {
  JM_ASSIGN_OR_RETURN(const LogsWanted wanted, Understand(app, options));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  // Nothing comes of a deleted job any more.
  const client::FindRules rules{.with_deleted = !options.follow};
  JM_ASSIGN_OR_RETURN(const auto ids, Choose(context, options.choice, rules));
  JM_ASSIGN_OR_RETURN(const auto jobs, ReadJobs(context, ids));
  if (options.follow) {
    SayWhereLogsOfTasksAre(app, jobs, wanted);
    return Follow(app, context, jobs, wanted);
  }
  JM_ASSIGN_OR_RETURN(const int code, PrintOnce(app, context, jobs, wanted));
  SayWhereLogsOfTasksAre(app, jobs, wanted);
  return code;
}

}  // namespace

void AddLogs(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<LogsOptions>();
  CLI::App* command = root.add_subcommand(
      "logs", "Print the hosts' output: of the latest attempt's command, or its last setup step");
  AddJobChoice(*command, {options, &options->choice});
  command->add_flag("-f,--follow", options->follow,
                    "Follow until the jobs are over; lines of several jobs are mixed");
  command
      ->add_option("--tail", options->tail,
                   "Only the last lines of each host; --follow begins with 20")
      ->type_name("N")
      ->transform(WholeNumber(0));
  command
      ->add_option_function<std::string>(
          "--since", [options](const std::string& text) { options->since = text; },
          "Only what came since then: 10m, or an RFC 3339 time")
      ->type_name("TIME");
  command->add_flag("-t,--timestamps", options->times,
                    "Begin each line with the time when it came, in UTC");
  command
      ->add_option("--grep", options->grep,
                   "Only lines that match, as for grep -E; --tail counts these")
      ->type_name("PATTERN");
  command->add_option("-w,--host", options->hosts, "\"all\", or numbers and ranges: 0,3-7")
      ->type_name("HOSTS");
  command->add_option("--stage", options->query.stage, "\"run\", or a setup step by its name")
      ->type_name("STAGE");
  command->add_option("-a,--attempt", options->query.attempt, "An attempt other than the latest")
      ->type_name("N")
      ->transform(WholeNumber(1));
  command->add_flag("--fold", options->fold, "Print output that several hosts share only once");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunLogs(app, *options); }; });
}

}  // namespace jobman::cli

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/log_printer.hpp"
#include "cli/views/folded_logs.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/log_follower.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using client::LogFile;
using client::LogStage;

struct LogsOptions {
  std::string job = {};
  std::string hosts = "all";
  std::string stage = {};
  std::optional<int> attempt = {};
  bool follow = false;
  bool fold = false;
};

constexpr base::Duration kReadEvery = std::chrono::milliseconds{100};

// What `logs` works on, once its arguments are resolved.
struct Request {
  client::Context context = {};
  core::Job job = {};
  core::HostSet hosts = {};
};

bool OnlyOne(const core::HostSet& hosts) {
  return !hosts.all && hosts.numbers.size() == 1;
}

Result<Request> Understand(App& app, const LogsOptions& options) {
  Request request;
  JM_ASSIGN_OR_RETURN(request.context, app.OpenForReading());
  const client::Context& context = request.context;
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, options.job)));
  JM_ASSIGN_OR_RETURN(request.job, context.Await(context.stores.jobs->Get(id)));
  auto hosts = core::ParseHostSet(options.hosts);
  if (!hosts.ok()) return std::move(hosts).error().With("--host");
  request.hosts = *hosts;
  return request;
}

std::string ListOf(const std::vector<std::string>& names) {
  return names.empty() ? "there are no logs" : "there is: " + base::Join(names, ", ");
}

// The requested attempt, or the latest one that has logs. Empty if there are no logs at all.
Result<std::optional<int>> ChooseAttempt(const Request& request, const LogsOptions& options) {
  const std::vector<int> attempts = client::LogAttempts(request.context.paths, request.job.id);
  if (!options.attempt) {
    if (attempts.empty()) return std::optional<int>{};
    return std::optional<int>{attempts.back()};
  }
  if (std::find(attempts.begin(), attempts.end(), *options.attempt) != attempts.end())
    return options.attempt;
  std::vector<std::string> known;
  for (const int attempt : attempts) known.push_back(std::to_string(attempt));
  return base::NotFound(fmt::format("attempt {} has no logs", *options.attempt), ListOf(known));
}

// The requested stage, or the one that ran last: the command, if it got that far.
Result<std::optional<LogStage>> ChooseStage(const Request& request, const LogsOptions& options,
                                            int attempt) {
  const std::vector<LogStage> stages =
      client::LogStages(request.context.paths, request.job.id, attempt);
  if (options.stage.empty()) {
    if (stages.empty()) return std::optional<LogStage>{};
    return std::optional<LogStage>{stages.back()};
  }
  std::vector<std::string> known;
  for (const LogStage& stage : stages) {
    if (client::IsCalled(stage, options.stage)) return std::optional<LogStage>{stage};
    known.push_back(stage.name);
  }
  return base::NotFound(
      fmt::format("attempt {} has no logs of stage \"{}\"", attempt, options.stage), ListOf(known));
}

Result<std::vector<LogFile>> ChooseFiles(const Request& request, const LogStage& stage) {
  std::vector<LogFile> files = client::LogFiles(request.context.paths, request.job.id, stage);
  std::vector<int> present;
  for (const LogFile& file : files) present.push_back(file.host);
  for (const int host : request.hosts.numbers) {
    if (request.hosts.all || std::binary_search(present.begin(), present.end(), host)) continue;
    return base::NotFound(
        fmt::format("host {} left no log in attempt {}, {}", host, stage.attempt, stage.name),
        "there are logs of hosts " + base::FormatRanges(present));
  }
  std::erase_if(files, [&](const LogFile& file) { return !request.hosts.Contains(file.host); });
  return files;
}

Result<int> PrintFolded(App& app, const Request& request, const LogStage& stage,
                        const std::vector<LogFile>& files) {
  views::FoldedLogs view{.job = request.job.id, .attempt = stage.attempt, .stage = stage.name};
  for (const LogFile& file : files) {
    std::string text;
    const auto read = client::ReadLog(file.path, 0, [&](std::string_view bytes) {
      text.append(bytes);
      return true;
    });
    if (!read.ok()) return read.error();
    view.folding.Add(file.host, std::move(text));
  }
  app.Show(view);
  return kSuccess;
}

Result<int> PrintFiles(App& app, const Request& request, const LogStage& stage,
                       const std::vector<LogFile>& files) {
  LogPrinter printer(app, request.job.id, files.size() == 1, false);
  const int host_count = client::HostCount(request.context.paths, request.job, stage);
  for (const LogFile& file : files) {
    const auto read = client::ReadLog(file.path, 0, [&](std::string_view bytes) {
      return printer.Print(stage, file.host, host_count, bytes);
    });
    if (!read.ok()) return read.error();
    printer.Finish();
  }
  return kSuccess;
}

Result<int> NoLogsYet(App& app, const Request& request) {
  app.Say(fmt::format("job {} has no logs yet: it is {}; jobman why {}",
                      core::FormatJobId(request.job.id), core::StateName(request.job.state),
                      request.job.id.value));
  return kSuccess;
}

Result<int> PrintOnce(App& app, const Request& request, const LogsOptions& options) {
  JM_ASSIGN_OR_RETURN(const auto attempt, ChooseAttempt(request, options));
  if (!attempt) return NoLogsYet(app, request);
  JM_ASSIGN_OR_RETURN(const auto stage, ChooseStage(request, options, *attempt));
  if (!stage) return NoLogsYet(app, request);
  JM_ASSIGN_OR_RETURN(const auto files, ChooseFiles(request, *stage));
  return options.fold ? PrintFolded(app, request, *stage, files)
                      : PrintFiles(app, request, *stage, files);
}

// Starts where `logs` without -f would, and goes on from there.
client::LogFollower::Options FollowFrom(const Request& request, const LogsOptions& options) {
  client::LogFollower::Options from{.first_attempt = std::max(request.job.attempt, 1),
                                    .only_attempt = options.attempt,
                                    .hosts = request.hosts,
                                    .poll_every = kReadEvery};
  if (!options.stage.empty()) from.only_stage = options.stage;
  const auto attempts = client::LogAttempts(request.context.paths, request.job.id);
  // If the job is about to start a new attempt, the existing logs belong to the last one.
  if (!attempts.empty() && core::IsFinal(request.job.state)) from.first_attempt = attempts.back();
  if (options.attempt) from.first_attempt = *options.attempt;
  const auto stages = client::LogStages(request.context.paths, request.job.id, from.first_attempt);
  if (!stages.empty()) from.first_stage = stages.back().name;
  return from;
}

Result<int> Follow(App& app, const Request& request, const LogsOptions& options) {
  client::LogFollower follower(request.context, request.job.id, FollowFrom(request, options));
  LogPrinter printer(app, request.job.id, OnlyOne(request.hosts), true);
  std::optional<LogStage> last;
  int host_count = 1;
  const auto take = [&](const LogStage& stage, int host, std::string_view bytes) {
    if (last != stage) host_count = client::HostCount(request.context.paths, follower.job(), stage);
    last = stage;
    return printer.Print(stage, host, host_count, bytes);
  };
  JM_ASSIGN_OR_RETURN(const bool done, follower.Follow(take, {}));
  printer.Finish();
  if (!done) return app.EndOfWait();
  app.Say(fmt::format("job {} is {}", core::FormatJobId(request.job.id),
                      core::StateName(follower.job().state)));
  return kSuccess;
}

Result<int> RunLogs(App& app, const LogsOptions& options) {
  if (options.follow && options.fold)
    return base::InvalidArgument("--follow and --fold exclude each other",
                                 "folding compares whole logs: ask for it when the stage is over");
  JM_ASSIGN_OR_RETURN(const Request request, Understand(app, options));
  return options.follow ? Follow(app, request, options) : PrintOnce(app, request, options);
}

}  // namespace

void AddLogs(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<LogsOptions>();
  CLI::App* command = root.add_subcommand(
      "logs", "Print the hosts' output: of the latest attempt's command, or its last setup step");
  command->add_option("JOB", options->job, "Number or name")->required();
  command->add_flag("-f,--follow", options->follow, "Follow until the job is over");
  command->add_option("--host", options->hosts, "\"all\", or numbers and ranges: 0,3-7")
      ->type_name("HOSTS");
  command->add_option("--stage", options->stage, "\"run\", or a setup step by its name")
      ->type_name("STAGE");
  command->add_option("-a,--attempt", options->attempt, "An attempt other than the latest")
      ->type_name("N");
  command->add_flag("--fold", options->fold, "Print output that several hosts share only once");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunLogs(app, *options); }; });
}

}  // namespace jobman::cli

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/line_filter.hpp"
#include "cli/log_printer.hpp"
#include "cli/narrator.hpp"
#include "cli/views/folded_logs.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/log_choice.hpp"
#include "jobman/controller/job_folder.hpp"
#include "jobman/core/explain.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using client::LogFile;
using client::LogStage;

struct LogsOptions {
  std::string job = {};
  std::string hosts = "all";
  client::LogQuery query = {};
  std::optional<std::int64_t> tail = {};
  std::string grep = {};
  bool follow = false;
  bool fold = false;
};

constexpr base::Duration kReadEvery = std::chrono::milliseconds{100};
/// Lines of each host that --follow begins with.
constexpr std::int64_t kTailOfFollow = 20;

// What `logs` works on, once its arguments are resolved.
struct Request {
  client::Context context = {};
  core::Job job = {};
  client::LogQuery query = {};
  std::optional<std::int64_t> tail = {};
  LineFilter filter = {};
};

bool OnlyOne(const core::HostSet& hosts) {
  return !hosts.all && hosts.numbers.size() == 1;
}

Result<Request> Understand(App& app, const LogsOptions& options) {
  Request request{.query = options.query, .tail = options.tail};
  auto filter = LineFilter::For(options.grep);
  if (!filter.ok()) return std::move(filter).error().With("--grep");
  request.filter = *std::move(filter);
  JM_ASSIGN_OR_RETURN(request.context, app.OpenForReading());
  const client::Context& context = request.context;
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, options.job)));
  JM_ASSIGN_OR_RETURN(request.job, context.Await(context.stores.jobs->Get(id)));
  auto hosts = core::ParseHostSet(options.hosts);
  if (!hosts.ok()) return std::move(hosts).error().With("--host");
  request.query.hosts = *hosts;
  return request;
}

/// The log as it is now; what comes later is not read.
Result<ui::HostText> TextOf(const LogFile& file) {
  ui::HostText text;
  const auto count = [&text](std::string_view bytes) {
    text.facts.Add(bytes);
    return true;
  };
  JM_TRY(client::ReadLog(file.path, 0, count));
  text.read = [path = file.path,
               size = text.facts.size()](const ui::TakePiece& take) -> base::Status {
    std::int64_t left = size;
    base::Status taken = base::Ok();
    const auto some = [&](std::string_view bytes) {
      const auto part = std::min(left, static_cast<std::int64_t>(bytes.size()));
      taken = take(bytes.substr(0, static_cast<std::size_t>(part)));
      left -= part;
      return taken.ok() && left > 0;
    };
    JM_TRY(client::ReadLog(path, 0, some));
    return taken;
  };
  return text;
}

Result<int> PrintFolded(App& app, const Request& request, const client::ChosenLogs& logs) {
  const LogStage& stage = logs.stage;
  views::FoldedLogs view{.job = request.job.id, .attempt = stage.attempt, .stage = stage.name};
  for (const LogFile& file : logs.files) {
    JM_ASSIGN_OR_RETURN(ui::HostText text, TextOf(file));
    view.folding.Add(file.host, std::move(text));
  }
  if (app.mode() == OutputMode::kJson) {
    LargeJson texts;
    JM_TRY(texts.Print(views::ToJson(view, texts), app.terminal()));
  } else {
    JM_TRY(view.folding.Print(app.terminal()));
  }
  return kSuccess;
}

Result<int> PrintFiles(App& app, Request& request, const client::ChosenLogs& logs) {
  const LogStage& stage = logs.stage;
  LogPrinter printer(app, request.job.id, logs.files.size() == 1, false);
  const int host_count = client::HostCount(request.context.paths, request.job, stage);
  for (const LogFile& file : logs.files) {
    const auto print = [&](std::string_view bytes) {
      return printer.Print(stage, file.host, host_count, bytes);
    };
    const std::int64_t from = request.tail ? client::LastLinesFrom(file.path, *request.tail) : 0;
    const auto read = client::ReadLog(file.path, from, [&](std::string_view bytes) {
      return print(request.filter.Take(file.host, bytes));
    });
    if (!read.ok()) return read.error();
    for (const auto& [host, rest] : request.filter.Finish()) print(rest);
    printer.Finish();
  }
  return kSuccess;
}

Result<int> NoLogsYet(App& app, const Request& request) {
  app.Say(fmt::format("job {} has no logs yet: it is {}; jobman why {}",
                      core::FormatJobId(request.job.id), core::StatusWord(request.job),
                      request.job.id.value));
  return kSuccess;
}

Result<int> PrintOnce(App& app, Request& request, bool fold) {
  if (!controller::IsOwnFolder(request.context.paths, request.job)) return NoLogsYet(app, request);
  JM_ASSIGN_OR_RETURN(const auto logs,
                      client::ChooseLogs(request.context.paths, request.job.id, request.query));
  if (!logs) return NoLogsYet(app, request);
  return fold ? PrintFolded(app, request, *logs) : PrintFiles(app, request, *logs);
}

Result<int> Follow(App& app, Request& request) {
  auto from = client::FollowFrom(request.context.paths, request.job, request.query);
  from.poll_every = kReadEvery;
  from.tail = request.tail.value_or(kTailOfFollow);
  client::LogFollower follower(request.context, request.job.id, std::move(from));
  LogPrinter printer(app, request.job.id, OnlyOne(request.query.hosts), true);
  Narrator narrator(app, false);
  std::optional<LogStage> last;
  int host_count = 1;
  const auto take = [&](const LogStage& stage, int host, std::string_view bytes) {
    if (last != stage) host_count = client::HostCount(request.context.paths, follower.job(), stage);
    last = stage;
    narrator.Heard(bytes);
    return printer.Print(stage, host, host_count, request.filter.Take(host, bytes));
  };
  const auto watch = [&narrator](const core::Job& job) { narrator.Watch(job); };
  JM_ASSIGN_OR_RETURN(const bool done, follower.Follow(take, watch));
  narrator.Hide();
  printer.Finish();
  if (!done) return app.EndOfWait();
  app.Say(fmt::format("job {} is {}", core::FormatJobId(request.job.id),
                      core::StateName(follower.job().state)));
  return kSuccess;
}

Result<int> RunLogs(App& app, const LogsOptions& options) {
  if (options.fold && (options.tail || !options.grep.empty())) {
    return base::InvalidArgument("--fold compares whole logs", "leave out --tail and --grep");
  }
  if (options.follow && options.fold)
    return base::InvalidArgument("--follow and --fold exclude each other",
                                 "folding compares whole logs: ask for it when the stage is over");
  JM_ASSIGN_OR_RETURN(Request request, Understand(app, options));
  return options.follow ? Follow(app, request) : PrintOnce(app, request, options.fold);
}

}  // namespace

void AddLogs(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<LogsOptions>();
  CLI::App* command = root.add_subcommand(
      "logs", "Print the hosts' output: of the latest attempt's command, or its last setup step");
  command->add_option("JOB", options->job, "Number or name")->required();
  command->add_flag("-f,--follow", options->follow, "Follow until the job is over");
  command
      ->add_option("--tail", options->tail,
                   "Only the last lines of each host; --follow begins with 20")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--grep", options->grep, "Only lines that match, as for grep -E")
      ->type_name("PATTERN");
  command->add_option("--host", options->hosts, "\"all\", or numbers and ranges: 0,3-7")
      ->type_name("HOSTS");
  command->add_option("--stage", options->query.stage, "\"run\", or a setup step by its name")
      ->type_name("STAGE");
  command->add_option("-a,--attempt", options->query.attempt, "An attempt other than the latest")
      ->type_name("N");
  command->add_flag("--fold", options->fold, "Print output that several hosts share only once");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunLogs(app, *options); }; });
}

}  // namespace jobman::cli

// jobman task logs: what the hosts of a task's runs wrote.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/task.hpp"
#include "cli/exit_code.hpp"
#include "cli/log_printer.hpp"
#include "cli/whole_number.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/task_logs.hpp"
#include "jobman/client/timed_log.hpp"

namespace jobman::cli {
namespace {

using base::Result;

struct TaskLogsOptions {
  TaskChoice choice = {};
  std::optional<int> run = {};
  std::string hosts = "all";
  std::optional<std::int64_t> tail = {};
  bool times = false;
  bool follow = false;
};

constexpr base::Duration kReadLogsEvery = std::chrono::milliseconds{100};
/// Lines of each host that --follow begins with.
constexpr std::int64_t kTailToFollow = 20;

bool IsOne(const core::HostSet& hosts) {
  return !hosts.all && hosts.numbers.size() == 1;
}

/// The logs of one task, printed as far as they go.
class TaskLogs {
 public:
  TaskLogs(App& app, const client::Context& context, const client::TaskPlace& place,
           const TaskLogsOptions& options, core::HostSet hosts)
      : app_(app),
        context_(context),
        options_(options),
        hosts_(std::move(hosts)),
        workers_(place.task->definition.workers),
        queue_(place.queue->queue.id),
        id_(place.task->definition.id) {}

  std::vector<base::TaskRunName> Runs() const {
    return client::TaskLogRuns(context_.paths, queue_, id_);
  }
  /// The run that is asked for, else the newest one; nothing if there is none.
  Result<std::optional<base::TaskRunName>> Chosen() const {
    const auto runs = Runs();
    if (!options_.run) return runs.empty() ? std::nullopt : std::optional(runs.back());
    for (const base::TaskRunName& run : runs) {
      if (run.number == *options_.run) return std::optional(run);
    }
    if (options_.follow) return std::optional<base::TaskRunName>();
    return NoSuchRun(runs);
  }
  /// What is new since the last call. False if nobody reads it.
  Result<bool> Print(const base::TaskRunName& run);
  void Finish() {
    if (printer_) printer_->Finish();
  }
  bool printed() const { return printer_ && printer_->printed(); }

  const std::string& id() const { return id_; }
  core::QueueId queue() const { return queue_; }

 private:
  base::Error NoSuchRun(const std::vector<base::TaskRunName>& runs) const {
    std::vector<int> numbers;
    for (const base::TaskRunName& run : runs) numbers.push_back(run.number);
    return base::NotFound(
        fmt::format("task {} has no logs of run {}", id_, *options_.run),
        numbers.empty() ? "" : "there are those of " + base::FormatRanges(numbers));
  }
  void Begin(const base::TaskRunName& run, bool one_host);
  bool Wants(int host) const {
    return hosts_.all || std::binary_search(hosts_.numbers.begin(), hosts_.numbers.end(), host);
  }

  App& app_;
  const client::Context& context_;
  const TaskLogsOptions& options_;
  core::HostSet hosts_;
  core::HostSet workers_;  ///< the hosts that the task runs on
  core::QueueId queue_;
  std::string id_;
  std::optional<base::TaskRunName> run_ = {};
  client::LogStage stage_ = {};
  std::unique_ptr<LogPrinter> printer_ = {};
  std::map<std::string, std::int64_t> offsets_ = {};  ///< by path
};

void TaskLogs::Begin(const base::TaskRunName& run, bool one_host) {
  Finish();
  const bool only = !run_ && Runs().size() == 1;
  run_ = run;
  const core::StageId stage = core::TaskStage{.task = id_, .run = run.number};
  stage_ = {.name = core::StageName({}, stage)};
  const auto runs = context_.Await(context_.stores.queues->Runs(queue_, id_));
  if (runs.ok()) {
    for (const core::TaskRun& one : *runs) {
      if (one.number == run.number) stage_.attempt = one.attempt;
    }
  }
  LogLook look{.one_host = one_host, .times = options_.times};
  if (!only) {
    app_.Say(fmt::format("== task {}, run {} on job {}", id_, run.number,
                         core::FormatJobId(core::JobId{run.job})));
  }
  printer_ = std::make_unique<LogPrinter>(app_, core::JobId{run.job}, std::move(look));
}

Result<bool> TaskLogs::Print(const base::TaskRunName& run) {
  auto files = client::TaskLogFiles(context_.paths, queue_, id_, run);
  int host_count = files.empty() ? 1 : files.back().host + 1;
  std::erase_if(files, [this](const client::LogFile& file) { return !Wants(file.host); });
  if (files.empty()) return true;
  const bool alone = IsOne(workers_) || IsOne(hosts_) || (!options_.follow && files.size() == 1);
  // Of several hosts, the first one to write is not to be taken for the only one.
  if (!alone) host_count = std::max(host_count, 2);
  const bool first = !run_;
  if (!run_ || run_->number != run.number) Begin(run, alone);
  for (const client::LogFile& file : files) {
    const std::string path = file.path.string();
    if (!offsets_.contains(path)) {
      const client::LogPart part{.tail = options_.tail};
      offsets_[path] = first ? client::BeginOf(file.path, part) : 0;
    }
    const auto take = [&](const client::LogPiece& piece) {
      return printer_->Print(stage_, file.host, host_count, piece);
    };
    JM_ASSIGN_OR_RETURN(offsets_[path],
                        client::ReadPieces(file.path, offsets_[path], options_.times, take));
    if (app_.terminal().out_error() != 0) return false;
    if (!options_.follow) printer_->Finish();  // what follows is of another host
  }
  return true;
}

Result<int> PrintTaskOnce(App& app, TaskLogs& logs) {
  JM_ASSIGN_OR_RETURN(const auto run, logs.Chosen());
  if (!run) {
    app.Say("task " + logs.id() + " has no logs: no run of it has written anything yet");
    return kSuccess;
  }
  JM_TRY(logs.Print(*run));
  logs.Finish();
  if (!logs.printed()) {
    app.Say(fmt::format("run {} of task {} has written nothing", run->number, logs.id()));
  }
  return kSuccess;
}

/// Whether more output may come: of that run if one is asked for, else of any.
bool MayGoOn(const core::Task& task, const std::optional<int>& run) {
  const bool open = std::holds_alternative<core::TaskOpen>(task.standing) && task.listed;
  if (!run) return open || !task.claims.empty();
  if (*run > task.runs) return open;
  return std::any_of(task.claims.begin(), task.claims.end(),
                     [&run](const core::TaskClaim& claim) { return claim.run == *run; });
}

Result<int> FollowTask(App& app, const client::Context& context, TaskLogs& logs,
                       const TaskLogsOptions& options) {
  int at = 0;
  do {
    // Looked at before its logs: what is written before it ends is printed.
    const auto task = context.Await(context.stores.queues->GetTask(logs.queue(), logs.id()));
    if (!task.ok() && task.error().code != base::Code::kNotFound) return task.error();
    JM_ASSIGN_OR_RETURN(const auto newest, logs.Chosen());
    if (at == 0 && newest) at = newest->number;
    for (const base::TaskRunName& run : logs.Runs()) {
      if (run.number < at || (options.run && run.number != *options.run)) continue;
      at = run.number;
      JM_ASSIGN_OR_RETURN(const bool read, logs.Print(run));
      if (!read) return app.EndOfWait();
    }
    if (!task.ok() || !MayGoOn(*task, options.run)) {
      logs.Finish();
      app.Say("task " + logs.id() + (task.ok() ? ": " + task->why : " is gone"));
      return kSuccess;
    }
  } while (app.Wait(kReadLogsEvery));
  logs.Finish();
  return app.EndOfWait();
}

/// Nothing would be seen, perhaps for hours.
void SayWhatItWaitsFor(App& app, const views::TaskRow& row) {
  app.Say(fmt::format("task {} is {}: {}", row.task.definition.id, core::TaskStateName(row.state),
                      row.why));
}

Result<int> RunTaskLogs(App& app, const TaskLogsOptions& options) {
  auto hosts = core::ParseHostSet(options.hosts);
  if (!hosts.ok()) return std::move(hosts).error().With("--host");
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  JM_ASSIGN_OR_RETURN(const QueueSight sight, LookAtQueues(context, options.choice.file));
  JM_ASSIGN_OR_RETURN(const auto tasks, client::FindTasks(sight.queues, options.choice.words));
  if (options.follow && tasks.size() != 1) {
    return base::InvalidArgument("--follow is for one task", "name a single one");
  }
  int worst = kSuccess;
  for (const client::TaskPlace& place : tasks) {
    TaskLogs logs(app, context, place, options, *hosts);
    if (options.follow) {
      if (logs.Runs().empty()) SayWhatItWaitsFor(app, RowOf(sight, place, context.Now()));
      return FollowTask(app, context, logs, options);
    }
    if (tasks.size() > 1) app.Say("== task " + logs.id());
    const auto printed = PrintTaskOnce(app, logs);
    if (!printed.ok() && tasks.size() == 1) return printed.error();
    if (!printed.ok()) worst = std::max(worst, app.Fail(printed.error()));
    if (app.terminal().out_error() != 0) break;  // nobody reads it
  }
  return worst;
}

}  // namespace

void AddTaskLogs(CLI::App& task, Invocation& chosen) {
  auto options = std::make_shared<TaskLogsOptions>();
  CLI::App* command = task.add_subcommand(
      "logs", "Print what the hosts wrote in the newest run; kept when the worker is gone");
  AddTaskChoice(*command, {options, &options->choice});
  command->add_flag("-f,--follow", options->follow, "Follow until the task needs no other run");
  command->add_option("--run", options->run, "A run other than the newest")
      ->type_name("N")
      ->transform(WholeNumber(1));
  command
      ->add_option("-n,--tail", options->tail,
                   "Only the last lines of each host; --follow begins with 20")
      ->type_name("N")
      ->transform(WholeNumber(0));
  command->add_flag("-t,--timestamps", options->times,
                    "Begin each line with the time when it came, in UTC");
  command->add_option("-w,--host", options->hosts, "\"all\", or numbers and ranges: 0,3-7")
      ->type_name("HOSTS");
  command->callback([options, &chosen] {
    if (options->follow && !options->tail) options->tail = kTailToFollow;
    chosen.run = [options](App& app) { return RunTaskLogs(app, *options); };
  });
}

}  // namespace jobman::cli

// Workers are jobs: worker start is create with a job file of its own, and the other subcommands
// are those for jobs, of which they take workers alone (AddJobChoice).
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "cli/commands.hpp"
#include "cli/create_files.hpp"
#include "cli/job_file.hpp"
#include "cli/one_of.hpp"
#include "cli/whole_number.hpp"
#include "jobman/base/files.hpp"
#include "jobman/config/worker_file.hpp"

namespace jobman::cli {
namespace {

using base::Result;

/// How many workers one command starts: each is a slice that costs money.
constexpr std::int64_t kMostWorkers = 100;

struct WorkerStart {
  config::WorkerOptions worker = {};
  std::string file = {};     ///< a job file
  std::string startup = {};  ///< a script's file
  int count = 1;
  bool dry_run = false;
  bool no_preflight = false;
  JobFileOptions common = {};
};

/// The words for it that the tools before this one took.
std::string PricingWord(const std::string& word) {
  return word == "on-demand" || word == "standard" ? "ondemand" : word;
}

/// As a path that means the same wherever the job file is.
Result<std::string> WholePath(const std::string& file) {
  std::error_code problem;
  const base::Path whole = std::filesystem::absolute(file, problem);
  if (problem) return base::InvalidArgument(file + ": " + problem.message());
  return whole.lexically_normal().string();
}

/// What is said besides the job file, as --set says it.
void AddSets(const WorkerStart& start, JobFileOptions& options) {
  const config::WorkerOptions& worker = start.worker;
  const auto add = [&options](const char* key, const std::string& value) {
    if (!value.empty()) options.sets.push_back(std::string(key) + "=" + value);
  };
  add("job.queue.enabled", "true");
  add("job.queue.config", worker.queue_file);
  add("job.queue.idle", worker.idle);
  add("tpu.accelerator", worker.accelerator);
  add("tpu.zone", worker.zone);
  add("tpu.pricing", worker.pricing);
  add("tpu.allocation_mode", worker.allocation_mode);
  if (worker.numbered) add("job.worker_num", "auto");
}

Result<config::LoadRequest> RequestOfFile(const App& app, const WorkerStart& start) {
  if (!start.startup.empty()) {
    return base::InvalidArgument(
        "--startup cannot be used with --file",
        "write it into the job file: job: {queue: {prefix: [{run: ..., workers: all}]}}");
  }
  JobFileOptions options = start.common;
  options.name = start.worker.name;
  AddSets(start, options);
  return RequestFor(app, start.file, options);
}

Result<config::LoadRequest> RequestOfOptions(const App& app, WorkerStart start) {
  config::WorkerOptions& worker = start.worker;
  if (worker.accelerator.empty()) {
    return base::InvalidArgument("--accelerator or --file is required",
                                 "jobman worker start --help");
  }
  if (worker.name.empty()) {
    worker.name = "worker-" + worker.accelerator;
    worker.numbered = true;
  }
  if (!start.startup.empty()) {
    JM_ASSIGN_OR_RETURN(worker.startup, base::ReadFile(start.startup));
  }
  JM_ASSIGN_OR_RETURN(config::LoadRequest request,
                      RequestFor(app, "worker.yaml (made by worker start)", start.common));
  request.text = config::WorkerFileText(worker);
  return request;
}

Result<LoadedFiles> LoadWorkers(App& app, WorkerStart start) {
  config::WorkerOptions& worker = start.worker;
  worker.pricing = PricingWord(worker.pricing);
  worker.numbered = start.count > 1;
  if (!worker.queue_file.empty()) {
    JM_ASSIGN_OR_RETURN(worker.queue_file, WholePath(worker.queue_file));
  }
  const bool made = start.file.empty();
  JM_ASSIGN_OR_RETURN(config::LoadRequest request,
                      made ? RequestOfOptions(app, start) : RequestOfFile(app, start));
  request.check_secrets = !start.dry_run;
  const std::string name = request.file.string();
  JM_ASSIGN_OR_RETURN(const auto loaded, LoadElements(app, std::move(request)));
  LoadedFiles files;
  for (int i = 0; i < start.count; ++i) {
    for (const config::Loaded& one : loaded) files.emplace_back(name, one);
  }
  return files;
}

Result<int> RunWorkerStart(App& app, const WorkerStart& start) {
  JM_ASSIGN_OR_RETURN(const LoadedFiles files, LoadWorkers(app, start));
  const client::Preflight preflight = PreflightOf(start.no_preflight);
  if (start.dry_run) return ShowDryRun(app, files, preflight);
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_TRY(CreateAll(app, context, files, {.preflight = preflight}));
  return kSuccess;
}

std::string NotEmptyWord(const std::string& value) {
  return value.empty() ? "is empty" : std::string();
}

void AddWorkerStart(CLI::App& worker, Invocation& chosen) {
  auto start = std::make_shared<WorkerStart>();
  CLI::App* command = worker.add_subcommand(
      "start", "Get a slice that runs tasks: those of task submit, or of a queue file");
  const auto add = [command](const char* name, std::string& value, const char* help,
                             const char* type) {
    return command->add_option(name, value, help)->type_name(type)->check(NotEmptyWord);
  };
  config::WorkerOptions& said = start->worker;
  add("-a,--accelerator", said.accelerator, "The type of its slice: v4-8", "TYPE");
  add("-z,--zone", said.zone, "Its zone; otherwise that of your defaults", "ZONE");
  add("-n,--name", said.name, "Its name; otherwise worker-TYPE with a number", "NAME");
  command->add_option("-p,--pricing", said.pricing, "What is paid for the slice")
      ->type_name("PRICING")
      ->check(OneOf({"spot", "ondemand", "on-demand", "standard", "preemptible", "reserved"}));
  command->add_option("-m,--mode", said.allocation_mode, "How the slice is asked for")
      ->type_name("MODE")
      ->check(OneOf({"queued-resources", "tpu-vm"}));
  add("-s,--startup", start->startup, "A script for all hosts, before the first task", "FILE");
  add("--queue", said.queue_file, "Run the tasks of this queue file, not the submitted ones",
      "FILE");
  add("--idle", said.idle, "Give the slice back after so long without a task: 30m", "DURATION");
  command->add_option("--count", start->count, "Start so many")
      ->type_name("N")
      ->transform(WholeNumber(1, kMostWorkers));
  add("-f,--file", start->file, "A job file for all that no option says", "FILE");
  command->add_flag("--dry-run", start->dry_run, "Show the requests; send and store nothing");
  AddPreflightOption(*command, start->no_preflight);
  AddSetOptions(*command, {start, &start->common});
  command->callback(
      [start, &chosen] { chosen.run = [start](App& app) { return RunWorkerStart(app, *start); }; });
}

}  // namespace

void AddWorker(CLI::App& root, Invocation& chosen) {
  CLI::App* command = root.add_subcommand("worker", "Workers: jobs that run tasks on their slice");
  command->require_subcommand(1);
  AddWorkerStart(*command, chosen);
  AddList(*command, chosen);
  AddShow(*command, chosen);
  AddLogs(*command, chosen);
  AddCancel(*command, chosen);
  AddResume(*command, chosen);
  AddReboot(*command, chosen);
  AddRequeue(*command, chosen);
  AddDelete(*command, chosen);
}

}  // namespace jobman::cli

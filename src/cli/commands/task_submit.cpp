#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/job_file.hpp"
#include "cli/views/submitted.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/submit.hpp"

namespace jobman::cli {
namespace {

using base::Result;

struct TaskSubmitOptions {
  std::string file = {};
  std::vector<std::string> arguments = {};
  config::SubmitOptions task = {};
  JobFileOptions job = {};  ///< of a job file: --set, --set-file, --array
};

bool IsJobFile(const std::string& file) {
  const base::Path suffix = base::Path(file).extension();
  return suffix == ".yaml" || suffix == ".yml";
}

/// The tasks of a script.
Result<config::Submission> SubmissionOfScript(const TaskSubmitOptions& options) {
  const JobFileOptions& job = options.job;
  if (!job.sets.empty() || !job.set_files.empty() || !job.arrays.empty()) {
    return base::InvalidArgument(
        "--set, --set-file and --array are for a job file, and " + options.file + " is none",
        "a job file ends with .yaml or .yml");
  }
  return config::ReadTaskScript(
      {.file = options.file, .arguments = options.arguments, .options = options.task});
}

/// Options for scripts as they are said of a job file.
JobFileOptions ForJobFile(const TaskSubmitOptions& options) {
  JobFileOptions job = options.job;
  const config::SubmitOptions& task = options.task;
  if (!task.accelerator.empty()) job.sets.push_back("tpu.accelerator=" + task.accelerator);
  if (!task.zone.empty()) job.sets.push_back("tpu.zone=" + task.zone);
  job.name = task.name;
  return job;
}

/// The tasks of a job file's jobs.
Result<config::Submission> SubmissionOfJobs(App& app, const TaskSubmitOptions& options) {
  if (!options.arguments.empty()) {
    return base::InvalidArgument(
        "arguments are for a script, and " + options.file + " is a job file",
        "write them into command.cmd");
  }
  const config::SubmitOptions& task = options.task;
  if (!task.tpu_version.empty() || !task.pricing.empty()) {
    return base::InvalidArgument("--tpu-version and --pricing have no meaning for a task",
                                 "the slice is the worker's: jobman worker start chooses it");
  }
  JM_ASSIGN_OR_RETURN(config::LoadRequest request,
                      RequestFor(app, options.file, ForJobFile(options)));
  request.needs_no_project = true;
  JM_ASSIGN_OR_RETURN(const auto jobs, LoadElements(app, std::move(request)));
  return config::TasksOfJobs(options.file, jobs, task);
}

Result<int> RunTaskSubmit(App& app, const TaskSubmitOptions& options) {
  JM_ASSIGN_OR_RETURN(config::Submission submission, IsJobFile(options.file)
                                                         ? SubmissionOfJobs(app, options)
                                                         : SubmissionOfScript(options));
  for (const config::Problem& warning : submission.warnings)
    app.Say(base::Trim(config::RenderWarning(warning)));
  if (!submission.problems.empty()) return config::ToError(submission.problems);
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  client::SubmitOrder order{.tasks = std::move(submission.tasks), .numbered = submission.numbered};
  JM_ASSIGN_OR_RETURN(auto submitted,
                      context.Await(client::SubmitTasks(context, std::move(order))));
  app.Show(views::SubmittedTasks{.tasks = std::move(submitted)});
  return kSuccess;
}

}  // namespace

void AddTaskSubmit(CLI::App& task, Invocation& chosen) {
  auto options = std::make_shared<TaskSubmitOptions>();
  CLI::App* command = task.add_subcommand(
      "submit",
      "Have a script run by the next worker with that accelerator in that zone. Its lines "
      "\"#JOBMAN --accelerator=TYPE --zone=ZONE\" say what an option does not. Of a job file "
      "(.yaml), each job becomes a task: workers run its command in place of slices of their own");
  command->add_option("FILE", options->file, "Script, - for standard input, or job file (.yaml)")
      ->required();
  command->add_option("ARG", options->arguments, "Arguments of the script; -- before those with -");
  config::SubmitOptions& said = options->task;
  const auto add = [command](const char* name, std::string& value, const char* help,
                             const char* type) {
    command->add_option(name, value, help)->type_name(type)->check([](const std::string& text) {
      return text.empty() ? std::string("is empty") : std::string();
    });
  };
  add("-a,--accelerator", said.accelerator, "The type of the workers that may take it", "TYPE");
  add("-z,--zone", said.zone, "Their zone", "ZONE");
  add("-n,--name", said.name,
      "Its id; otherwise the name in the script, or that of the file, with a number", "NAME");
  add("--max-retries", said.max_retries, "How often it may fail before it is parked: 3", "N");
  add("--tpu-version", said.tpu_version, "Passed over: it is the worker's", "VERSION");
  add("--pricing", said.pricing, "Passed over: it is the worker's", "PRICING");
  AddSetOptions(*command, {options, &options->job});
  AddArrayOption(*command, {options, &options->job});
  command->callback([options, &chosen] {
    chosen.run = [options](App& app) { return RunTaskSubmit(app, *options); };
  });
}

}  // namespace jobman::cli

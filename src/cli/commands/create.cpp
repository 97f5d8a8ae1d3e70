#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/create_files.hpp"
#include "cli/follow_job.hpp"
#include "cli/job_choice.hpp"
#include "cli/job_file.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/set_wishes.hpp"

namespace jobman::cli {
namespace {

using base::Result;

struct CreateOptions {
  std::vector<std::string> files = {};
  bool dry_run = false;
  bool wait = false;
  bool follow = false;
  bool force = false;
  bool command_only = false;
  bool no_preflight = false;
};

core::SetupWish SetupOf(const CreateOptions& options) {
  if (options.command_only) return core::SetupWish::kSkip;
  return options.force ? core::SetupWish::kRedo : core::SetupWish::kAsNeeded;
}

CreateHow HowOf(const CreateOptions& options, bool show) {
  return {.show = show, .preflight = PreflightOf(options.no_preflight)};
}

/// Loads all files before the first one takes effect; the problems of all files are one error.
Result<LoadedFiles> LoadAll(App& app, const CreateOptions& options, const JobFileOptions& common) {
  if (!common.name.empty() && options.files.size() > 1) {
    return base::InvalidArgument("--name cannot be used with several files",
                                 "write job.name into each file, or create them one by one");
  }
  LoadedFiles loaded;
  std::optional<base::Error> wrong;
  for (const std::string& file : options.files) {
    auto one = LoadJobFile(app, file, common, !options.dry_run);
    if (one.ok()) {
      for (config::Loaded& job : *one) loaded.emplace_back(file, std::move(job));
    } else if (!wrong) {
      wrong = one.error();
    } else {
      wrong->message += "\n" + one.error().message;
      if (wrong->reason != one.error().reason) wrong->reason = base::Reason::kNone;
    }
  }
  if (wrong) return *std::move(wrong);
  return loaded;
}

Result<int> RunCreate(App& app, CreateOptions options, const JobFileOptions& common) {
  JM_ASSIGN_OR_RETURN(options.files,
                      FilesOf({.files = options.files, .command = "create"}, common.from));
  JM_ASSIGN_OR_RETURN(const LoadedFiles files, LoadAll(app, options, common));
  if (options.dry_run) return ShowDryRun(app, files, PreflightOf(options.no_preflight));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  const bool follow = options.wait || options.follow;
  // When following, JSON output is only the end of the jobs, quiet output only that of the hosts.
  const bool show = !follow || app.mode() == OutputMode::kText ||
                    (app.mode() == OutputMode::kQuiet && !options.follow);
  JM_ASSIGN_OR_RETURN(const auto ids, CreateAll(app, context, files, HowOf(options, show)));
  if (!follow) return kSuccess;
  return FollowJobs(app, context, ids, {.logs = options.follow});
}

/// Whether `run` was given a job that is stored, rather than a file. A job may have any name.
bool NamesAJob(const std::string& word) {
  if (word == "-") return false;  // standard input
  std::error_code problem;
  const base::Path suffix = base::Path(word).extension();
  const bool looks_like_a_file = suffix == ".yaml" || suffix == ".yml" || suffix == ".json";
  const auto type = std::filesystem::status(word, problem).type();
  const bool no_file = type == std::filesystem::file_type::not_found ||
                       type == std::filesystem::file_type::directory;  // cp made it, perhaps
  return !looks_like_a_file && no_file;
}

/// Runs a stored job again, or follows it if it is under way.
Result<int> RunStored(App& app, const std::string& word, const CreateOptions& options,
                      const JobFileOptions& common) {
  const bool changed = !common.sets.empty() || !common.set_files.empty() ||
                       !common.arrays.empty() || !common.name.empty();
  if (changed) {
    return base::InvalidArgument(
        "--set, --set-file, --array and --name are for a job file; " + word + " is a job",
        "create a job from the changed file: jobman run FILE");
  }
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, word)));
  JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
  const core::SetupWish setup = SetupOf(options);
  const bool anew = setup != core::SetupWish::kAsNeeded;
  const bool fresh = core::IsFinal(job.state) || anew;
  const auto wish = anew ? core::Wish::kReboot : core::Wish::kRun;
  JM_TRY(context.Await(
      client::SetWishes(context, {.jobs = {core::FormatJobId(id)}, .wish = wish, .setup = setup})));
  return FollowJob(app, context, id,
                   {.logs = true,
                    .ask_to_cancel = true,
                    .first_attempt = fresh ? job.attempt + 1 : job.attempt});
}

Result<int> RunRun(App& app, CreateOptions options, const JobFileOptions& common) {
  if (options.files[0].empty()) options.files.clear();
  const bool stored = !options.files.empty() && NamesAJob(options.files[0]);
  JM_ASSIGN_OR_RETURN(
      options.files,
      FilesOf({.files = options.files, .command = "run", .missing = "FILE|JOB"}, common.from));
  if (stored) return RunStored(app, options.files[0], options, common);
  if (SetupOf(options) != core::SetupWish::kAsNeeded) {
    return base::InvalidArgument(std::string(options.force ? "--force" : "--cmd-only") +
                                     " is for a job that is stored already",
                                 "name its number: jobman run NUMBER");
  }
  JM_ASSIGN_OR_RETURN(const LoadedFiles files, LoadAll(app, options, common));
  if (files.size() > 1) {
    return base::InvalidArgument(
        fmt::format("{} makes {} jobs, and run follows one", options.files[0], files.size()),
        "jobman create --follow creates and follows all of them");
  }
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  const CreateHow how = HowOf(options, app.mode() == OutputMode::kText);
  JM_ASSIGN_OR_RETURN(const auto ids, CreateAll(app, context, files, how));
  return FollowJob(app, context, ids.front(), {.logs = true, .ask_to_cancel = true});
}

}  // namespace

void AddCreate(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<CreateOptions>();
  auto common = std::make_shared<JobFileOptions>();
  CLI::App* command = root.add_subcommand("create", "Check job files, store them, start them");
  command->add_option("FILE", options->files, "Job files (YAML or JSON); - for standard input");
  command->add_flag("--dry-run", options->dry_run, "Show the requests; send and store nothing");
  command->add_flag("--wait", options->wait,
                    "Return when the jobs are over, with their command's exit code");
  command->add_flag("--follow", options->follow,
                    "The same, with the hosts' output; lines of several jobs are mixed");
  AddPreflightOption(*command, options->no_preflight);
  AddJobFileOptions(*command, common);
  command->callback([options, common, &chosen] {
    chosen.run = [options, common](App& app) { return RunCreate(app, *options, *common); };
  });
}

void AddRun(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<CreateOptions>();
  auto common = std::make_shared<JobFileOptions>();
  options->files.resize(1);
  CLI::App* command = root.add_subcommand(
      "run",
      "Create a job, or run one again, and follow it here; ends with its command's exit code. "
      "Ctrl-C asks whether to cancel the job; otherwise it goes on without you");
  command->add_option("FILE|JOB", options->files[0],
                      "Job file (YAML or JSON), - for standard input, or a stored job");
  CLI::Option* force = command->add_flag("--force", options->force,
                                         "Of a stored job: run its setup steps again too");
  command
      ->add_flag("--cmd-only", options->command_only,
                 "Of a stored job: run its command on the slice it holds, without setup steps")
      ->excludes(force);
  AddPreflightOption(*command, options->no_preflight);
  AddJobFileOptions(*command, common);
  command->get_option("--array")->group("");  // of several values it would make several jobs
  command->callback([options, common, &chosen] {
    chosen.run = [options, common](App& app) { return RunRun(app, *options, *common); };
  });
}

}  // namespace jobman::cli

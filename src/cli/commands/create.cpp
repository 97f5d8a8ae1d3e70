#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/follow_job.hpp"
#include "cli/job_file.hpp"
#include "cli/views/created.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/client/offer_check.hpp"
#include "jobman/client/set_wishes.hpp"
#include "jobman/cloud/tpu_json.hpp"
#include "jobman/controller/slice_request.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/core/slice_name.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::cli {
namespace {

using base::Result;

struct CreateOptions {
  std::vector<std::string> files = {};
  bool dry_run = false;
  bool wait = false;
  bool follow = false;
};
using Files = std::vector<std::pair<std::string, config::Loaded>>;

/// Loads all files before the first one takes effect; the problems of all files are one error.
Result<Files> LoadAll(App& app, const CreateOptions& options, const JobFileOptions& common) {
  if (!common.name.empty() && options.files.size() > 1) {
    return base::InvalidArgument("--name cannot be used with several files",
                                 "write job.name into each file, or create them one by one");
  }
  Files loaded;
  std::optional<base::Error> wrong;
  for (const std::string& file : options.files) {
    auto one = LoadJobFile(app, file, common, !options.dry_run);
    if (one.ok()) {
      loaded.emplace_back(file, std::move(*one));
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

Result<int> ShowDryRun(App& app, const Files& files) {
  views::DryRun view;
  for (const auto& [file, loaded] : files) {
    const core::Job job = NewJob(app, loaded.spec);
    const auto key = ssh::PublicKeyLine(loaded.spec.ssh.private_key);
    for (const core::SliceRef& part : core::PartsOf(core::SliceFor(job, 1))) {
      const auto call = cloud::RenderCreate(
          controller::WithLogin(core::RequestFor(job, part, "the-store"), loaded.spec.ssh.user,
                                key.ok() ? *key : "ssh-ed25519 (made-at-create)"));
      view.requests.push_back({.file = file,
                               .method = call.method,
                               .url = loaded.spec.cloud.endpoint + call.Target(),
                               .body = call.body});
    }
  }
  app.Show(view);
  return kSuccess;
}

Result<views::Created::Row> CreateOne(App& app, const client::Context& context,
                                      const config::Loaded& loaded, controller::Nudge& nudge) {
  core::Job job = NewJob(app, loaded.spec);
  JM_ASSIGN_OR_RETURN(job.id,
                      context.Await(context.stores.jobs->Create(job, loaded.source, app.Now())));
  const auto secrets = client::SecretValues(loaded.spec);
  if (!secrets.empty()) nudge.secrets[job.id.value] = secrets;
  const auto accelerator = core::FindAccelerator(loaded.spec.tpu.accelerator);
  return views::Created::Row{
      .id = job.id,
      .name = job.name,
      .accelerator = core::AcceleratorText(loaded.spec.tpu),
      .zone = loaded.spec.tpu.zone,
      .hosts = (accelerator.ok() ? accelerator->hosts : 1) * loaded.spec.tpu.num_slices,
      .slice = core::SliceName(job, 1)};
}

/// Without a sandbox, simulated hosts are our own processes, and only our user can log in.
void LogInAsOurselves(App& app, const base::StatePaths& paths, core::JobSpec& spec) {
  if (spec.cloud.endpoint != client::kLocal) return;
  const auto local = client::FindLocalCloud(paths);
  if (!local || local->user.empty() || spec.ssh.user == local->user) return;
  app.Say("note: the simulated hosts run without a sandbox here and have no user " + spec.ssh.user +
          "; logging in as " + local->user);
  spec.ssh.user = local->user;
}

base::Status CheckOffer(App& app, const client::Context& context, const config::Loaded& loaded) {
  JM_ASSIGN_OR_RETURN(const std::string unasked,
                      context.Await(client::CheckOffer(context, loaded)));
  if (!unasked.empty()) {
    app.Say("note: what zone " + loaded.spec.tpu.zone + " offers could not be checked: " + unasked);
  }
  return base::Ok();
}

/// Refuses whatever can be refused before the first job is stored.
base::Status Prepare(App& app, const client::Context& context, Files& files) {
  for (auto& [file, loaded] : files) {
    JM_TRY(ssh::EnsureKey(loaded.spec.ssh.private_key));
    JM_TRY(ssh::CheckUsable(loaded.spec.ssh.private_key, ssh::EnvironmentPassphrase()));
    JM_TRY(CheckOffer(app, context, loaded));
    LogInAsOurselves(app, context.paths, loaded.spec);
  }
  return base::Ok();
}

Result<std::vector<core::JobId>> CreateAll(App& app, const client::Context& context, Files files,
                                           bool show) {
  JM_TRY(Prepare(app, context, files));
  controller::Nudge nudge;
  views::Created view;
  std::vector<core::JobId> ids;
  for (const auto& [file, loaded] : files) {
    JM_ASSIGN_OR_RETURN(auto row, CreateOne(app, context, loaded, nudge));
    ids.push_back(row.id);
    view.rows.push_back(std::move(row));
  }
  JM_TRY(context.Await(client::WakeController(context, std::move(nudge))));
  if (show) app.Show(view);
  app.terminal().Flush();
  return ids;
}

Result<int> RunCreate(App& app, const CreateOptions& options, const JobFileOptions& common) {
  JM_ASSIGN_OR_RETURN(const Files files, LoadAll(app, options, common));
  if (options.dry_run) return ShowDryRun(app, files);
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  const bool follow = options.wait || options.follow;
  // When following, JSON output is only the end of the jobs, quiet output only that of the hosts.
  const bool show = !follow || app.mode() == OutputMode::kText ||
                    (app.mode() == OutputMode::kQuiet && !options.follow);
  JM_ASSIGN_OR_RETURN(const auto ids, CreateAll(app, context, files, show));
  int worst = kSuccess;
  for (const core::JobId id : ids) {
    if (!follow) break;
    JM_ASSIGN_OR_RETURN(const int code, FollowJob(app, context, id, {.logs = options.follow}));
    worst = std::max(worst, code);
    if (code == kInterrupted) break;
  }
  return worst;
}

Result<int> RunRun(App& app, const CreateOptions& options, const JobFileOptions& common) {
  JM_ASSIGN_OR_RETURN(const Files files, LoadAll(app, options, common));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const auto ids,
                      CreateAll(app, context, files, app.mode() == OutputMode::kText));
  return FollowJob(app, context, ids.front(), {.logs = true, .ask_to_cancel = true});
}

}  // namespace

void AddCreate(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<CreateOptions>();
  auto common = std::make_shared<JobFileOptions>();
  CLI::App* command = root.add_subcommand("create", "Check job files, store them, start them");
  command->add_option("FILE", options->files, "Job files (YAML or JSON)")->required();
  command->add_flag("--dry-run", options->dry_run, "Show the requests; send and store nothing");
  command->add_flag("--wait", options->wait,
                    "Return when the jobs are over, with their command's exit code");
  command->add_flag("--follow", options->follow, "The same, with the hosts' output");
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
      "run", "Create a job and follow it here; ends with its command's exit code. Ctrl-C detaches");
  command->add_option("FILE", options->files[0], "Job file (YAML or JSON)")->required();
  AddJobFileOptions(*command, common);
  command->callback([options, common, &chosen] {
    chosen.run = [options, common](App& app) { return RunRun(app, *options, *common); };
  });
}

}  // namespace jobman::cli

#include "cli/create_files.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <set>

#include "cli/job_choice.hpp"
#include "cli/slice_price.hpp"
#include "cli/views/created.hpp"
#include "jobman/base/task.hpp"
#include "jobman/client/code.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/cloud/tpu_json.hpp"
#include "jobman/controller/slice_request.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/core/slice_name.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::cli {

using base::Result;

namespace {

/// Where requests go; "local" while no simulator runs.
std::string AddressOf(const client::Context& context, const core::CloudSpec& cloud) {
  const auto local = client::FindLocalCloud(context.paths);
  return cloud.endpoint == client::kLocal && local.ok() ? local->endpoint : cloud.endpoint;
}

/// The requests for the job's first slice, as the controller would send them to `address`.
void AddRequests(const std::string& file, const core::Job& job, const std::string& store_id,
                 const std::string& address, const std::vector<core::Guest>& guests,
                 views::DryRun& view) {
  const auto key = ssh::PublicKeyLine(job.spec.ssh.private_key);
  const core::SliceRef slice = core::SliceFor(job, 1);
  if (slice.existing) {
    const auto look = cloud::RenderLook(slice.place, slice.name);
    view.requests.push_back({.file = file,
                             .method = look.method,
                             .url = address + look.Target(),
                             .code = job.spec.code});
    return;
  }
  for (const core::SliceRef& part : core::PartsOf(slice)) {
    auto request = controller::WithLogin(core::RequestFor(job, part, store_id), job.spec.ssh.user,
                                         key.ok() ? *key : "ssh-ed25519 (made-at-create)");
    const auto call =
        cloud::RenderCreate(controller::WithGuests(std::move(request), guests, job.id, job.name));
    view.requests.push_back({.file = file,
                             .method = call.method,
                             .url = address + call.Target(),
                             .body = call.body,
                             .code = job.spec.code});
  }
}

/// The spec with what `create` would take; nothing of it is kept.
Result<core::JobSpec> WithCode(App& app, core::JobSpec spec) {
  if (spec.code.empty()) return spec;
  asio::io_context loop;
  std::error_code problem;
  const base::Path scratch = std::filesystem::temp_directory_path(problem);
  JM_ASSIGN_OR_RETURN(const client::TakenCode taken,
                      base::RunTask(loop, client::TakeCode(spec.code, scratch)));
  for (const std::string& note : taken.notes) app.Say("note: " + note);
  spec.code.snapshot = taken.snapshot;
  return spec;
}

bool IsEndless(const core::RetrySpec& retries) {
  return !retries.preemption && !retries.failure && !retries.infra;
}

/// "submitted tasks", "the tasks of /home/ada/tasks.yaml"; empty for a job that is no worker.
std::string ServesText(const core::JobSpec& spec) {
  if (!spec.queue) return {};
  return spec.queue->config.empty() ? "submitted tasks" : "the tasks of " + spec.queue->config;
}

/// Says once what the price list lacks.
void SayUnpriced(App& app, const core::PriceList& prices, const LoadedFiles& files) {
  std::set<std::string> said;
  for (const auto& file : files) {
    const std::string note = UnpricedNote(prices, file.second.spec);
    if (!note.empty() && said.insert(note).second) app.Say("note: " + note);
  }
}

views::Created::Row RowOf(const core::Job& job, const core::PriceList& prices) {
  const auto accelerator = core::FindAccelerator(job.spec.tpu.accelerator);
  return {.id = job.id,
          .name = job.name,
          .accelerator = core::AcceleratorText(job.spec.tpu),
          .zone = job.spec.tpu.zone,
          .element = core::ElementText(job.spec),
          .hosts = accelerator.ok() ? accelerator->hosts * job.spec.tpu.num_slices : 0,
          .per_hour = SlicePrice(prices, job.spec),
          .slice = core::SliceFor(job, 1).name,
          .existing = !job.spec.tpu.existing.empty(),
          .when_done = job.spec.when_done,
          .code = job.spec.code,
          .endless = IsEndless(job.spec.retries),
          .holds = job.spec.command.cmd.empty(),
          .serves = ServesText(job.spec),
          .idle = job.spec.queue ? job.spec.queue->idle : std::nullopt};
}

}  // namespace

void AddPreflightOption(CLI::App& command, bool& no_preflight) {
  command.add_flag("--no-preflight", no_preflight,
                   "Do not ask the cloud first whether the job can run there");
}

client::Preflight PreflightOf(bool no_preflight) {
  return no_preflight ? client::Preflight::kNone : client::Preflight::kAll;
}

Result<int> ShowDryRun(App& app, const LoadedFiles& files, client::Preflight preflight) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading(Elsewhere::kIgnore));
  std::vector<config::Loaded> loaded;
  for (const auto& file : files) loaded.push_back(file.second);
  if (preflight != client::Preflight::kNone) SayUnpriced(app, PricesOrNote(app), files);
  JM_ASSIGN_OR_RETURN(auto preview,
                      context.Await(client::PreviewJobs(context, std::move(loaded), preflight)));
  for (const std::string& note : preview.notes) app.Say("note: " + note);
  JM_ASSIGN_OR_RETURN(const auto guests, context.Await(context.stores.guests->Guests()));
  views::DryRun view;
  for (std::size_t i = 0; i < files.size(); ++i) {
    core::Job& job = preview.jobs[i];
    JM_ASSIGN_OR_RETURN(job.spec, WithCode(app, std::move(job.spec)));
    AddRequests(files[i].first, job, preview.store_id, AddressOf(context, job.spec.cloud), guests,
                view);
  }
  app.Show(view);
  return kSuccess;
}

Result<std::vector<core::JobId>> CreateAll(App& app, const client::Context& context,
                                           const LoadedFiles& files, CreateHow how) {
  std::vector<client::CheckedFile> checked;  // all files, before the first job is stored
  std::set<std::string> said;
  const auto say = [&](const std::string& note) {
    if (said.insert(note).second) app.Say("note: " + note);
  };
  const core::PriceList prices = PricesOrNote(app);
  if (how.preflight != client::Preflight::kNone) SayUnpriced(app, prices, files);
  for (const auto& [file, loaded] : files) {
    const auto* const earlier = checked.empty() ? nullptr : &checked.back();
    JM_ASSIGN_OR_RETURN(auto one, context.Await(client::CheckBeforeCreate(context, loaded, earlier,
                                                                          how.preflight)));
    for (const std::string& note : one.notes) say(note);
    checked.push_back(std::move(one));
  }
  JM_ASSIGN_OR_RETURN(const auto jobs,
                      context.Await(client::CreateJobs(context, std::move(checked))));
  views::Created view{.all = NameAll(context, jobs)};
  std::vector<core::JobId> ids;
  for (const core::Job& job : jobs) {
    ids.push_back(job.id);
    view.rows.push_back(RowOf(job, prices));
  }
  if (how.show) app.Show(view);
  app.terminal().Flush();
  return ids;
}

}  // namespace jobman::cli

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/job_file.hpp"
#include "cli/views/doctor.hpp"
#include "jobman/client/doctor.hpp"
#include "jobman/config/places.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using client::Finding;

struct DoctorOptions {
  std::string file = {};
  std::string zone = {};
  std::string project = {};
};

/// What the user's defaults say of a job; they need not name a zone.
Result<config::LoadResult> LoadDefaults(config::LoadRequest request, bool& zone_known) {
  request.text = "tpu: {accelerator: v4-8}\n";
  config::LoadResult result = config::Load(request);
  zone_known = result.loaded.has_value();
  if (zone_known) return result;
  request.text = "tpu: {accelerator: v4-8, zone: us-central2-b}\n";
  return config::Load(request);
}

std::string OriginOf(const config::Loaded& loaded, const std::string& key) {
  for (const config::Origin& origin : loaded.origins)
    if (origin.path == key) return origin.where;
  return {};
}

Result<client::Examination> WhatToLookAt(const App& app, const DoctorOptions& options) {
  const bool has_job = !options.file.empty();
  JobFileOptions changes;
  if (!has_job) changes.name = "doctor";
  if (!options.zone.empty()) changes.sets.push_back("tpu.zone=" + options.zone);
  if (!options.project.empty()) changes.sets.push_back("tpu.project=" + options.project);
  const std::string file = has_job ? options.file : "job.yaml (made by doctor)";
  JM_ASSIGN_OR_RETURN(config::LoadRequest request, RequestFor(app, file, changes));
  request.needs_no_project = true;
  client::Examination about{.has_job = has_job};
  JM_ASSIGN_OR_RETURN(config::LoadResult result,
                      has_job ? config::Load(request) : LoadDefaults(request, about.zone_known));
  if (!result.loaded) return config::ToError(result.problems);
  about.project_from =
      options.project.empty() ? OriginOf(*result.loaded, "tpu.project") : "--project";
  const std::string user = OriginOf(*result.loaded, "ssh.user");
  about.own_user = user != "default" && user != "your login name";
  about.spec = std::move(result.loaded->spec);
  return about;
}

/// That of the first failure.
int CodeOfFindings(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings)
    if (finding.failure) return ExitCodeOf(*finding.failure);
  return kSuccess;
}

Result<int> RunDoctor(App& app, const DoctorOptions& options) {
  if (!options.zone.empty()) JM_TRY(config::CheckZone(options.zone));
  JM_ASSIGN_OR_RETURN(client::Examination about, WhatToLookAt(app, options));
  auto context = app.OpenForReading(Elsewhere::kIgnore);
  if (!context.ok()) about.store = context.error();
  if (!context.ok()) context = app.WithoutStore();
  if (!context.ok()) return context.error();
  const bool text = app.mode() == OutputMode::kText;
  const auto tell = [&app](const Finding& finding) {
    app.terminal().Out(views::RenderText(finding, app.terminal().out_style()));
    app.terminal().Flush();
  };
  auto diagnosing = client::Diagnose(*context, app.probes(), std::move(about),
                                     text ? tell : std::function<void(const Finding&)>());
  const views::Diagnosis view{.findings = context->Await(std::move(diagnosing))};
  if (!text) app.Show(view);
  return CodeOfFindings(view.findings);
}

}  // namespace

void AddDoctor(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = root.add_subcommand(
      "doctor", "Why jobman cannot work here: looks at all that it needs, and changes nothing");
  command->add_option("FILE", options->file, "Look at what this job file needs");
  command->add_option("-z,--zone", options->zone, "Ask this zone")->type_name("ZONE");
  command->add_option("--project", options->project, "Ask for this project")->type_name("PROJECT");
  command->callback([options, &chosen] {
    chosen.run = [options](App& app) { return RunDoctor(app, *options); };
  });
}

}  // namespace jobman::cli

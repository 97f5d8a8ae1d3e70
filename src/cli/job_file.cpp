#include "cli/job_file.hpp"

#include <CLI/CLI.hpp>

#include "jobman/base/strings.hpp"

namespace jobman::cli {

namespace {

base::Result<config::Loaded> LoadAndWarn(App& app, const config::LoadRequest& request) {
  config::LoadResult result = config::Load(request);
  if (!result.loaded) return config::ToError(result.problems);
  for (const config::Problem& warning : result.loaded->warnings)
    app.Say(base::Trim(config::RenderWarning(warning)));
  return std::move(*result.loaded);
}

base::Result<config::LoadRequest> RequestFor(App& app, const JobFileOptions& options) {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  config::LoadRequest request;
  request.sets = options.sets;
  request.defaults = config::SystemDefaults(paths.home);
  return request;
}

}  // namespace

void AddSetOptions(CLI::App& command, const std::shared_ptr<JobFileOptions>& options) {
  command
      .add_option("--set", options->sets,
                  "Replace a value of the file: --set tpu.zone=us-central2-b")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void AddJobFileOptions(CLI::App& command, const std::shared_ptr<JobFileOptions>& options) {
  AddSetOptions(command, options);
  command.add_option("--name", options->name, "Another name for the job")->type_name("NAME");
}

base::Result<config::Loaded> LoadJobFile(App& app, const std::string& file,
                                         const JobFileOptions& options, bool secrets) {
  JM_ASSIGN_OR_RETURN(config::LoadRequest request, RequestFor(app, options));
  request.file = file;
  if (!options.name.empty()) request.name = options.name;
  if (!app.options().endpoint.empty()) request.endpoint = app.options().endpoint;
  request.check_secrets = secrets;
  return LoadAndWarn(app, request);
}

base::Result<config::Loaded> LoadStoredFile(App& app, const core::Job& job, const std::string& text,
                                            const JobFileOptions& options) {
  JM_ASSIGN_OR_RETURN(config::LoadRequest request, RequestFor(app, options));
  request.file = "job-" + core::FormatJobId(job.id) + ".yaml";
  const core::JobSpec& spec = job.revised ? *job.revised : job.spec;
  request.text = text.empty() ? config::ResolvedYaml({.spec = spec}, false) : text;
  request.check_secrets = false;
  return LoadAndWarn(app, request);
}

}  // namespace jobman::cli

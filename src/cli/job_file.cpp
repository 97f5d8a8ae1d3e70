#include "cli/job_file.hpp"

#include <CLI/CLI.hpp>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli {
namespace {

base::Result<config::LoadResult> LoadOrFail(const config::LoadRequest& request) {
  config::LoadResult result = config::Load(request);
  if (!result.loaded) return config::ToError(result.problems);
  return result;
}

void Warn(App& app, const config::Loaded& loaded) {
  for (const config::Problem& warning : loaded.warnings)
    app.Say(base::Trim(config::RenderWarning(warning)));
}

base::Result<config::Loaded> LoadAndWarn(App& app, const config::LoadRequest& request) {
  JM_ASSIGN_OR_RETURN(config::LoadResult result, LoadOrFail(request));
  Warn(app, *result.loaded);
  return std::move(*result.loaded);
}

}  // namespace

void AddSetOptions(CLI::App& command, const std::shared_ptr<JobFileOptions>& options) {
  command
      .add_option("--set", options->sets,
                  "Replace a value of the file: tpu.zone=us-central2-b; repeatable")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command
      .add_option("--set-file", options->set_files,
                  "Replace a value by the content of a file: command.cmd=run.sh; repeatable")
      ->type_name("KEY=PATH")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

void AddJobFileOptions(CLI::App& command, const std::shared_ptr<JobFileOptions>& options) {
  AddSetOptions(command, options);
  command
      .add_option("--array", options->arrays,
                  "A job for each value: 0-9, or a,b; NAME=0.1,0.2 is a name of matrix; repeatable")
      ->type_name("VALUES")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--name", options->name, "Another name for the job")->type_name("NAME");
}

base::Result<config::LoadRequest> RequestFor(const App& app, const std::string& file,
                                             const JobFileOptions& options) {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  config::LoadRequest request{.file = file,
                              .sets = options.sets,
                              .set_files = options.set_files,
                              .arrays = options.arrays,
                              .defaults = config::SystemDefaults(paths.home)};
  if (file == "-") {
    JM_ASSIGN_OR_RETURN(request.text, base::ReadFile("/dev/stdin"));
  }
  if (!options.name.empty()) request.name = options.name;
  if (!app.options().endpoint.empty()) request.endpoint = app.options().endpoint;
  return request;
}

base::Result<std::vector<config::Loaded>> LoadJobFile(App& app, const std::string& file,
                                                      const JobFileOptions& options, bool secrets) {
  JM_ASSIGN_OR_RETURN(config::LoadRequest request, RequestFor(app, file, options));
  request.check_secrets = secrets;
  std::vector<config::Loaded> jobs;
  int elements = 1;
  for (; request.element < elements; ++request.element) {
    JM_ASSIGN_OR_RETURN(config::LoadResult result, LoadOrFail(request));
    elements = result.elements;
    if (jobs.empty()) Warn(app, *result.loaded);
    jobs.push_back(std::move(*result.loaded));
  }
  return jobs;
}

base::Result<config::Loaded> LoadFileFor(App& app, const core::Job& job, const std::string& file,
                                         const JobFileOptions& options) {
  JM_ASSIGN_OR_RETURN(config::LoadRequest request, RequestFor(app, file, options));
  request.element = job.spec.array.index;
  request.check_secrets = true;
  return LoadAndWarn(app, request);
}

base::Result<config::Loaded> LoadStoredFile(App& app, const core::Job& job, const std::string& text,
                                            const JobFileOptions& options) {
  const std::string file = "job-" + core::FormatJobId(job.id) + ".yaml";
  JM_ASSIGN_OR_RETURN(config::LoadRequest request, RequestFor(app, file, options));
  const core::JobSpec& spec = job.revised ? *job.revised : job.spec;
  request.element = spec.array.index;
  request.text = text.empty() ? config::ResolvedYaml({.spec = spec}, false) : text;
  return LoadAndWarn(app, request);
}

}  // namespace jobman::cli

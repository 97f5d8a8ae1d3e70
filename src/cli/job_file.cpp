#include "cli/job_file.hpp"

#include <CLI/CLI.hpp>

#include "jobman/base/strings.hpp"

namespace jobman::cli {

void AddJobFileOptions(CLI::App& command, const std::shared_ptr<JobFileOptions>& options) {
  command
      .add_option("--set", options->sets,
                  "Replace a value of the file: --set tpu.zone=us-central2-b")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--name", options->name, "Another name for the job")->type_name("NAME");
}

base::Result<config::Loaded> LoadJobFile(App& app, const std::string& file,
                                         const JobFileOptions& options, bool secrets) {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  config::LoadRequest request;
  request.file = file;
  request.sets = options.sets;
  if (!options.name.empty()) request.name = options.name;
  if (!app.options().endpoint.empty()) request.endpoint = app.options().endpoint;
  request.check_secrets = secrets;
  request.defaults = config::SystemDefaults(paths.home);
  config::LoadResult result = config::Load(request);
  if (!result.loaded) return config::ToError(result.problems);
  for (const config::Problem& warning : result.loaded->warnings)
    app.Say(base::Trim(config::RenderWarning(warning)));
  return std::move(*result.loaded);
}

}  // namespace jobman::cli

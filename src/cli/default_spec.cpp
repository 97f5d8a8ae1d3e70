#include "cli/default_spec.hpp"

#include <utility>

#include "cli/job_file.hpp"

namespace jobman::cli {

base::Result<core::JobSpec> SpecOfDefaults(const App& app, const std::string& command,
                                           const std::string& project) {
  JobFileOptions changes{.name = command};
  if (!project.empty()) changes.sets = {"tpu.project=" + project};
  JM_ASSIGN_OR_RETURN(config::LoadRequest request,
                      RequestFor(app, "job.yaml (made by " + command + ")", changes));
  request.text = "tpu: {accelerator: v4-8, zone: us-central2-b}\n";
  request.needs_no_project = true;
  config::LoadResult result = config::Load(request);
  if (!result.loaded) return config::ToError(result.problems);
  return std::move(result.loaded->spec);
}

base::Result<core::JobSpec> SpecWithProject(const App& app, const std::string& command,
                                            const std::string& project) {
  JM_ASSIGN_OR_RETURN(core::JobSpec spec, SpecOfDefaults(app, command, project));
  if (!spec.tpu.project.empty()) return spec;
  return base::InvalidArgument("no project is named", "--project, or set GOOGLE_CLOUD_PROJECT");
}

}  // namespace jobman::cli

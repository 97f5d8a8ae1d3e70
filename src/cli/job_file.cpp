#include "cli/job_file.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/machine_project.hpp"
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

void AddArrayOption(CLI::App& command, const std::shared_ptr<JobFileOptions>& options) {
  command
      .add_option("--array", options->arrays,
                  "A job for each value: 0-9, or a,b; NAME=0.1,0.2 is a name of matrix; repeatable")
      ->type_name("VALUES")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

void AddJobFileOptions(CLI::App& command, const std::shared_ptr<JobFileOptions>& options) {
  AddSetOptions(command, options);
  AddArrayOption(command, options);
  command.add_option("--name", options->name, "Another name for the job")
      ->type_name("NAME")
      ->check([](const std::string& name) {  // an unset variable of a script
        return name.empty() ? "is empty" : std::string();
      });
  command
      .add_option("--impersonate-service-account", options->act_as,
                  "As this service account: cloud.impersonate_service_account")
      ->type_name("EMAIL");
  AddFromOptions(command, options->from);
}

base::Result<config::LoadRequest> RequestFor(const App& app, const std::string& file,
                                             const JobFileOptions& options) {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  config::LoadRequest request{.file = file,
                              .sets = options.sets,
                              .set_files = options.set_files,
                              .arrays = options.arrays,
                              .defaults = config::SystemDefaults(paths.home)};
  request.defaults.machine_project = MachineProject;
  JM_ASSIGN_OR_RETURN(request.from, ForeignOf(options.from));
  if (file == "-" && !request.from) {
    JM_ASSIGN_OR_RETURN(request.text, base::ReadFile("/dev/stdin"));
  }
  if (!options.name.empty()) request.name = options.name;
  if (!options.act_as.empty()) {
    request.sets.push_back("cloud.impersonate_service_account=" + options.act_as);
  }
  if (!app.options().endpoint.empty()) request.endpoint = app.options().endpoint;
  return request;
}

base::Result<std::vector<config::Loaded>> LoadElements(App& app, config::LoadRequest request) {
  std::vector<config::Loaded> jobs;
  int elements = 1;
  for (; request.element < elements; ++request.element) {
    JM_ASSIGN_OR_RETURN(config::LoadResult result, LoadOrFail(request));
    elements = result.elements;
    request.text = result.loaded->source;  // it may be a pipe, and may change meanwhile
    request.from.reset();
    if (jobs.empty()) Warn(app, *result.loaded);
    jobs.push_back(std::move(*result.loaded));
  }
  return jobs;
}

base::Result<std::vector<config::Loaded>> LoadJobFile(App& app, const std::string& file,
                                                      const JobFileOptions& options, bool secrets) {
  JM_ASSIGN_OR_RETURN(config::LoadRequest request, RequestFor(app, file, options));
  request.check_secrets = secrets;
  return LoadElements(app, std::move(request));
}

namespace {

base::Error NoElement(const std::string& file, int elements, core::JobId id) {
  return base::InvalidArgument(
      fmt::format("{} makes {}, and job {} is none of them", file, base::Plural(elements, "job"),
                  core::FormatJobId(id)),
      "give it one of the values: --set matrix.NAME=VALUE, or --set array=VALUE");
}

/// "lr=8, seed=1", as far as they are other values than before.
std::string ChangedValues(const core::JobSpec& before, const core::JobSpec& now) {
  std::vector<std::string> changed;
  if (now.array.value != before.array.value) changed.push_back("array=" + now.array.value);
  for (const auto& [name, value] : now.matrix) {
    const auto old = before.matrix.find(name);
    if (old == before.matrix.end() || old->second != value) changed.push_back(name + "=" + value);
  }
  return base::Join(changed, ", ");
}

}  // namespace

base::Result<config::Loaded> LoadFileFor(App& app, const core::Job& job, const std::string& file,
                                         const JobFileOptions& options) {
  JM_ASSIGN_OR_RETURN(config::LoadRequest request, RequestFor(app, file, options));
  request.check_secrets = true;
  JM_ASSIGN_OR_RETURN(config::LoadResult result, LoadOrFail(request));
  if (result.elements > 1) {
    if (job.spec.array.empty()) return NoElement(file, result.elements, job.id);
    request.text = result.loaded->source;
    request.element = job.spec.array.index;
    JM_ASSIGN_OR_RETURN(result, LoadOrFail(request));
  }
  Warn(app, *result.loaded);
  if (const std::string values = ChangedValues(job.spec, result.loaded->spec); !values.empty())
    app.Say("note: other values for job " + core::FormatJobId(job.id) + ": " + values);
  return std::move(*result.loaded);
}

namespace {

base::Error NoSuchName(const core::Job& job, const std::string& name,
                       const std::vector<std::string>& names) {
  const auto near = base::Nearest(name, names);
  return base::InvalidArgument(
      fmt::format("job {} has no matrix.{}", core::FormatJobId(job.id), name),
      near             ? "did you mean matrix." + *near + "?"
      : !names.empty() ? "its names are " + base::Join(names, ", ")
                       : "it was made without a matrix");
}

}  // namespace

base::Status CheckElementSets(const core::Job& job, const std::string& source,
                              const JobFileOptions& options) {
  constexpr std::string_view kMatrix = "matrix.";
  std::vector<std::string> names;
  for (const auto& [name, value] : (job.revised ? *job.revised : job.spec).matrix)
    names.push_back(name);
  for (const std::string& set : options.sets) {
    const std::string key = set.substr(0, set.find('='));
    const bool of_matrix = key.starts_with(kMatrix);
    if (!of_matrix && key != "array" && !key.starts_with("array.")) continue;
    const std::string name = of_matrix ? key.substr(kMatrix.size()) : "";
    if (of_matrix && std::find(names.begin(), names.end(), name) == names.end())
      return NoSuchName(job, name, names);
    if (!base::Contains(source, "${" + (of_matrix ? key : std::string("array")))) continue;
    return base::InvalidArgument(
        fmt::format("--set {}: the texts of job {} have the value that it was created with", key,
                    core::FormatJobId(job.id)),
        "give the job file too: -f FILE --set " + set);
  }
  return base::Ok();
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

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/job_file.hpp"
#include "cli/slice_price.hpp"
#include "cli/views/job_file.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/load.hpp"
#include "jobman/config/schema.hpp"

namespace jobman::cli {
namespace {

using base::Result;

struct CheckOptions {
  std::vector<std::string> files = {};
};
struct ShowOptions {
  std::string file = {};
  bool origins = false;
};

Result<config::LoadResult> Load(const App& app, const std::string& file,
                                const JobFileOptions& changes) {
  JM_ASSIGN_OR_RETURN(config::LoadRequest request, RequestFor(app, file, changes));
  request.may_lack_project = true;
  return config::Load(request);
}

/// All jobs that the file makes, up to the first with a problem, which is the file's then. What the
/// first job is warned of, the others are too.
Result<views::CheckedFiles::File> CheckFile(App& app, const std::string& name,
                                            const JobFileOptions& changes,
                                            const core::PriceList& prices) {
  JM_ASSIGN_OR_RETURN(config::LoadRequest request, RequestFor(app, name, changes));
  request.may_lack_project = true;
  views::CheckedFiles::File file{.name = name};
  for (int elements = 1; request.element < elements; ++request.element) {
    config::LoadResult result = config::Load(request);
    if (!result.loaded)
      return views::CheckedFiles::File{.name = name, .problems = std::move(result.problems)};
    elements = result.elements;
    request.text = result.loaded->source;  // a pipe can be read once
    const auto price = SlicePrice(prices, result.loaded->spec);
    if (request.element == 0) {
      file.per_hour = 0;
      const std::string note = UnpricedNote(prices, result.loaded->spec);
      if (!note.empty()) app.Say("note: " + name + ": " + note);
    }
    file.per_hour = file.per_hour && price ? std::optional(*file.per_hour + *price) : std::nullopt;
    file.jobs.push_back(result.loaded->spec.name);
    if (request.element == 0) file.warnings = std::move(result.loaded->warnings);
  }
  return file;
}

Result<int> RunCheck(App& app, const CheckOptions& options, const JobFileOptions& changes) {
  views::CheckedFiles view;
  JM_ASSIGN_OR_RETURN(const auto files,
                      FilesOf({.files = options.files, .command = "config check"}, changes.from));
  const core::PriceList prices = PricesOrNote(app);
  for (const std::string& file : files) {
    JM_ASSIGN_OR_RETURN(auto checked, CheckFile(app, file, changes, prices));
    view.files.push_back(std::move(checked));
  }
  app.Show(view);
  return view.AllGood() ? kSuccess : kUsage;
}

Result<int> RunShowFile(App& app, const ShowOptions& options, const JobFileOptions& changes) {
  FilesRequest request{.command = "config show"};
  if (!options.file.empty()) request.files = {options.file};
  JM_ASSIGN_OR_RETURN(const auto files, FilesOf(request, changes.from));
  JM_ASSIGN_OR_RETURN(config::LoadResult result, Load(app, files.front(), changes));
  if (!result.loaded) return config::ToError(result.problems);
  if (result.elements > 1) {
    app.Say(fmt::format("note: the file makes {} jobs; this is the first", result.elements));
  }
  if (result.loaded->spec.tpu.project.empty()) {
    app.Say(
        "note: nothing names a project, so none is shown: set GOOGLE_CLOUD_PROJECT, or "
        "--set tpu.project=ID");
  }
  for (const config::Problem& warning : result.loaded->warnings)
    app.Say(base::Trim(config::RenderWarning(warning)));
  app.Show(views::ResolvedFile{.loaded = std::move(*result.loaded), .origins = options.origins});
  return kSuccess;
}

Result<int> RunExplain(App& app, const std::string& key) {
  JM_ASSIGN_OR_RETURN(const std::string text, config::ExplainKey(key));
  if (app.mode() == OutputMode::kJson) {
    app.ShowJson({{"key", key}, {"text", text}});
  } else {
    app.terminal().Out(WrapKeys(text, app.terminal().out_style().width));
  }
  return kSuccess;
}

void AddCheck(CLI::App& config, Invocation& chosen) {
  auto options = std::make_shared<CheckOptions>();
  auto changes = std::make_shared<JobFileOptions>();
  CLI::App* command =
      config.add_subcommand("check", "Say what is wrong with a job file, and where");
  command->add_option("FILE", options->files, "Job file; - for standard input");
  AddJobFileOptions(*command, changes);
  command->callback([options, changes, &chosen] {
    chosen.run = [options, changes](App& app) { return RunCheck(app, *options, *changes); };
  });
}

void AddShowFile(CLI::App& config, Invocation& chosen) {
  auto options = std::make_shared<ShowOptions>();
  auto changes = std::make_shared<JobFileOptions>();
  CLI::App* command =
      config.add_subcommand("show", "The job file with every default filled in, as YAML");
  command->add_option("FILE", options->file, "Job file; - for standard input");
  command->add_flag("--origins", options->origins, "Say where each value came from");
  AddJobFileOptions(*command, changes);
  command->callback([options, changes, &chosen] {
    chosen.run = [options, changes](App& app) { return RunShowFile(app, *options, *changes); };
  });
}

void AddExplain(CLI::App& config, Invocation& chosen) {
  auto key = std::make_shared<std::string>();
  CLI::App* command =
      config.add_subcommand("explain", "What a key of the job file means, or all keys");
  command->add_option("KEY", *key, "As written with dots: tpu.zone");
  command->callback(
      [key, &chosen] { chosen.run = [key](App& app) { return RunExplain(app, *key); }; });
}

}  // namespace

void AddConfig(CLI::App& root, Invocation& chosen) {
  CLI::App* command = root.add_subcommand("config", "Job files: check, show, explain");
  command->require_subcommand(1);
  AddCheck(*command, chosen);
  AddShowFile(*command, chosen);
  AddExplain(*command, chosen);
}

}  // namespace jobman::cli

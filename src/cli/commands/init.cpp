#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/foreign_job.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/convert.hpp"
#include "jobman/config/init.hpp"

namespace jobman::cli {
namespace {

struct InitOptions {
  std::string file = "job.yaml";
  config::InitOptions job = {};
  FromOptions from = {};
  bool force = false;
};

// Safe to repeat: a file with this content is left alone, any other is never lost.
base::Status WriteNew(const std::string& file, const std::string& text, bool force) {
  const auto present = base::ReadRegularFile(file);
  if (present.ok() && *present == text) return base::Ok();
  if (present.ok() && !force)
    return base::Error{.code = base::Code::kAlreadyExists,
                       .message = file + " exists with other content",
                       .hint = "name another file, or pass --force to overwrite it"};
  if (!present.ok() && present.error().code != base::Code::kNotFound) return present.error();
  const base::Path folder = base::Path(file).parent_path();
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
    return base::InvalidArgument("writing " + file + ": there is no folder " + folder.string(),
                                 "mkdir -p " + base::ShellQuote(folder.string()));
  return base::WriteFileAtomic(file, text, 0644);
}

/// Whether relative paths begin at another folder in a file of this name.
bool IsElsewhere(const std::string& file) {
  const base::Path folder = base::Path(file).parent_path().lexically_normal();
  return !folder.empty() && folder != ".";
}

base::Result<std::string> Converted(App& app, config::Foreign foreign, const InitOptions& options) {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  foreign.moves = IsElsewhere(options.file);
  const config::Conversion result =
      config::Convert(foreign, config::SystemDefaults(paths.home), options.job);
  if (!result.problems.empty()) return config::ToError(result.problems);
  for (const config::Problem& warning : result.warnings)
    app.Say(base::Trim(config::RenderWarning(warning)));
  if (!result.lacks.empty())
    app.Say("note: it lacks " + base::Join(result.lacks, " and ") +
            ": write what is missing into it, or into your defaults file");
  return result.text;
}

base::Result<std::string> JobTextOf(App& app, const InitOptions& options) {
  JM_TRY(config::CheckInitOptions(options.job));
  JM_ASSIGN_OR_RETURN(auto foreign, ForeignOf(options.from));
  if (!foreign) return config::InitTemplate(options.job);
  return Converted(app, *std::move(foreign), options);
}

base::Result<int> RunInit(App& app, const InitOptions& options) {
  JM_ASSIGN_OR_RETURN(const std::string text, JobTextOf(app, options));
  if (options.file == "-") {
    app.terminal().Out(text);
    return kSuccess;
  }
  JM_TRY(WriteNew(options.file, text, options.force));
  if (app.mode() == OutputMode::kJson) {
    app.ShowJson({{"file", options.file}});
  } else {
    app.terminal().Out(base::CleanLine(options.file) + "\n");
    app.Say("next: jobman config check " + options.file + ", then jobman create " + options.file);
  }
  return kSuccess;
}

}  // namespace

void AddInit(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* command = root.add_subcommand("init", "Write a job file with a comment for each part");
  command->add_option("FILE", options->file, "Where to; - for standard output (default: job.yaml)");
  command->add_option("--name", options->job.name, "Name of the job")->type_name("NAME");
  command->add_option("--cloud", options->job.cloud, "google, local (the simulator), or a URL")
      ->type_name("CLOUD");
  command->add_option("--project", options->job.project, "Google Cloud project")->type_name("ID");
  command->add_option("--zone", options->job.zone, "Zone")->type_name("ZONE");
  command->add_option("--accelerator", options->job.accelerator, "For example v4-32")
      ->type_name("TYPE");
  command->add_option("--pricing", options->job.pricing, "spot, ondemand, preemptible or reserved")
      ->type_name("PRICING");
  AddFromOptions(*command, options->from);
  command->add_flag("--force", options->force, "Overwrite the file");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunInit(app, *options); }; });
}

}  // namespace jobman::cli

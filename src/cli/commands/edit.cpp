// jobman edit: the job file of a stored job in the user's editor.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/job_file.hpp"
#include "jobman/base/env.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/revise_job.hpp"

namespace jobman::cli {
namespace {

using base::Result;

std::string EditorCommand() {
  for (const char* const name : {"VISUAL", "EDITOR"}) {
    if (const auto value = base::GetEnv(name)) return *value;
  }
  return "vi";
}

/// $EDITOR may be a command line: "code --wait".
base::Status Edit(const base::Path& file) {
  const std::string editor = EditorCommand();
  const int status = std::system((editor + " " + base::ShellQuote(file.string())).c_str());
  if (status == 0) return base::Ok();
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = "the editor, " + editor + ", failed; nothing was changed",
                     .hint = "name another in EDITOR"};
}

/// The job file as the user wrote it, if that is still what the job is; else its spec.
Result<std::string> TextOf(App& app, const client::Context& context, const core::Job& job) {
  const core::JobSpec& spec = job.revised ? *job.revised : job.spec;
  JM_ASSIGN_OR_RETURN(std::string source, context.Await(context.stores.jobs->Source(job.id)));
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  config::LoadRequest request{.file = "job.yaml", .text = source};
  request.element = spec.array.index;
  request.defaults = config::SystemDefaults(paths.home);
  const config::LoadResult read = config::Load(request);
  if (read.loaded && read.loaded->spec == spec) return source;
  return "# The job as it is stored, with the options and defaults of its creation.\n" +
         config::ResolvedYaml({.spec = spec}, false);
}

Result<int> RunEdit(App& app, const std::string& word) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, word)));
  JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
  JM_ASSIGN_OR_RETURN(const std::string before, TextOf(app, context, job));
  const base::Path file = context.paths.home / ("edit-" + core::FormatJobId(id) + ".yaml");
  JM_TRY(base::WriteFileAtomic(file, before));
  JM_TRY(Edit(file));
  JM_ASSIGN_OR_RETURN(const std::string after, base::ReadFile(file));
  std::error_code ignored;
  if (after == before) {
    std::filesystem::remove(file, ignored);
    app.Say("nothing was changed");
    return kSuccess;
  }
  const auto stored = [&]() -> Result<client::Revised> {
    JM_ASSIGN_OR_RETURN(auto loaded, LoadStoredFile(app, job, after, {}));
    return context.Await(client::ReviseJob(context, {.job = id, .loaded = std::move(loaded)}));
  }();
  if (!stored.ok()) {
    base::Error error = stored.error();
    error.hint = "your text is kept; correct it, then: jobman resume " + core::FormatJobId(id) +
                 " -f " + base::ShellQuote(file.string());
    return error;
  }
  std::filesystem::remove(file, ignored);
  for (const std::string& note : stored->notes) app.Say("note: " + note);
  app.Say("job " + core::FormatJobId(id) + " uses it from its next attempt on: jobman " +
          (core::IsFinal(job.state) ? "resume " : "reboot ") + core::FormatJobId(id));
  return kSuccess;
}

}  // namespace

void AddEdit(CLI::App& root, Invocation& chosen) {
  auto job = std::make_shared<std::string>();
  CLI::App* command = root.add_subcommand(
      "edit", "Change the job file of a stored job in $EDITOR; its next attempt uses it");
  command->add_option("JOB", *job, "Number or name")->required();
  command->callback(
      [job, &chosen] { chosen.run = [job](App& app) { return RunEdit(app, *job); }; });
}

}  // namespace jobman::cli

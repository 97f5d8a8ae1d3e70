// jobman edit: the job file of a stored job in the user's editor.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/commands.hpp"
#include "cli/edited_text.hpp"
#include "cli/job_file.hpp"
#include "cli/machine_project.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/revise_job.hpp"

namespace jobman::cli {
namespace {

using base::Result;

/// So often at most the editor is opened again: it may be a program that goes on for ever.
constexpr int kMostRounds = 20;

/// The job file as the user wrote it, if that is still what the job is; else its spec.
Result<std::string> TextOf(App& app, const client::Context& context, const core::Job& job) {
  const core::JobSpec& spec = job.revised ? *job.revised : job.spec;
  JM_ASSIGN_OR_RETURN(std::string source, context.Await(context.stores.jobs->Source(job.id)));
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  config::LoadRequest request{.file = "job.yaml", .text = source};
  request.element = spec.array.index;
  request.defaults = config::SystemDefaults(paths.home);
  request.defaults.machine_project = MachineProject;
  const config::LoadResult read = config::Load(request);
  if (read.loaded && read.loaded->spec == spec) return source;
  return "# The job as it is stored, with the options and defaults of its creation.\n" +
         config::ResolvedYaml({.spec = spec}, false);
}

/// For the editor, above the text.
std::string NoteOn(const base::Error& problem) {
  return fmt::format(
      "This was not taken over:\n{}{}{}\n"
      "Correct it, or leave it as it is to give up. Lines are counted without these.",
      problem.ToString(), problem.hint.empty() ? "" : "\n  ", problem.hint);
}

/// A text that an earlier edit has left.
struct Earlier {
  std::string note = {};  ///< for the editor, above it
  std::string cure = {};  ///< what can be done with it as it is
};

/// "-f FILE"
std::string FileOption(const EditedText& text) {
  return "-f " + base::ShellQuote(text.file().string());
}

/// Empty if there is none.
Earlier LookAtEarlier(App& app, const core::Job& job, const EditedText& text) {
  if (text.IsStored()) return {};
  const std::string note =
      "Your text of an earlier edit, which is not taken over yet. To drop it, empty this file.";
  const std::string id = core::FormatJobId(job.id);
  const auto read = LoadStoredFile(app, job, text.text(), {});
  if (!read.ok()) {
    return {.note = note + "\n" + NoteOn(read.error()), .cure = "to correct it: jobman edit " + id};
  }
  const std::string_view verb = client::NeedsAnotherSlice(job, read->spec) ? "requeue" : "resume";
  return {
      .note = note,
      .cure = fmt::format("to take it over as it is: jobman {} {} {}", verb, id, FileOption(text))};
}

base::Error Kept(base::Error error, const EditedText& text, const core::Job& job) {
  if (text.IsStored()) return error;
  if (!error.hint.empty()) error.hint += "; ";
  error.hint += fmt::format("your text is kept in {}: jobman edit {} goes on with it",
                            text.file().string(), core::FormatJobId(job.id));
  return error;
}

base::Status TakeOver(App& app, const client::Context& context, const core::Job& job,
                      const EditedText& text) {
  JM_ASSIGN_OR_RETURN(auto loaded, LoadStoredFile(app, job, text.text(), {}));
  client::RevisionOrder order{
      .job = job.id, .loaded = std::move(loaded), .options = FileOption(text)};
  JM_ASSIGN_OR_RETURN(const client::Revised revised,
                      context.Await(client::ReviseJob(context, std::move(order))));
  for (const std::string& note : revised.notes) app.Say("note: " + note);
  app.Say("job " + core::FormatJobId(job.id) + " uses it from its next attempt on: jobman " +
          (core::IsFinal(job.state) ? "resume " : "reboot ") + core::FormatJobId(job.id));
  return base::Ok();
}

/// The user has left the text as it was.
Result<int> EndUnchanged(App& app, const EditedText& text, const core::Job& job,
                         const Earlier& earlier, const std::optional<base::Error>& problem) {
  if (problem && !text.IsStored()) return Kept(*problem, text, job);
  const bool dropped = text.IsStored() && (problem || !earlier.note.empty());
  app.Say(dropped ? "your text is dropped; nothing was changed" : "nothing was changed");
  if (text.IsStored()) return kSuccess;
  app.Say(fmt::format("your text of an earlier edit is still in {}; {}", text.file().string(),
                      earlier.cure));
  return kSuccess;
}

bool IsOnTerminal(App& app) {
  return app.mode() == OutputMode::kText && app.terminal().facts().err_screen;
}

/// Until the text is taken over, or the user leaves it as it is.
Result<int> EditUntilTaken(App& app, const client::Context& context, const core::Job& job,
                           EditedText& text) {
  const Earlier earlier = LookAtEarlier(app, job, text);
  std::string note = earlier.note;
  std::optional<base::Error> problem;
  for (int round = 1; round == 1 || (IsOnTerminal(app) && round <= kMostRounds); ++round) {
    const auto changed = text.Edit(note);
    if (!changed.ok()) return Kept(changed.error(), text, job);
    if (text.IsStored() || !*changed) return EndUnchanged(app, text, job, earlier, problem);
    const auto taken = TakeOver(app, context, job, text);
    if (taken.ok()) {
      text.Stored();
      return kSuccess;
    }
    problem = taken.error();
    note = NoteOn(*problem);
  }
  return Kept(*problem, text, job);
}

Result<int> RunEdit(App& app, const std::string& word) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, word)));
  JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
  JM_ASSIGN_OR_RETURN(std::string stored, TextOf(app, context, job));
  const base::Path file = context.paths.home / ("edit-" + core::FormatJobId(id) + ".yaml");
  JM_ASSIGN_OR_RETURN(EditedText text, EditedText::Begin(file, std::move(stored)));
  if (!text.IsStored()) app.Say("going on with your text of an earlier edit, " + file.string());
  return EditUntilTaken(app, context, job, text);
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

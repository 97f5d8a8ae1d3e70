#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/confirm.hpp"
#include "cli/exit_code.hpp"
#include "cli/job_choice.hpp"
#include "cli/narrator.hpp"
#include "cli/views/wished.hpp"
#include "jobman/client/clean_jobs.hpp"

namespace jobman::cli {
namespace {

views::Wished ViewOf(const client::Erased& erased) {
  views::Wished view;
  for (const core::Job& job : erased.jobs) {
    view.rows.push_back({.id = job.id,
                         .name = job.name,
                         .state = "gone",
                         .status = "gone",
                         .settled = true,
                         .why = "its records and logs are deleted"});
  }
  for (const client::Erased::Refused& one : erased.refused)
    view.refused.push_back({.id = one.job, .error = one.error});
  return view;
}

/// What is erased, then what is not, with the exit code of the first that is not.
base::Result<int> ShowErased(App& app, const client::Erased& erased) {
  if (erased.jobs.empty() && erased.refused.size() == 1) return erased.refused.front().error;
  app.Show(ViewOf(erased));
  int code = kSuccess;
  for (const client::Erased::Refused& one : erased.refused) {
    const bool in_json = app.mode() == OutputMode::kJson;
    const int its_code = in_json ? ExitCodeOf(one.error) : app.Fail(one.error);
    if (code == kSuccess) code = its_code;
  }
  return code;
}

base::Result<int> RunClean(App& app, const JobChoice& choice, bool yes) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(auto ids, Choose(context, choice, {.removes = true, .with_deleted = true}));
  if (!yes) {
    JM_ASSIGN_OR_RETURN(const auto jobs, ReadJobs(context, ids));
    if (!Confirm(app, "delete, with records and logs,", jobs)) return kJobFailed;
    JM_ASSIGN_OR_RETURN(ids, StillMeant(app, context, choice, jobs));
    if (ids.empty()) return kJobFailed;
  }
  const auto tell = [&app](core::JobId id) {
    app.Say("deleting the cloud resources of job " + core::FormatJobId(id));
  };
  JM_ASSIGN_OR_RETURN(const auto held, context.Await(client::DeleteSlices(context, ids, tell)));
  if (!held.empty()) JM_TRY(WaitUntilAtRest(app, context, held));
  return ShowErased(app, context.Await(client::EraseJobs(context, ids)));
}

}  // namespace

void AddClean(CLI::App& root, Invocation& chosen) {
  auto choice = std::make_shared<JobChoice>();
  CLI::App* command = root.add_subcommand("clean", "Delete, and drop the records and logs as well");
  AddJobChoice(*command, choice);
  auto yes = std::make_shared<bool>(false);
  command->add_flag("-y,--yes", *yes, "Without asking");
  command->callback([choice, yes, &chosen] {
    chosen.run = [choice, yes](App& app) { return RunClean(app, *choice, *yes); };
  });
}

}  // namespace jobman::cli

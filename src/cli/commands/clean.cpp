#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/narrator.hpp"
#include "cli/views/wished.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/find_jobs.hpp"

namespace jobman::cli {
namespace {

/// Deletes what is left in the cloud, then the records, then the logs: a crash in between may leave
/// logs without a job, but never a slice without one.
base::Result<int> RunClean(App& app, const std::vector<std::string>& words) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const std::vector<core::JobId> ids,
                      context.Await(client::FindJobsToRemove(context.stores.jobs, words)));
  std::vector<core::JobId> held;
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
    if (!core::NeedsCare(job)) continue;
    JM_TRY(context.Await(context.stores.jobs->SetWish(id, core::Wish::kDelete, false, app.Now())));
    app.Say("deleting the cloud resources of job " + core::FormatJobId(id));
    held.push_back(id);
  }
  if (!held.empty()) {
    JM_TRY(context.Await(client::WakeController(context)));
    JM_TRY(WaitUntilAtRest(app, context, held));
  }
  views::Wished view;
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
    JM_TRY(context.Await(context.stores.jobs->Erase({.id = id, .version = job.version})));
    JM_TRY(base::RemoveAll(context.paths.JobDir(id.value)));
    view.rows.push_back({.id = id,
                         .name = job.name,
                         .state = "gone",
                         .settled = true,
                         .why = "its records and logs are deleted"});
  }
  app.Show(view);
  return kSuccess;
}

}  // namespace

void AddClean(CLI::App& root, Invocation& chosen) {
  auto jobs = std::make_shared<std::vector<std::string>>();
  CLI::App* command = root.add_subcommand("clean", "Delete, and drop the records and logs as well");
  command->add_option("JOB", *jobs, "Numbers or names")->required();
  command->callback(
      [jobs, &chosen] { chosen.run = [jobs](App& app) { return RunClean(app, *jobs); }; });
}

}  // namespace jobman::cli

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/job_ref.hpp"
#include "cli/views/job_detail.hpp"

namespace jobman::cli {
namespace {

using base::Result;

Result<views::JobDetails::Item> Look(App& app, const ports::Stores& stores, core::JobId id) {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  JM_ASSIGN_OR_RETURN(core::Job job, app.Await(stores.jobs->Get(id)));
  JM_ASSIGN_OR_RETURN(auto attempts, app.Await(stores.jobs->Attempts(id)));
  JM_ASSIGN_OR_RETURN(auto exits, app.Await(stores.jobs->Exits(id)));
  JM_ASSIGN_OR_RETURN(auto deliveries, app.Await(stores.outbox->Deliveries(id)));
  return views::JobDetails::Item{.job = std::move(job),
                                 .attempts = std::move(attempts),
                                 .exits = std::move(exits),
                                 .deliveries = std::move(deliveries),
                                 .logs = paths.JobDir(id.value).string()};
}

Result<int> RunShow(App& app, const std::vector<std::string>& jobs) {
  JM_ASSIGN_OR_RETURN(const ports::Stores stores, app.StoresForReading());
  JM_ASSIGN_OR_RETURN(const std::vector<core::JobId> ids, app.Await(FindJobs(stores.jobs, jobs)));
  views::JobDetails view{.now = app.Now()};
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(views::JobDetails::Item item, Look(app, stores, id));
    view.items.push_back(std::move(item));
  }
  app.Show(view);
  return kSuccess;
}

}  // namespace

void AddShow(CLI::App& root, Invocation& chosen) {
  auto jobs = std::make_shared<std::vector<std::string>>();
  CLI::App* command = root.add_subcommand(
      "show", "Everything about a job: attempts, slice, hosts, stages, exit codes");
  command->add_option("JOB", *jobs, "Number or name")->required();
  command->callback(
      [jobs, &chosen] { chosen.run = [jobs](App& app) { return RunShow(app, *jobs); }; });
}

}  // namespace jobman::cli

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

Result<views::JobDetails::Item> Look(App& app, ports::Store& store, core::JobId id) {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  JM_ASSIGN_OR_RETURN(core::Job job, store.Get(id));
  JM_ASSIGN_OR_RETURN(auto attempts, store.Attempts(id));
  JM_ASSIGN_OR_RETURN(auto exits, store.Exits(id));
  JM_ASSIGN_OR_RETURN(auto notices, store.Notices(id));
  return views::JobDetails::Item{.job = std::move(job),
                                 .attempts = std::move(attempts),
                                 .exits = std::move(exits),
                                 .notices = std::move(notices),
                                 .logs = paths.JobDir(id.value).string()};
}

Result<int> RunShow(App& app, const std::vector<std::string>& jobs) {
  JM_ASSIGN_OR_RETURN(ports::Store* const store, app.StoreForReading());
  JM_ASSIGN_OR_RETURN(const std::vector<core::JobId> ids, FindJobs(*store, jobs));
  views::JobDetails view{.now = app.Now()};
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(views::JobDetails::Item item, Look(app, *store, id));
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

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/job_choice.hpp"
#include "cli/views/job_detail.hpp"

namespace jobman::cli {
namespace {

using base::Result;

Result<views::JobDetails::Item> Look(const client::Context& context, core::JobId id) {
  JM_ASSIGN_OR_RETURN(core::Job job, context.Await(context.stores.jobs->Get(id)));
  JM_ASSIGN_OR_RETURN(auto attempts, context.Await(context.stores.jobs->Attempts(id)));
  JM_ASSIGN_OR_RETURN(auto exits, context.Await(context.stores.jobs->Exits(id)));
  JM_ASSIGN_OR_RETURN(auto deliveries, context.Await(context.stores.outbox->Deliveries(id)));
  auto output = client::FindLastOutput(context.paths, job);
  return views::JobDetails::Item{.job = std::move(job),
                                 .attempts = std::move(attempts),
                                 .exits = std::move(exits),
                                 .deliveries = std::move(deliveries),
                                 .logs = context.paths.JobDir(id.value).string(),
                                 .output = std::move(output)};
}

Result<int> RunShow(App& app, const JobChoice& choice) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  JM_ASSIGN_OR_RETURN(const auto ids, Choose(context, choice, {.with_deleted = true}));
  views::JobDetails view{.now = app.Now()};
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(views::JobDetails::Item item, Look(context, id));
    view.items.push_back(std::move(item));
  }
  app.Show(view);
  return kSuccess;
}

}  // namespace

void AddShow(CLI::App& root, Invocation& chosen) {
  auto choice = std::make_shared<JobChoice>();
  CLI::App* command = root.add_subcommand(
      "show", "Everything about a job: attempts, slice, hosts, stages, exit codes");
  command->alias("describe");
  AddJobChoice(*command, choice);
  command->callback(
      [choice, &chosen] { chosen.run = [choice](App& app) { return RunShow(app, *choice); }; });
}

}  // namespace jobman::cli

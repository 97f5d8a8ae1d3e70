#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/views/maintenance.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/maintain.hpp"

namespace jobman::cli {
namespace {

/// 0 if any maintenance begins: the other nodes may have none.
int ExitCodeOfMaintenance(const views::Maintenance& view) {
  const auto begins = [](const client::MaintenanceAsked& one) { return !one.refused; };
  const bool any = std::any_of(view.nodes.begin(), view.nodes.end(), begins);
  return any || view.nodes.empty() ? kSuccess : ExitCodeOf(*view.nodes.front().refused);
}

base::Result<int> RunMaintain(App& app, const std::string& word) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, word)));
  views::Maintenance view{.job = id};
  JM_ASSIGN_OR_RETURN(view.nodes, context.Await(client::BeginMaintenance(context, id)));
  app.Show(view);
  return ExitCodeOfMaintenance(view);
}

}  // namespace

void AddMaintain(CLI::App& root, Invocation& chosen) {
  auto job = std::make_shared<std::string>();
  CLI::App* command = root.add_subcommand(
      "maintain", "Begin the maintenance that the cloud has announced now, while it suits you");
  command->add_option("JOB", *job, "Number or name")->required();
  command->callback(
      [job, &chosen] { chosen.run = [job](App& app) { return RunMaintain(app, *job); }; });
}

}  // namespace jobman::cli

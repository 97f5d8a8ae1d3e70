#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/csv_option.hpp"
#include "cli/default_spec.hpp"
#include "cli/views/quota.hpp"
#include "jobman/client/quota.hpp"
#include "jobman/config/places.hpp"

namespace jobman::cli {
namespace {

using base::Result;

struct QuotaOptions {
  std::vector<std::string> zones = {};
  std::string project = {};
  bool all = false;
  bool csv = false;
};

/// A refusal of what the command is for is its failure; a cloud that has no quotas is none, unless
/// it does not say either what is held.
int CodeOfQuota(const client::QuotaAnswer& answer) {
  if (!answer.no_limits) return kSuccess;
  if (answer.no_limits->code != base::Code::kUnimplemented) return ExitCodeOf(*answer.no_limits);
  return answer.no_nodes ? ExitCodeOf(*answer.no_nodes) : kSuccess;
}

Result<int> RunQuota(App& app, const QuotaOptions& options) {
  JM_TRY(CheckCsv(app, options.csv));
  for (const std::string& zone : options.zones) JM_TRY(config::CheckZone(zone));
  JM_ASSIGN_OR_RETURN(const core::JobSpec spec, SpecWithProject(app, "quota", options.project));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading(Elsewhere::kIgnore));
  views::Quota view{.project = spec.tpu.project};
  view.answer = context.Await(client::AskQuota(context, {.cloud = spec.cloud,
                                                         .project = spec.tpu.project,
                                                         .zones = options.zones,
                                                         .all = options.all}));
  ShowOrCsv(app, view, options.csv);
  return CodeOfQuota(view.answer);
}

}  // namespace

void AddQuota(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<QuotaOptions>();
  CLI::App* command = root.add_subcommand(
      "quota", "What the project may hold: TPUs and external addresses, and who holds them now");
  command->add_option("-z,--zone", options->zones, "Only these zones, with limits of 0, too")
      ->type_name("ZONE,...")
      ->expected(1)
      ->take_all()
      ->delimiter(',');
  command->add_option("--project", options->project, "Ask for this project")->type_name("PROJECT");
  command->add_flag("-A,--all", options->all, "Every limit, also of 0, and those that are none");
  command->add_flag("--csv", options->csv, "Comma-separated values: a line for each limit");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunQuota(app, *options); }; });
}

}  // namespace jobman::cli

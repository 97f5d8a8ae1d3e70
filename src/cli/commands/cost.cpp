#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/csv_option.hpp"
#include "cli/job_choice.hpp"
#include "cli/one_of.hpp"
#include "cli/since.hpp"
#include "cli/views/costs.hpp"
#include "jobman/client/job_costs.hpp"
#include "jobman/config/prices.hpp"
#include "jobman/ports/records.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using client::HeldCost;
using views::Costs;

struct CostOptions {
  JobChoice choice = {};
  std::string by = "job";
  std::optional<std::string> since = {};
  bool csv = false;
};

Costs::By ReadBy(const std::string& word) {
  if (word == "user") return Costs::By::kUser;
  if (word == "day") return Costs::By::kDay;
  return word == "zone" ? Costs::By::kZone : Costs::By::kJob;
}

bool ChoosesJobs(const JobChoice& choice) {
  return !choice.words.empty() || !choice.statuses.empty() || !choice.labels.empty();
}

/// The chosen jobs, or every job of the store: what is deleted has cost, too.
Result<std::vector<core::JobId>> JobsToCount(const client::Context& context,
                                             const JobChoice& choice) {
  if (ChoosesJobs(choice)) return Choose(context, choice, {.with_deleted = true});
  JM_ASSIGN_OR_RETURN(const auto rows,
                      context.Await(context.stores.jobs->List({.with_deleted = true})));
  std::vector<core::JobId> ids;
  for (const ports::JobSummary& row : rows) ids.push_back(row.id);
  return ids;
}

/// Among all jobs, one whose record is of no use to this version is only left out.
bool CanLeaveOut(const base::Error& error) {
  return ports::IsUnusable(error) || error.code == base::Code::kNotFound;
}

Result<Costs> CountCosts(App& app, const client::Context& context, const CostOptions& options) {
  Costs view{.by = ReadBy(options.by)};
  JM_ASSIGN_OR_RETURN(const core::PriceList prices, config::LoadPrices());
  view.price_lists = prices.sources;
  JM_ASSIGN_OR_RETURN(view.since, ReadSince(options.since, app.Now()));
  JM_ASSIGN_OR_RETURN(const auto ids, JobsToCount(context, options.choice));
  const bool all = !ChoosesJobs(options.choice);
  for (const core::JobId id : ids) {
    auto costs = context.Await(client::CostsOfJob(context.stores.jobs, id, app.Now(), &prices));
    if (!costs.ok() && all && CanLeaveOut(costs.error())) {
      app.Say("job " + core::FormatJobId(id) + " is left out: " + costs.error().ToString());
      continue;
    }
    if (!costs.ok()) return costs.error();
    auto held = view.since ? client::CostsSince(*std::move(costs), *view.since) : *std::move(costs);
    if (all && !held.empty() && held.front().simulated) {
      view.simulated.push_back(id);
    } else {
      view.parts.insert(view.parts.end(), held.begin(), held.end());
    }
  }
  return view;
}

Result<int> RunCost(App& app, const CostOptions& options) {
  JM_TRY(CheckCsv(app, options.csv));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  JM_ASSIGN_OR_RETURN(const Costs view, CountCosts(app, context, options));
  ShowOrCsv(app, view, options.csv);
  return kSuccess;
}

}  // namespace

void AddCost(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<CostOptions>();
  CLI::App* command = root.add_subcommand(
      "cost", "What jobs have cost at list price: the time their slices were held");
  AddJobChoice(*command, {options, &options->choice});
  command->add_option("--by", options->by, "A line for each job, user, day (UTC) or zone")
      ->check(OneOf({"job", "user", "day", "zone"}));
  command
      ->add_option_function<std::string>(
          "--since", [options](const std::string& text) { options->since = text; },
          "Only what was held since then: 24h, or an RFC 3339 time")
      ->type_name("TIME");
  command->add_flag("--csv", options->csv, "Comma-separated values, without the total");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunCost(app, *options); }; });
}

}  // namespace jobman::cli

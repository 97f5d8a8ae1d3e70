#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/csv_option.hpp"
#include "cli/default_spec.hpp"
#include "cli/one_of.hpp"
#include "cli/views/billing.hpp"
#include "cli/whole_number.hpp"
#include "jobman/base/env.hpp"
#include "jobman/client/billing.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using BillingBy = ports::BillingQuestion::By;

constexpr int kDaysAtMost = 400;

struct BillingOptions {
  int days = 7;
  std::string by = "sku";
  std::string table = {};
  std::string project = {};
  bool all = false;
  bool csv = false;
};

BillingBy BilledBy(const std::string& word) {
  if (word == "service") return BillingBy::kService;
  return word == "day" ? BillingBy::kDay : BillingBy::kSku;
}

/// The table that --table or JOBMAN_BILLING_TABLE names.
Result<std::string> BillingTable(const BillingOptions& options) {
  if (!options.table.empty()) return options.table;
  const auto named = base::GetEnv("JOBMAN_BILLING_TABLE");
  if (named && !named->empty()) return *named;
  return base::Error{
      .code = base::Code::kFailedPrecondition,
      .message = "no table with exported billing data is named",
      .hint =
          "have Cloud Billing export to BigQuery (https://cloud.google.com/billing/docs/how-to/"
          "export-data-bigquery-setup), and set JOBMAN_BILLING_TABLE or --table to "
          "project.dataset.gcp_billing_export_v1_..."};
}

/// A part of the rows must not pass for all of them, where no line below says so.
base::Status CheckWhole(const App& app, const BillingOptions& options,
                        const ports::BillingAnswer& answer) {
  const bool silent = options.csv || app.mode() == OutputMode::kQuiet;
  if (!answer.more || !silent) return base::Ok();
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = "there are more rows than the " +
                                std::to_string(answer.rows.size()) + " that were read",
                     .hint = "ask for fewer days (--days), or --by day"};
}

Result<int> RunBilling(App& app, const BillingOptions& options) {
  JM_TRY(CheckCsv(app, options.csv));
  JM_ASSIGN_OR_RETURN(const std::string table, BillingTable(options));
  JM_ASSIGN_OR_RETURN(const core::JobSpec spec, SpecWithProject(app, "billing", options.project));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading(Elsewhere::kIgnore));
  views::Billing view;
  view.question = {.table = table,
                   .runs_in = spec.tpu.project,
                   .project = options.all ? std::string() : spec.tpu.project,
                   .from = client::BeginOfDays(app.Now(), options.days),
                   .by = BilledBy(options.by)};
  JM_ASSIGN_OR_RETURN(view.answer, context.Await(client::AskBilling(
                                       context, {.cloud = spec.cloud, .question = view.question})));
  JM_TRY(CheckWhole(app, options, view.answer));
  ShowOrCsv(app, view, options.csv);
  return kSuccess;
}

}  // namespace

void AddBilling(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<BillingOptions>();
  CLI::App* command = root.add_subcommand(
      "billing", "What Google has billed: by day and SKU, from the export to BigQuery");
  command->add_option("--days", options->days, "The last N days, today included; else 7")
      ->type_name("N")
      ->transform(WholeNumber(1, kDaysAtMost));
  command->add_option("--by", options->by, "A line for each day and SKU, or service, or the day")
      ->check(OneOf({"sku", "service", "day"}));
  command
      ->add_option("--table", options->table,
                   "The exported table, project.dataset.table; else JOBMAN_BILLING_TABLE")
      ->type_name("TABLE");
  command->add_option("--project", options->project, "Of this project, which runs the query")
      ->type_name("PROJECT");
  command->add_flag("-A,--all", options->all, "Of every project of the export");
  command->add_flag("--csv", options->csv, "Comma-separated values, without the total");
  command->callback([options, &chosen] {
    chosen.run = [options](App& app) { return RunBilling(app, *options); };
  });
}

}  // namespace jobman::cli

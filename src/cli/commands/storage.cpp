#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/csv_option.hpp"
#include "cli/default_spec.hpp"
#include "cli/views/storage.hpp"
#include "jobman/client/storage.hpp"

namespace jobman::cli {
namespace {

using base::Result;

struct StorageOptions {
  std::vector<std::string> buckets = {};
  std::string project = {};
  bool csv = false;
};

/// That of the refusal to list buckets, or of the first if all that are named are refused.
int CodeOfStorage(const client::StorageAnswer& answer) {
  if (answer.no_list) return ExitCodeOf(*answer.no_list);
  const bool all = std::all_of(answer.rows.begin(), answer.rows.end(),
                               [](const auto& row) { return row.refused.has_value(); });
  return answer.rows.empty() || !all ? kSuccess : ExitCodeOf(*answer.rows.front().refused);
}

Result<int> RunStorage(App& app, const StorageOptions& options) {
  JM_TRY(CheckCsv(app, options.csv));
  JM_ASSIGN_OR_RETURN(const core::JobSpec spec, SpecWithProject(app, "storage", options.project));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading(Elsewhere::kIgnore));
  views::Storage view{.project = spec.tpu.project};
  view.answer = context.Await(client::AskStorage(
      context, {.cloud = spec.cloud, .project = spec.tpu.project, .buckets = options.buckets}));
  ShowOrCsv(app, view, options.csv);
  return CodeOfStorage(view.answer);
}

}  // namespace

void AddStorage(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<StorageOptions>();
  CLI::App* command = root.add_subcommand(
      "storage", "Buckets: where they are, their storage class, and how much is in them");
  command->add_option("BUCKET", options->buckets, "These buckets; else all of the project");
  command->add_option("--project", options->project, "Ask for this project")->type_name("PROJECT");
  command->add_flag("--csv", options->csv, "Comma-separated values: a line for each bucket");
  command->callback([options, &chosen] {
    chosen.run = [options](App& app) { return RunStorage(app, *options); };
  });
}

}  // namespace jobman::cli

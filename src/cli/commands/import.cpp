#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/job_file.hpp"
#include "cli/views/imported.hpp"
#include "jobman/client/import.hpp"

namespace jobman::cli {
namespace {

struct ImportOptions {
  std::string dir = {};
  bool dry_run = false;
  JobFileOptions sets = {};  ///< --set, --set-file
};

bool IsWhole(const client::Imported& imported) {
  const bool jobs = std::none_of(imported.jobs.begin(), imported.jobs.end(), [](const auto& row) {
    return row.fate == client::ImportFate::kLeft;
  });
  return jobs && std::none_of(imported.queues.begin(), imported.queues.end(),
                              [](const auto& queue) { return queue.left > 0; });
}

base::Result<int> RunImport(App& app, const ImportOptions& options) {
  JM_ASSIGN_OR_RETURN(const client::Context context, options.dry_run
                                                         ? app.OpenForReading(Elsewhere::kIgnore)
                                                         : app.OpenForWriting());
  std::error_code problem;
  client::ImportOrder order{.dir = std::filesystem::absolute(options.dir, problem),
                            .sets = options.sets.sets,
                            .set_files = options.sets.set_files,
                            .dry_run = options.dry_run};
  if (!app.options().endpoint.empty()) order.endpoint = app.options().endpoint;
  JM_ASSIGN_OR_RETURN(const client::Imported imported,
                      context.Await(client::ImportFolder(context, std::move(order))));
  app.Show(views::ImportedFolder{.imported = imported, .dry_run = options.dry_run});
  return IsWhole(imported) ? kSuccess : kJobFailed;
}

}  // namespace

void AddImport(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = root.add_subcommand(
      "import",
      "Take over what Python jobman has in a folder: jobs with their numbers, slices, logs and "
      "tasks. The folder is only read");
  command->add_option("FOLDER", options->dir, "The folder in which Python jobman was run")
      ->required()
      ->type_name("DIR");
  command->add_flag("--dry-run", options->dry_run, "Show what would be taken over; store nothing");
  AddSetOptions(*command, {options, &options->sets});
  command->callback([options, &chosen] {
    chosen.run = [options](App& app) { return RunImport(app, *options); };
  });
}

}  // namespace jobman::cli

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/app.hpp"
#include "jobman/client/create_jobs.hpp"
#include "jobman/config/load.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// --no-preflight. The flag must outlive the command.
void AddPreflightOption(CLI::App& command, bool& no_preflight);
/// What that means for a new job.
client::Preflight PreflightOf(bool no_preflight);

/// Job files that were loaded, each with what the user calls it.
using LoadedFiles = std::vector<std::pair<std::string, config::Loaded>>;

/// Shows the requests of their jobs, as far as they are known without what `preflight` asks; sends
/// and stores nothing.
base::Result<int> ShowDryRun(App& app, const LoadedFiles& files, client::Preflight preflight);
/// How CreateAll() creates jobs.
struct CreateHow {
  bool show = true;  ///< the jobs
  client::Preflight preflight = client::Preflight::kAll;
};
/// Checks all files before the first job is stored, stores the jobs, and wakes the controller.
/// Returns their numbers.
base::Result<std::vector<core::JobId>> CreateAll(App& app, const client::Context& context,
                                                 const LoadedFiles& files, CreateHow how);

}  // namespace jobman::cli

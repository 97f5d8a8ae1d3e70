#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "jobman/config/load.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// Options of commands that read a job file.
struct JobFileOptions {
  std::vector<std::string> sets = {};
  std::vector<std::string> set_files = {};
  std::string name = {};
};
/// --set alone, for jobs that are stored.
void AddSetOptions(CLI::App& command, const std::shared_ptr<JobFileOptions>& options);
void AddJobFileOptions(CLI::App& command, const std::shared_ptr<JobFileOptions>& options);

/// What to load; "-" is standard input.
base::Result<config::LoadRequest> RequestFor(const App& app, const std::string& file,
                                             const JobFileOptions& options);
/// Loads and resolves the job file. All problems are one error, rendered. With `secrets`, every
/// secret must have a value now.
base::Result<config::Loaded> LoadJobFile(App& app, const std::string& file,
                                         const JobFileOptions& options, bool secrets);

/// The same for the file of a stored job: `text`, or, if that is empty, its spec written as a job
/// file.
base::Result<config::Loaded> LoadStoredFile(App& app, const core::Job& job, const std::string& text,
                                            const JobFileOptions& options);

}  // namespace jobman::cli

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "cli/foreign_job.hpp"
#include "jobman/config/load.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// Options of commands that read a job file.
struct JobFileOptions {
  std::vector<std::string> sets = {};
  std::vector<std::string> set_files = {};
  std::vector<std::string> arrays = {};
  std::string name = {};
  std::string act_as = {};  ///< --impersonate-service-account
  FromOptions from = {};
};
/// --set alone, for jobs that are stored.
void AddSetOptions(CLI::App& command, const std::shared_ptr<JobFileOptions>& options);
/// --array alone.
void AddArrayOption(CLI::App& command, const std::shared_ptr<JobFileOptions>& options);
/// Those, --name, --impersonate-service-account, and what takes the place of a job file:
/// --from-gcloud, --from-sky,
/// --from-sbatch; see FilesOf().
void AddJobFileOptions(CLI::App& command, const std::shared_ptr<JobFileOptions>& options);

/// What to load; "-" is standard input. With --from-..., `file` is only what it is called.
base::Result<config::LoadRequest> RequestFor(const App& app, const std::string& file,
                                             const JobFileOptions& options);
/// Loads and resolves all jobs that the request's file makes, at least one. All problems are one
/// error, rendered.
base::Result<std::vector<config::Loaded>> LoadElements(App& app, config::LoadRequest request);
/// Loads and resolves the job file: all jobs that it makes, at least one. All problems are one
/// error, rendered. With `secrets`, every secret must have a value now.
base::Result<std::vector<config::Loaded>> LoadJobFile(App& app, const std::string& file,
                                                      const JobFileOptions& options, bool secrets);
/// The one job of a file that is to take the place of the stored one: of an array, the same
/// element. Every secret must have a value now.
base::Result<config::Loaded> LoadFileFor(App& app, const core::Job& job, const std::string& file,
                                         const JobFileOptions& options);

/// The same for the file of a stored job: `text`, or, if that is empty, its spec written as a job
/// file.
base::Result<config::Loaded> LoadStoredFile(App& app, const core::Job& job, const std::string& text,
                                            const JobFileOptions& options);

/// Whether --set can change the values of the job's element without its file: those that the job
/// has, and that no text of `source`, the file it was created from, refers to. In the stored file
/// such a text has the value in it; on the hosts, the variable of that name gets the new one.
base::Status CheckElementSets(const core::Job& job, const std::string& source,
                              const JobFileOptions& options);

}  // namespace jobman::cli

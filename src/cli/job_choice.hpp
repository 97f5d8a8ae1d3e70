#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "jobman/client/context.hpp"
#include "jobman/client/find_jobs.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// The jobs that a command is for: JOB..., --status and --label. With several of them, those that
/// fit all.
struct JobChoice {
  std::vector<std::string> words = {};  ///< numbers, names, patterns
  std::vector<std::string> statuses = {};
  std::vector<std::string> labels = {};
  std::string for_workers = {};  ///< "cancel" of `worker cancel`: only workers; empty: any job
};
/// Of a subcommand of `worker`, only workers can be chosen.
void AddJobChoice(CLI::App& command, const std::shared_ptr<JobChoice>& choice);

/// The options of AddJobChoice() as a filter of all jobs.
base::Result<ports::JobFilter> ReadFilter(const std::vector<std::string>& statuses,
                                          const std::vector<std::string>& labels);

/// The jobs that are chosen. With --status or --label a name means all its jobs, of which those
/// count that fit. kInvalidArgument if nothing is chosen, or a job is named that is
/// no worker as it must be; kNotFound if nothing fits.
base::Result<std::vector<core::JobId>> Choose(const client::Context& context,
                                              const JobChoice& choice,
                                              client::FindRules rules = {});
/// Those of the jobs `asked` about that are still meant after the user took their time to answer:
/// they fit --status and --label now, and none that was over is to run again. Says of the others
/// that they are left alone.
base::Result<std::vector<core::JobId>> StillMeant(App& app, const client::Context& context,
                                                  const JobChoice& choice,
                                                  const std::vector<core::Job>& asked);
base::Result<std::vector<core::Job>> ReadJobs(const client::Context& context,
                                              const std::vector<core::JobId>& ids);
/// What names these jobs, and no other, to a command: a pattern, or their numbers; "NUMBER..." if
/// they are many. Empty without jobs.
std::string NameAll(const client::Context& context, const std::vector<core::Job>& jobs);

}  // namespace jobman::cli

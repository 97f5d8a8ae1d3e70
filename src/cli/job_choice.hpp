#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "jobman/client/context.hpp"

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
};
void AddJobChoice(CLI::App& command, const std::shared_ptr<JobChoice>& choice);

/// The options of AddJobChoice() as a filter of all jobs.
base::Result<ports::JobFilter> ReadFilter(const std::vector<std::string>& statuses,
                                          const std::vector<std::string>& labels);

/// The words themselves, or, with --status or --label, the numbers of the jobs that fit.
/// kInvalidArgument if nothing is chosen, kNotFound if nothing fits.
base::Result<std::vector<std::string>> Choose(const client::Context& context,
                                              const JobChoice& choice);

}  // namespace jobman::cli

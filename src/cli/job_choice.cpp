#include "cli/job_choice.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/status_words.hpp"
#include "jobman/client/find_jobs.hpp"

namespace jobman::cli {

using base::Result;

void AddJobChoice(CLI::App& command, const std::shared_ptr<JobChoice>& choice) {
  command.add_option("JOB", choice->words, "Numbers, names, or patterns: 'sweep-*'");
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* help,
                       const char* type) {
    command.add_option(name, values, help)
        ->type_name(type)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);  // jobs may follow
  };
  add("-s,--status", choice->statuses, "Those in such a state, or QUEUEING, RUNNING, IDLE, DEAD",
      "STATUS,...");
  add("-l,--label", choice->labels, "Those with this label; repeatable", "KEY=VALUE");
}

Result<ports::JobFilter> ReadFilter(const std::vector<std::string>& statuses,
                                    const std::vector<std::string>& labels) {
  ports::JobFilter filter;
  JM_ASSIGN_OR_RETURN(filter.states, ReadStatusWords("--status", statuses, StatusWords()));
  for (const std::string& label : labels) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0)
      return base::InvalidArgument("--label: \"" + label + "\" is not KEY=VALUE");
    filter.labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  return filter;
}

Result<std::vector<std::string>> Choose(const client::Context& context, const JobChoice& choice) {
  if (choice.statuses.empty() && choice.labels.empty()) {
    if (!choice.words.empty()) return choice.words;
    return base::InvalidArgument("no job is named",
                                 "name one, or choose by --status or --label; jobman list");
  }
  JM_ASSIGN_OR_RETURN(const auto filter, ReadFilter(choice.statuses, choice.labels));
  std::vector<core::JobId> named;
  if (!choice.words.empty()) {
    JM_ASSIGN_OR_RETURN(named, context.Await(client::FindJobs(context.stores.jobs, choice.words)));
  }
  JM_ASSIGN_OR_RETURN(const auto rows, context.Await(context.stores.jobs->List(filter)));
  std::vector<core::JobId> ids;
  for (const ports::JobSummary& row : rows) {
    const bool wanted =
        choice.words.empty() || std::find(named.begin(), named.end(), row.id) != named.end();
    if (wanted) ids.push_back(row.id);
  }
  if (ids.empty()) {
    return base::NotFound("no job fits", "jobman list shows them with their states");
  }
  std::sort(ids.begin(), ids.end());
  std::vector<std::string> numbers;
  for (const core::JobId id : ids) numbers.push_back(core::FormatJobId(id));
  return numbers;
}

}  // namespace jobman::cli

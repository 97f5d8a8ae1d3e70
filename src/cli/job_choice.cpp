#include "cli/job_choice.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "cli/status_words.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/find_jobs.hpp"

namespace jobman::cli {

using base::Result;

void AddJobChoice(CLI::App& command, const std::shared_ptr<JobChoice>& choice) {
  const CLI::App* const parent = command.get_parent();
  if (parent != nullptr && parent->get_name() == "worker") choice->for_workers = command.get_name();
  command.add_option("JOB", choice->words, "Numbers, names, or patterns: 'sweep-*'");
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* help,
                       const char* type) {
    command.add_option(name, values, help)
        ->type_name(type)
        ->delimiter(',')
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);  // jobs may follow
  };
  add("-s,--status", choice->statuses, "Those in such a state, or QUEUEING, RUNNING, IDLE, DEAD",
      "STATUS,...");
  add("-l,--label", choice->labels, "Those with all these labels", "KEY=VALUE,...");
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

namespace {

bool Narrows(const JobChoice& choice) {
  return !choice.statuses.empty() || !choice.labels.empty();
}

bool Has(const std::vector<core::JobId>& ids, core::JobId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// Over, with nothing asked of it since.
bool IsOver(const core::Job& job) {
  return core::IsFinal(job.state) && !job.wish_new;
}

/// How all their names begin.
std::string CommonBegin(const std::vector<core::Job>& jobs) {
  const std::string& name = jobs.front().name;
  std::size_t size = name.size();
  for (const core::Job& job : jobs) {
    while (!job.name.starts_with(std::string_view(name).substr(0, size))) --size;
  }
  const auto within_a_character = [&](std::size_t at) {
    return at < name.size() && (static_cast<unsigned char>(name[at]) & 0xC0U) == 0x80U;
  };
  while (size > 0 && within_a_character(size)) --size;
  return name.substr(0, size);
}

/// "sweep-*" for sweep-0 and sweep-1; nothing if it does not mean these jobs, and no other.
std::optional<std::string> PatternOf(const client::Context& context,
                                     const std::vector<core::Job>& jobs) {
  const std::string common = CommonBegin(jobs);
  if (common.empty() || jobs.size() < 2) return std::nullopt;
  std::string pattern = common + "*";
  const auto found = context.Await(client::FindJobs(context.stores.jobs, {pattern}));
  const bool means_them = found.ok() && found->size() == jobs.size() &&
                          std::all_of(jobs.begin(), jobs.end(),
                                      [&](const core::Job& job) { return Has(*found, job.id); });
  return means_them ? std::optional(std::move(pattern)) : std::nullopt;
}

/// All that fit --status and --label, by number.
Result<std::vector<core::JobId>> Fitting(const client::Context& context, const JobChoice& choice,
                                         bool with_deleted) {
  JM_ASSIGN_OR_RETURN(auto filter, ReadFilter(choice.statuses, choice.labels));
  filter.with_deleted = with_deleted;
  JM_ASSIGN_OR_RETURN(const auto rows, context.Await(context.stores.jobs->List(filter)));
  std::vector<core::JobId> ids;
  for (const ports::JobSummary& row : rows) ids.push_back(row.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

base::Error NoWorker(const core::Job& job, const std::string& command) {
  const std::string id = core::FormatJobId(job.id);
  return base::InvalidArgument("job " + id + " is no worker: it runs a command",
                               "jobman " + command + " " + id);
}

/// A job that is named must be a worker; of those that a pattern, --status or --label means, the
/// workers are chosen.
Result<std::vector<core::JobId>> WorkersAmong(const client::Context& context,
                                              const JobChoice& choice,
                                              const std::vector<core::JobId>& ids) {
  const auto& words = choice.words;
  const bool named = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find_first_of("*?") == std::string::npos;
  });
  std::vector<core::JobId> workers;
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
    if (job.spec.queue) {
      workers.push_back(id);
    } else if (named) {
      return NoWorker(job, choice.for_workers);
    }
  }
  if (!workers.empty()) return workers;
  return base::NotFound("no worker fits", "jobman worker list shows them with their states");
}

Result<std::vector<core::JobId>> ChooseJobs(const client::Context& context, const JobChoice& choice,
                                            client::FindRules rules) {
  const bool narrows = Narrows(choice);
  if (!narrows && choice.words.empty()) {
    return base::InvalidArgument("no job is named",
                                 "name one, or choose by --status or --label; jobman list");
  }
  rules.all_of_name = narrows;
  JM_ASSIGN_OR_RETURN(auto named,
                      context.Await(client::FindJobs(context.stores.jobs, choice.words, rules)));
  if (!narrows) return named;
  JM_ASSIGN_OR_RETURN(auto ids, Fitting(context, choice, rules.with_deleted));
  if (!choice.words.empty()) std::erase_if(ids, [&](core::JobId id) { return !Has(named, id); });
  if (!ids.empty()) return ids;
  return base::NotFound("no job fits", "jobman list shows them with their states");
}

}  // namespace

Result<std::vector<core::JobId>> Choose(const client::Context& context, const JobChoice& choice,
                                        client::FindRules rules) {
  JM_ASSIGN_OR_RETURN(auto ids, ChooseJobs(context, choice, rules));
  if (choice.for_workers.empty()) return ids;
  return WorkersAmong(context, choice, ids);
}

Result<std::vector<core::JobId>> StillMeant(App& app, const client::Context& context,
                                            const JobChoice& choice,
                                            const std::vector<core::Job>& asked) {
  JM_ASSIGN_OR_RETURN(const auto fitting, Fitting(context, choice, true));
  std::vector<core::JobId> meant;
  for (const core::Job& job : asked) {
    const auto now = context.Await(context.stores.jobs->Get(job.id));
    const bool came_back = IsOver(job) && now.ok() && !IsOver(*now);
    if (Has(fitting, job.id) && !came_back) {
      meant.push_back(job.id);
    } else {
      app.Say("job " + core::FormatJobId(job.id) + " has changed meanwhile; it is left alone");
    }
  }
  return meant;
}

Result<std::vector<core::Job>> ReadJobs(const client::Context& context,
                                        const std::vector<core::JobId>& ids) {
  std::vector<core::Job> jobs;
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(core::Job job, context.Await(context.stores.jobs->Get(id)));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::string NameAll(const client::Context& context, const std::vector<core::Job>& jobs) {
  constexpr std::size_t kMostNumbers = 4;
  if (jobs.empty()) return {};
  if (const auto pattern = PatternOf(context, jobs)) return base::ShellQuote(*pattern);
  if (jobs.size() > kMostNumbers) return "NUMBER...";
  std::vector<std::string> numbers;
  for (const core::Job& job : jobs) numbers.push_back(core::FormatJobId(job.id));
  return base::Join(numbers, " ");
}

}  // namespace jobman::cli

#include "jobman/client/find_jobs.hpp"

#include <algorithm>
#include <utility>

#include "jobman/base/clean.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ports/records.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Task;
using core::JobId;

std::string NearHint(const std::string& word, const std::vector<ports::JobSummary>& jobs) {
  const std::string others =
      jobs.empty() ? "there are no jobs yet" : "jobman list --all shows every job";
  // Who gives a number means no name that has its digits.
  if (base::ParseNumber(word)) return others;
  std::vector<std::string> names;
  for (const auto& job : jobs)
    if (std::find(names.begin(), names.end(), job.name) == names.end()) names.push_back(job.name);
  if (const auto near = base::Nearest(word, names))
    return "did you mean \"" + base::CleanLine(*near) + "\"?";
  std::vector<std::string> longer;
  for (const std::string& name : names)
    if (longer.size() < 5 && base::Contains(name, word))
      longer.push_back("\"" + base::CleanLine(name) + "\"");
  if (!longer.empty()) return "did you mean " + base::Join(longer, ", ") + "?";
  return others;
}

/// Shells know more patterns than these.
bool HasOtherPattern(const std::string& word) {
  return word.find_first_of("[{") != std::string::npos;
}

constexpr const char* kPatternHint =
    "in a pattern only * and ? stand for other characters; name several jobs one after another";

Task<Result<JobId>> Unknown(ports::JobStore* jobs, std::string word, std::string what) {
  const ports::JobFilter all{.with_deleted = true};
  JM_CO_ASSIGN_OR_RETURN(const auto known, co_await jobs->List(all));
  const std::string hint = HasOtherPattern(word) ? kPatternHint : NearHint(word, known);
  co_return base::NotFound("there is no job " + what, hint);
}

bool IsPattern(const std::string& word) {
  return word.find_first_of("*?") != std::string::npos;
}

bool IsDeleted(const core::Job& job) {
  const auto* done = std::get_if<core::Done>(&job.state);
  return done != nullptr && done->outcome == core::Outcome::kDeleted && !job.wish_new;
}

bool IsNumberOf(JobId id, const std::string& word) {
  const auto number = base::ParseNumber(word);
  return number && JobId{*number} == id;
}

/// Whether a name means the job before those that are deleted. One that cannot be read counts:
/// whatever uses it reports the error.
Task<bool> IsStillThere(ports::JobStore* jobs, JobId id) {
  const auto job = co_await jobs->Get(id);
  if (!job.ok()) co_return job.error().code != base::Code::kNotFound;
  co_return !IsDeleted(*job);
}

/// The newest job that is not deleted; the newest if all are. Newest first, and at least one.
Task<JobId> NewestOf(ports::JobStore* jobs, std::vector<JobId> named) {
  for (const JobId id : named) {
    const bool meant = co_await IsStillThere(jobs, id);
    if (meant) co_return id;
  }
  co_return named.front();
}

/// Fails if `word` is a name that several jobs have which are not deleted.
Task<base::Status> MustBeOnlyOne(ports::JobStore* jobs, std::string word, JobId meant) {
  if (IsNumberOf(meant, word)) co_return base::Ok();
  JM_CO_ASSIGN_OR_RETURN(std::vector<JobId> named, co_await jobs->FindByName(word));
  std::sort(named.begin(), named.end());
  std::vector<std::string> numbers;
  for (const JobId id : named) {
    const bool counts = co_await IsStillThere(jobs, id);
    if (counts) numbers.push_back(core::FormatJobId(id));
  }
  if (numbers.size() < 2) co_return base::Ok();
  co_return base::InvalidArgument(
      "several jobs are named \"" + word + "\": " + base::Join(numbers, ", "),
      "use the number; jobman list --name " + word + " shows them");
}

}  // namespace

Task<Result<JobId>> FindJob(ports::JobStore* jobs, std::string word) {
  const auto number = base::ParseNumber(word);
  if (number) {
    const auto job = co_await jobs->Get(JobId{*number});
    // A job that cannot be read counts as found: whatever uses it reports the error.
    if (job.ok() || ports::IsUnusable(job.error())) co_return JobId{*number};
    if (job.error().code != base::Code::kNotFound) co_return job.error();
  }
  JM_CO_ASSIGN_OR_RETURN(std::vector<JobId> named, co_await jobs->FindByName(word));
  if (!named.empty()) {
    std::sort(named.rbegin(), named.rend());
    const JobId newest = co_await NewestOf(jobs, std::move(named));
    co_return newest;
  }
  if (IsPattern(word)) {
    co_return base::InvalidArgument(
        "\"" + word + "\" is a pattern, and this is for one job",
        "jobman list " + base::ShellQuote(word) + " shows which there are");
  }
  const std::string what = number ? core::FormatJobId(JobId{*number}) : "named \"" + word + "\"";
  co_return co_await Unknown(jobs, word, what);
}

namespace {

/// By number.
Task<Result<std::vector<JobId>>> FindMatches(ports::JobStore* jobs, std::string pattern,
                                             bool with_deleted) {
  const ports::JobFilter matching{.name_glob = pattern, .with_deleted = with_deleted};
  JM_CO_ASSIGN_OR_RETURN(const auto rows, co_await jobs->List(matching));
  std::vector<JobId> ids;
  for (const ports::JobSummary& row : rows) ids.push_back(row.id);
  std::sort(ids.begin(), ids.end());
  if (ids.empty()) {
    const bool other = HasOtherPattern(pattern);
    co_return base::NotFound("no job's name matches \"" + pattern + "\"",
                             other ? kPatternHint : "jobman list --all shows every job");
  }
  co_return ids;
}

/// The jobs of a word, by number.
Task<Result<std::vector<JobId>>> FindWord(ports::JobStore* jobs, std::string word,
                                          FindRules rules) {
  JM_CO_ASSIGN_OR_RETURN(std::vector<JobId> named, co_await jobs->FindByName(word));
  if (IsPattern(word) && named.empty()) {
    co_return co_await FindMatches(jobs, word, rules.with_deleted);
  }
  JM_CO_ASSIGN_OR_RETURN(const JobId id, co_await FindJob(jobs, word));
  if (rules.removes && !IsPattern(word)) {
    JM_CO_TRY(co_await MustBeOnlyOne(jobs, word, id));
  }
  if (!rules.all_of_name || IsNumberOf(id, word)) named = {id};
  std::sort(named.begin(), named.end());
  co_return named;
}

}  // namespace

Task<Result<std::vector<JobId>>> FindJobs(ports::JobStore* jobs, std::vector<std::string> words,
                                          FindRules rules) {
  std::vector<JobId> ids;
  for (const std::string& word : words) {
    JM_CO_ASSIGN_OR_RETURN(const auto found, co_await FindWord(jobs, word, rules));
    for (const JobId id : found) {
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
  }
  co_return ids;
}

}  // namespace jobman::client

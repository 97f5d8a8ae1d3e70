#include "cli/job_ref.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using core::JobId;

std::string NearHint(const std::string& word, const std::vector<ports::JobSummary>& jobs) {
  std::vector<std::string> names;
  for (const auto& job : jobs)
    if (std::find(names.begin(), names.end(), job.name) == names.end()) names.push_back(job.name);
  if (const auto near = base::Nearest(word, names)) return "did you mean \"" + *near + "\"?";
  std::vector<std::string> longer;
  for (const std::string& name : names)
    if (longer.size() < 5 && base::Contains(name, word)) longer.push_back("\"" + name + "\"");
  if (!longer.empty()) return "did you mean " + base::Join(longer, ", ") + "?";
  return jobs.empty() ? "there are no jobs yet" : "jobman list --all shows every job";
}

Result<JobId> Unknown(ports::Store& store, const std::string& word, const std::string& what) {
  JM_ASSIGN_OR_RETURN(const auto jobs, store.List({.with_deleted = true}));
  return base::NotFound("there is no job " + what, NearHint(word, jobs));
}

bool IsDeleted(const core::Job& job) {
  const auto* done = std::get_if<core::Done>(&job.state);
  return done != nullptr && done->outcome == core::Outcome::kDeleted && !job.wish_new;
}

/// Whether another job of the meant one's name still exists, too.
base::Status MustBeOnlyOne(ports::Store& store, const std::string& word, JobId meant) {
  const auto number = base::ParseNumber(word);
  if (number && JobId{*number} == meant) return base::Ok();
  JM_ASSIGN_OR_RETURN(std::vector<JobId> named, store.FindByName(word));
  std::sort(named.begin(), named.end());
  std::vector<std::string> numbers;
  for (const JobId id : named) {
    JM_ASSIGN_OR_RETURN(const core::Job other, store.Get(id));
    if (id == meant || !IsDeleted(other)) numbers.push_back(core::FormatJobId(id));
  }
  if (numbers.size() < 2) return base::Ok();
  return base::InvalidArgument(
      "several jobs are named \"" + word + "\": " + base::Join(numbers, ", "),
      "use the number; jobman list --name " + word + " shows them");
}

}  // namespace

Result<JobId> FindJob(ports::Store& store, const std::string& word) {
  const auto number = base::ParseNumber(word);
  if (number) {
    const auto job = store.Get(JobId{*number});
    if (job.ok()) return JobId{*number};
    if (job.error().code != base::Code::kNotFound) return job.error();
  }
  JM_ASSIGN_OR_RETURN(const std::vector<JobId> named, store.FindByName(word));
  if (!named.empty()) return *std::max_element(named.begin(), named.end());
  return Unknown(store, word,
                 number ? core::FormatJobId(JobId{*number}) : "named \"" + word + "\"");
}

Result<std::vector<JobId>> FindJobs(ports::Store& store, const std::vector<std::string>& words) {
  std::vector<JobId> ids;
  for (const std::string& word : words) {
    JM_ASSIGN_OR_RETURN(const JobId id, FindJob(store, word));
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

Result<std::vector<JobId>> FindJobsToRemove(ports::Store& store,
                                            const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    JM_ASSIGN_OR_RETURN(const JobId id, FindJob(store, word));
    JM_TRY(MustBeOnlyOne(store, word, id));
  }
  return FindJobs(store, words);
}

}  // namespace jobman::cli

#include "jobman/client/job_hosts.hpp"

#include <fmt/format.h>

#include <variant>

#include "jobman/client/wait_for_jobs.hpp"

namespace jobman::client {

bool HasHosts(const core::Job& job) {
  return job.slice && !job.slice->hosts.empty() && job.slice->phase != core::SlicePhase::kDeleting;
}

std::optional<std::string> WhyOver(const core::Job& job) {
  if (!AtRest(job) || HasHosts(job)) return std::nullopt;
  const std::string id = core::FormatJobId(job.id);
  const auto* done = std::get_if<core::Done>(&job.state);
  if (done != nullptr && done->outcome == core::Outcome::kDeleted)
    return "job " + id + " is deleted";
  return fmt::format("job {} is over ({}) and has no hosts any more", id,
                     core::StateName(job.state));
}

std::string WaitsFor(const core::Job& job) {
  std::string text = fmt::format("job {} has no hosts now ({})", core::FormatJobId(job.id),
                                 core::StateName(job.state));
  return job.why.empty() ? text : text + ": " + job.why;
}

}  // namespace jobman::client

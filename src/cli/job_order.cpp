#include "cli/job_order.hpp"

#include <algorithm>

namespace jobman::cli {

void SortJobs(std::vector<ports::JobSummary>& jobs, const std::string& key) {
  using Job = ports::JobSummary;
  const auto by_id = [](const Job& a, const Job& b) { return a.id < b.id; };
  // The store lists them so, and a row is long: it is not to be moved without need.
  if (!std::is_sorted(jobs.begin(), jobs.end(), by_id)) std::sort(jobs.begin(), jobs.end(), by_id);
  const auto by = [&](auto member) {
    std::stable_sort(jobs.begin(), jobs.end(),
                     [member](const Job& a, const Job& b) { return a.*member < b.*member; });
  };
  if (key == "name") by(&Job::name);
  if (key == "status") by(&Job::state);
  if (key == "since") by(&Job::since);
  if (key == "zone") by(&Job::zone);
  if (key == "user") by(&Job::user);
}

bool HasEnded(const ports::JobSummary& job) {
  // A worker that waits for a task is IDLE, too, and is not over.
  const bool waits = job.state == core::StateName(core::JobState(core::Idle{}));
  return !waits && (job.familiar == "IDLE" || job.familiar == "DEAD");
}

std::vector<const ports::JobSummary*> CurrentFirst(const std::vector<ports::JobSummary>& jobs) {
  using Job = ports::JobSummary;
  std::vector<const Job*> order;
  for (const Job& job : jobs) order.push_back(&job);
  const auto over = std::stable_partition(order.begin(), order.end(),
                                          [](const Job* job) { return !HasEnded(*job); });
  std::stable_sort(over, order.end(),
                   [](const Job* a, const Job* b) { return a->since > b->since; });
  return order;
}

}  // namespace jobman::cli

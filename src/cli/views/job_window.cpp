#include "cli/views/job_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "cli/job_order.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli::views {
namespace {

using Rows = std::vector<const ports::JobSummary*>;

/// "and 22 more: 2 waiting, 20 over; without --watch all are shown"
std::string RestText(const Rows& rest) {
  std::map<std::string, int> counts;
  for (const ports::JobSummary* const job : rest) ++counts[HasEnded(*job) ? "OVER" : job->familiar];
  std::vector<std::string> parts;
  const auto add = [&](const std::string& group, const char* word) {
    if (counts[group] > 0) parts.push_back(fmt::format("{} {}", counts[group], word));
  };
  add("RUNNING", "running");
  add("QUEUEING", "waiting");
  add("OVER", "over");
  return fmt::format("and {} more: {}; without --watch all are shown", rest.size(),
                     base::Join(parts, ", "));
}

}  // namespace

JobWindow WindowOf(const std::vector<ports::JobSummary>& jobs, int room, int lines) {
  JobWindow window;
  if (std::ssize(jobs) <= std::max(1, room / lines)) {
    for (const ports::JobSummary& job : jobs) window.rows.push_back(&job);
    return window;
  }
  window.rows = CurrentFirst(jobs);
  const auto first_left_out = window.rows.begin() + std::max(1, (room - 1) / lines);
  window.rest = RestText({first_left_out, window.rows.end()});
  window.rows.erase(first_left_out, window.rows.end());
  return window;
}

}  // namespace jobman::cli::views

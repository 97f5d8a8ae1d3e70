#include "cli/wait_for_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/background.hpp"
#include "cli/narrator.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli {
namespace {

constexpr base::Duration kLookAtJobs = std::chrono::milliseconds{50};

/// "job 000042", "jobs 000042, 000043".
std::string NameJobs(const std::vector<core::JobId>& ids) {
  std::vector<std::string> numbers;
  for (const core::JobId id : ids) numbers.push_back(core::FormatJobId(id));
  return (ids.size() == 1 ? "job " : "jobs ") + base::Join(numbers, ", ");
}

std::string WhyHint(const std::vector<core::JobId>& busy) {
  return "jobman why " + core::FormatJobId(busy.front()) + " tells what it waits for";
}

base::Error Interrupted(const std::vector<core::JobId>& busy) {
  return {.code = base::Code::kCancelled,
          .message = "interrupted; what was asked of " + NameJobs(busy) + " goes on",
          .hint = WhyHint(busy)};
}

base::Error TooLate(const std::vector<core::JobId>& busy, const WaitFor& wait) {
  return {.code = base::Code::kDeadlineExceeded,
          .message = fmt::format("waited {} for {} {}", base::FormatDuration(*wait.timeout),
                                 NameJobs(busy), wait.goal),
          .hint = WhyHint(busy)};
}

/// Whether the jobs are to be read again: somebody wrote, or a second has passed. To look at them
/// at each turn would cost, all night, the more the more jobs are waited for.
class NewsOf {
 public:
  NewsOf(App& app, ports::JobStore& jobs) : app_(app), jobs_(jobs) {}
  bool Any() {
    const auto changes = app_.Await(jobs_.ChangeCounter());
    const bool same = changes.ok() && *changes == changes_;
    if (same && app_.Now() - read_at_ < std::chrono::seconds{1}) return false;
    if (changes.ok()) changes_ = *changes;
    read_at_ = app_.Now();
    return true;
  }

 private:
  App& app_;
  ports::JobStore& jobs_;
  std::int64_t changes_ = -1;
  base::TimePoint read_at_ = {};
};

using Settled = std::map<core::JobId, core::Job>;

/// Reads the jobs: those that are there go to `settled`, the others are returned.
base::Result<std::vector<core::JobId>> StillBusy(App& app, const std::vector<core::JobId>& busy,
                                                 ports::JobStore& jobs, const WaitFor& wait,
                                                 Narrator& narrator, Settled& settled) {
  std::vector<core::JobId> left;
  for (const core::JobId id : busy) {
    JM_ASSIGN_OR_RETURN(core::Job job, app.Await(jobs.Get(id)));
    narrator.Tell(job);
    JM_ASSIGN_OR_RETURN(const bool done, wait.settled(job));
    if (done)
      settled[id] = std::move(job);
    else
      left.push_back(id);
  }
  return left;
}

}  // namespace

bool AtRest(const core::Job& job) {
  const bool leaving = job.slice && job.slice->phase != core::SlicePhase::kCreated;
  return core::IsFinal(job.state) && !job.wish_new && !leaving;
}

base::Result<std::vector<core::Job>> WaitForJobs(App& app, const ports::Stores& stores,
                                                 const std::vector<core::JobId>& ids,
                                                 const WaitFor& wait) {
  const base::TimePoint began = app.Now();
  std::optional<base::TimePoint> looked;
  Narrator narrator(app, ids.size() > 1);
  Settled settled;
  NewsOf news(app, *stores.jobs);
  for (std::vector<core::JobId> busy = ids;;) {
    if (news.Any()) {
      JM_ASSIGN_OR_RETURN(busy, StillBusy(app, busy, *stores.jobs, wait, narrator, settled));
    }
    if (busy.empty()) break;
    if (wait.timeout && app.Now() - began >= *wait.timeout) return TooLate(busy, wait);
    if (!looked || app.Now() - *looked > kLookAtController) {
      JM_TRY(EnsureController(app, *stores.leases));  // it may have been killed
      looked = app.Now();
    }
    if (!app.Wait(kLookAtJobs)) return Interrupted(busy);
  }
  std::vector<core::Job> jobs;
  for (const core::JobId id : ids) jobs.push_back(settled[id]);
  return jobs;
}

}  // namespace jobman::cli

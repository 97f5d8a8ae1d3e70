#include "jobman/client/wait_for_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "jobman/base/strings.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {
namespace {

/// "job 000042", "jobs 000042, 000043".
std::string NameJobs(const std::vector<core::JobId>& ids) {
  std::vector<std::string> numbers;
  for (const core::JobId id : ids) numbers.push_back(core::FormatJobId(id));
  return (ids.size() == 1 ? "job " : "jobs ") + base::Join(numbers, ", ");
}

std::string WhyHint(const std::vector<core::JobId>& busy) {
  return "jobman why " + core::FormatJobId(busy.front()) + " shows what it waits for";
}

/// What the jobs do without anybody waiting. They were mostly asked for the same.
std::string WhatGoesOn(const Context& context, const std::vector<core::JobId>& busy) {
  const auto job = context.Await(context.stores.jobs->Get(busy.front()));
  const auto wish = job.ok() ? job->wish : core::Wish::kRun;
  const std::string are = busy.size() == 1 ? " is" : " are";
  if (wish == core::Wish::kDelete) return are + " still being deleted";
  if (wish == core::Wish::kCancel) return are + " still being cancelled";
  return busy.size() == 1 ? " goes on" : " go on";
}

base::Error Interrupted(const Context& context, const std::vector<core::JobId>& busy) {
  return {.code = base::Code::kCancelled,
          .message = "the wait was interrupted; " + NameJobs(busy) + WhatGoesOn(context, busy),
          .hint = WhyHint(busy)};
}

base::Error TooLate(const std::vector<core::JobId>& busy, const WaitFor& wait) {
  return {.code = base::Code::kDeadlineExceeded,
          .message = fmt::format("waited {} for {} {}", base::FormatDuration(*wait.timeout),
                                 NameJobs(busy), wait.goal),
          .hint = WhyHint(busy)};
}

base::Error IsSetAside(core::JobId id, const std::string& why) {
  return {.code = base::Code::kFailedPrecondition,
          .message = "job " + core::FormatJobId(id) + ": " + why,
          .hint = WhyHint({id})};
}

/// Whether to read the jobs again: the store has changed, or a second has passed. Reading them at
/// every poll would be expensive in a long wait for many jobs.
class NewsOf {
 public:
  explicit NewsOf(const Context& context) : context_(context) {}
  bool Any() {
    const auto changes = context_.Await(context_.stores.jobs->ChangeCounter());
    const bool same = changes.ok() && *changes == changes_;
    if (same && context_.Now() - read_at_ < kReadJobsAgain) return false;
    if (changes.ok()) changes_ = *changes;
    read_at_ = context_.Now();
    return true;
  }

 private:
  const Context& context_;
  std::int64_t changes_ = -1;
  base::TimePoint read_at_ = {};
};

using Settled = std::map<core::JobId, core::Job>;

/// Reads the jobs; moves the settled ones to `settled` and returns the others.
base::Result<std::vector<core::JobId>> StillBusy(const Context& context,
                                                 const std::vector<core::JobId>& busy,
                                                 const WaitFor& wait, Settled& settled) {
  std::vector<core::JobId> left;
  for (const core::JobId id : busy) {
    JM_ASSIGN_OR_RETURN(core::Job job, context.Await(context.stores.jobs->Get(id)));
    JM_ASSIGN_OR_RETURN(const bool done, wait.settled(job));
    if (done) {
      settled[id] = std::move(job);
      continue;
    }
    JM_ASSIGN_OR_RETURN(const auto aside, context.Await(context.stores.jobs->WhySetAside(id)));
    if (aside) return IsSetAside(id, *aside);
    left.push_back(id);
  }
  return left;
}

}  // namespace

bool AtRest(const core::Job& job) {
  const bool leaving = job.slice && job.slice->phase != core::SlicePhase::kCreated;
  return core::IsFinal(job.state) && !job.wish_new && !leaving;
}

base::Result<std::vector<core::Job>> WaitForJobs(const Context& context,
                                                 const std::vector<core::JobId>& ids,
                                                 const WaitFor& wait) {
  const base::TimePoint began = context.Now();
  std::optional<base::TimePoint> looked;
  Settled settled;
  NewsOf news(context);
  for (std::vector<core::JobId> busy = ids;;) {
    if (news.Any()) {
      JM_ASSIGN_OR_RETURN(busy, StillBusy(context, busy, wait, settled));
    }
    if (busy.empty()) break;
    if (wait.timeout && context.Now() - began >= *wait.timeout) return TooLate(busy, wait);
    if (!looked || context.Now() - *looked > kLookAtController) {
      JM_TRY(context.Await(EnsureController(context)));  // it may have been killed
      looked = context.Now();
    }
    if (!context.pause(kLookAtJobs)) return Interrupted(context, busy);
  }
  std::vector<core::Job> jobs;
  for (const core::JobId id : ids) jobs.push_back(settled[id]);
  return jobs;
}

}  // namespace jobman::client

#include "jobman/client/set_wishes.hpp"

#include "jobman/base/env.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/wait_for_jobs.hpp"

namespace jobman::client {
namespace {

/// Whether it is on its way and nothing was asked that would end that.
bool RunsAlready(const core::Job& job) {
  const bool stops = std::holds_alternative<core::Cancelling>(job.state) ||
                     std::holds_alternative<core::Deleting>(job.state);
  return !core::IsFinal(job.state) && !stops && job.wish == core::Wish::kRun;
}

/// Whether the job already is as wished: a finished job need not be cancelled.
bool IsTrueAlready(const core::Job& job, core::Wish wish) {
  if (wish == core::Wish::kRun) return RunsAlready(job);
  const auto* done = std::get_if<core::Done>(&job.state);
  if (done == nullptr || !AtRest(job)) return false;
  if (wish == core::Wish::kCancel) return true;
  return wish == core::Wish::kDelete && done->outcome == core::Outcome::kDeleted;
}

/// Of a worker that is cancelled for the first time: the task that it ends before. Of the record
/// as it was before the wish, which the controller may carry out at once.
std::string EndsFirst(const core::Job& job, core::Wish wish) {
  const bool at_work = std::holds_alternative<core::Running>(job.state) && job.stage &&
                       job.stage->task && !job.stage->stop && !job.stage->task->last;
  return wish == core::Wish::kCancel && at_work ? job.stage->task->definition.id : "";
}

/// New machines need the setup steps.
base::Status CheckMaySkip(const core::Job& job) {
  if (job.slice && core::IsHeld(*job.slice)) return base::Ok();
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = "job " + core::FormatJobId(job.id) +
                                " holds no slice, and on a new one its command needs the setup "
                                "steps",
                     .hint = "leave out --cmd-only"};
}

base::Task<base::Result<std::vector<core::Job>>> ReadJobs(ports::JobStore* jobs, WishOrder order) {
  const FindRules rules{.removes = order.wish == core::Wish::kDelete};
  JM_CO_ASSIGN_OR_RETURN(const auto ids, co_await FindJobs(jobs, order.jobs, rules));
  std::vector<core::Job> found;
  for (const core::JobId id : ids) {
    JM_CO_ASSIGN_OR_RETURN(core::Job job, co_await jobs->Get(id));
    if (order.setup == core::SetupWish::kSkip) {
      JM_CO_TRY(CheckMaySkip(job));
    }
    found.push_back(std::move(job));
  }
  co_return found;
}

}  // namespace

bool RunsAgain(core::Wish wish) {
  return wish == core::Wish::kRun || wish == core::Wish::kReboot || wish == core::Wish::kRequeue;
}

std::map<std::string, std::string> SecretValues(const core::JobSpec& spec) {
  std::map<std::string, std::string> values;
  for (const core::SecretRef& secret : spec.command.secrets) {
    if (!secret.file.empty()) continue;
    if (const auto value = base::GetEnv(secret.name)) values[secret.name] = *value;
  }
  return values;
}

base::Task<base::Result<std::vector<Wished>>> SetWishes(Context context, WishOrder order) {
  ports::JobStore& jobs = *context.stores.jobs;
  JM_CO_ASSIGN_OR_RETURN(const auto found, co_await ReadJobs(&jobs, order));
  controller::Nudge nudge;
  std::vector<Wished> wished;
  for (const core::Job& job : found) {
    // The controller keeps the values of secrets that this process does not have.
    auto secrets =
        RunsAgain(order.wish) ? SecretValues(job.spec) : std::map<std::string, std::string>{};
    if (!secrets.empty()) nudge.secrets[job.id.value] = std::move(secrets);
    wished.push_back({.job = job.id,
                      .true_already = IsTrueAlready(job, order.wish),
                      .ends_first = EndsFirst(job, order.wish)});
    JM_CO_TRY(co_await jobs.SetWish(job.id, order.wish, order.setup, context.Now()));
  }
  JM_CO_TRY(co_await WakeController(context, std::move(nudge)));
  co_return wished;
}

}  // namespace jobman::client

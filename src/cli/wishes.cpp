#include "cli/wishes.hpp"

#include <algorithm>

#include "cli/background.hpp"
#include "cli/follow_job.hpp"
#include "cli/job_file.hpp"
#include "cli/job_ref.hpp"
#include "cli/views/wished.hpp"
#include "cli/wait_for_jobs.hpp"

namespace jobman::cli {
namespace {

bool RunsAgain(core::Wish wish) {
  return wish == core::Wish::kRun || wish == core::Wish::kReboot || wish == core::Wish::kRequeue;
}

/// Whether there is nothing to do for the wish: what is over need not be stopped.
bool IsTrueAlready(const core::Job& job, core::Wish wish) {
  const auto* done = std::get_if<core::Done>(&job.state);
  if (done == nullptr || !AtRest(job)) return false;
  if (wish == core::Wish::kCancel) return true;
  return wish == core::Wish::kDelete && done->outcome == core::Outcome::kDeleted;
}

/// The values that this shell has for what the jobs' secrets name; where it has none, those that
/// the controller knows go on.
base::Result<controller::Nudge> SecretsOf(App& app, const ports::Stores& stores,
                                          const std::vector<core::JobId>& ids) {
  controller::Nudge nudge;
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(const core::Job job, app.Await(stores.jobs->Get(id)));
    auto values = SecretValues(job.spec);
    if (!values.empty()) nudge.secrets[id.value] = std::move(values);
  }
  return nudge;
}

}  // namespace

base::Status WaitUntilAtRest(App& app, const ports::Stores& stores,
                             const std::vector<core::JobId>& ids) {
  const WaitFor wait{
      .settled = [](const core::Job& job) -> base::Result<bool> { return AtRest(job); }};
  JM_TRY(WaitForJobs(app, stores, ids, wait));
  return base::Ok();
}

base::Result<int> MakeWish(App& app, const WishOrder& order) {
  JM_ASSIGN_OR_RETURN(const ports::Stores stores, app.StoresForWriting());
  const bool removes = order.wish == core::Wish::kDelete;
  JM_ASSIGN_OR_RETURN(const auto ids, app.Await(removes ? FindJobsToRemove(stores.jobs, order.jobs)
                                                        : FindJobs(stores.jobs, order.jobs)));
  controller::Nudge nudge;
  if (RunsAgain(order.wish)) {
    JM_ASSIGN_OR_RETURN(nudge, SecretsOf(app, stores, ids));
  }
  std::vector<bool> true_already;
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(const core::Job before, app.Await(stores.jobs->Get(id)));
    true_already.push_back(IsTrueAlready(before, order.wish));
    JM_TRY(app.Await(stores.jobs->SetWish(id, order.wish, order.redo_setup, app.Now())));
  }
  JM_TRY(WakeController(app, *stores.leases, nudge));
  if (order.wait) JM_TRY(WaitUntilAtRest(app, stores, ids));
  views::Wished view{.said = order.said};
  int worst = kSuccess;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const core::JobId id = ids[i];
    JM_ASSIGN_OR_RETURN(const core::Job job, app.Await(stores.jobs->Get(id)));
    view.rows.push_back({.id = id,
                         .name = job.name,
                         .state = std::string(core::StateName(job.state)),
                         .settled = order.wait || true_already[i],
                         .why = job.why});
    if (order.wait && RunsAgain(order.wish)) worst = std::max(worst, ExitCodeOfJob(job));
  }
  app.Show(view);
  return worst;
}

}  // namespace jobman::cli

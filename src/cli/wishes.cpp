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
base::Result<controller::Nudge> SecretsOf(ports::Store& store,
                                          const std::vector<core::JobId>& ids) {
  controller::Nudge nudge;
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(const core::Job job, store.Get(id));
    auto values = SecretValues(job.spec);
    if (!values.empty()) nudge.secrets[id.value] = std::move(values);
  }
  return nudge;
}

}  // namespace

base::Status WaitUntilAtRest(App& app, ports::Store& store, const std::vector<core::JobId>& ids) {
  const WaitFor wait{
      .settled = [](const core::Job& job) -> base::Result<bool> { return AtRest(job); }};
  JM_TRY(WaitForJobs(app, store, ids, wait));
  return base::Ok();
}

base::Result<int> MakeWish(App& app, const WishOrder& order) {
  JM_ASSIGN_OR_RETURN(ports::Store* const store, app.StoreForWriting());
  JM_ASSIGN_OR_RETURN(const auto ids, order.wish == core::Wish::kDelete
                                          ? FindJobsToRemove(*store, order.jobs)
                                          : FindJobs(*store, order.jobs));
  controller::Nudge nudge;
  if (RunsAgain(order.wish)) {
    JM_ASSIGN_OR_RETURN(nudge, SecretsOf(*store, ids));
  }
  std::vector<bool> true_already;
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(const core::Job before, store->Get(id));
    true_already.push_back(IsTrueAlready(before, order.wish));
    JM_TRY(store->SetWish(id, order.wish, order.redo_setup, app.Now()));
  }
  JM_TRY(WakeController(app, *store, nudge));
  if (order.wait) JM_TRY(WaitUntilAtRest(app, *store, ids));
  views::Wished view{.said = order.said};
  int worst = kSuccess;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const core::JobId id = ids[i];
    JM_ASSIGN_OR_RETURN(const core::Job job, store->Get(id));
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

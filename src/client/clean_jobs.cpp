#include "jobman/client/clean_jobs.hpp"

#include "jobman/base/files.hpp"
#include "jobman/client/background_controller.hpp"

namespace jobman::client {
namespace {

base::Task<base::Result<core::Job>> EraseOne(Context context, core::JobId id) {
  ports::JobStore& store = *context.stores.jobs;
  JM_CO_ASSIGN_OR_RETURN(core::Job job, co_await store.Get(id));
  const ports::JobVersion seen{.id = id, .version = job.version};
  JM_CO_TRY(co_await store.Erase(seen));
  JM_CO_TRY(base::RemoveAll(context.paths.JobDir(id.value)));
  co_return job;
}

}  // namespace

base::Task<base::Result<std::vector<core::JobId>>> DeleteSlices(
    Context context, std::vector<core::JobId> ids, std::function<void(core::JobId)> on_delete) {
  ports::JobStore& jobs = *context.stores.jobs;
  std::vector<core::JobId> held;
  for (const core::JobId id : ids) {
    JM_CO_ASSIGN_OR_RETURN(const core::Job job, co_await jobs.Get(id));
    if (!core::NeedsCare(job)) continue;
    JM_CO_TRY(
        co_await jobs.SetWish(id, core::Wish::kDelete, core::SetupWish::kAsNeeded, context.Now()));
    on_delete(id);
    held.push_back(id);
  }
  controller::Nudge nudge;
  if (!held.empty()) JM_CO_TRY(co_await WakeController(context, std::move(nudge)));
  co_return held;
}

base::Task<Erased> EraseJobs(Context context, std::vector<core::JobId> ids) {
  Erased all;
  for (const core::JobId id : ids) {
    auto erased = co_await EraseOne(context, id);
    if (erased.ok())
      all.jobs.push_back(*std::move(erased));
    else
      all.refused.push_back({.job = id, .error = std::move(erased).error()});
  }
  co_return all;
}

}  // namespace jobman::client

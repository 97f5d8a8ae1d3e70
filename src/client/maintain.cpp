#include "jobman/client/maintain.hpp"

#include "jobman/core/slice_name.hpp"

namespace jobman::client {
namespace {

base::Error HoldsNoSlice(core::JobId id) {
  return {.code = base::Code::kFailedPrecondition,
          .message = "job " + core::FormatJobId(id) + " holds no slice that could be maintained",
          .hint = "jobman why " + core::FormatJobId(id)};
}

/// The service says that nothing is announced, but not where to read of it.
base::Error Explained(base::Error error, core::JobId id) {
  if (error.code == base::Code::kFailedPrecondition) {
    error.hint = "what the cloud announces is in: jobman why " + core::FormatJobId(id);
  }
  return error;
}

}  // namespace

base::Task<base::Result<std::vector<MaintenanceAsked>>> BeginMaintenance(Context context,
                                                                         core::JobId id) {
  JM_CO_ASSIGN_OR_RETURN(const core::Job job, co_await context.stores.jobs->Get(id));
  if (!job.slice || !core::IsHeld(*job.slice)) co_return HoldsNoSlice(id);
  JM_CO_ASSIGN_OR_RETURN(const CloudClient cloud,
                         co_await context.open_cloud(context.paths, job.spec.cloud));
  const core::SliceRef ref = job.slice->ref;
  std::vector<MaintenanceAsked> asked;
  for (const std::string& node : core::NodeIds(ref)) {
    const auto begun = co_await cloud.maintenance->PerformMaintenance(ref.place, node);
    MaintenanceAsked answer{.node = node};
    if (!begun.ok()) answer.refused = Explained(begun.error(), id);
    asked.push_back(std::move(answer));
  }
  co_return asked;
}

}  // namespace jobman::client

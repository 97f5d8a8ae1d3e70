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

/// The service refused the request as a whole: a node that is asked for alone may have another
/// answer. Without an answer some may have begun.
bool IsRefusal(const base::Error& error) {
  using base::Code;
  return error.code == Code::kInvalidArgument || error.code == Code::kFailedPrecondition ||
         error.code == Code::kNotFound || error.code == Code::kPermissionDenied ||
         error.code == Code::kUnimplemented;
}

/// The same answer of all nodes.
std::vector<MaintenanceAsked> AnswersOfAll(const std::vector<std::string>& nodes,
                                           const std::optional<base::Error>& refused) {
  std::vector<MaintenanceAsked> answers;
  for (const std::string& node : nodes) answers.push_back({.node = node, .refused = refused});
  return answers;
}

base::Task<std::vector<MaintenanceAsked>> AskNodeByNode(CloudClient cloud, core::SliceRef ref,
                                                        core::JobId id) {
  std::vector<MaintenanceAsked> asked;
  for (const std::string& node : core::NodeIds(ref)) {
    const auto begun = co_await cloud.maintenance->PerformMaintenance(ref.place, node);
    MaintenanceAsked answer{.node = node};
    if (!begun.ok()) answer.refused = Explained(begun.error(), id);
    asked.push_back(std::move(answer));
  }
  co_return asked;
}

}  // namespace

base::Task<base::Result<std::vector<MaintenanceAsked>>> BeginMaintenance(Context context,
                                                                         core::JobId id) {
  JM_CO_ASSIGN_OR_RETURN(const core::Job job, co_await context.stores.jobs->Get(id));
  if (!job.slice || !core::IsHeld(*job.slice)) co_return HoldsNoSlice(id);
  JM_CO_ASSIGN_OR_RETURN(const CloudClient cloud,
                         co_await context.open_cloud(context.paths, job.spec.cloud));
  const core::SliceRef ref = job.slice->ref;
  const std::vector<std::string> nodes = core::NodeIds(ref);
  const bool queued = ref.mode == core::AllocationMode::kQueuedResources && !ref.existing;
  if (queued && nodes.size() > 1) {
    const auto begun =
        co_await cloud.maintenance->PerformQueuedMaintenance(ref.place, ref.name, nodes);
    if (begun.ok()) co_return AnswersOfAll(nodes, std::nullopt);
    if (!IsRefusal(begun.error())) co_return AnswersOfAll(nodes, begun.error());
  }
  co_return co_await AskNodeByNode(cloud, ref, id);
}

}  // namespace jobman::client

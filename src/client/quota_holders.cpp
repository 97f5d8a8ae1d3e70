#include "client/quota_holders.hpp"

#include <utility>

#include "jobman/base/files.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/core/ownership.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Task;
using Nodes = std::vector<core::NodeSeen>;

Task<Result<Nodes>> FetchNodes(Context context, QuotaQuery query) {
  if (query.cloud.endpoint == kLocal) {
    const auto local = FindLocalCloud(context.paths);
    if (!local.ok() && local.error().code == base::Code::kNotFound) co_return Nodes{};
  }
  JM_CO_ASSIGN_OR_RETURN(const CloudClient cloud,
                         co_await context.open_cloud(context.paths, query.cloud));
  // All zones at once: a limit may be for a region.
  core::Place place{.project = query.project, .zone = "-"};
  co_return co_await cloud.slices->ListNodes(std::move(place));
}

/// Of a job's node with neither mark, the job knows more: v2 does not tell flex-start from on
/// demand.
Task<core::Pricing> PricingOf(Context context, core::NodeSeen node,
                              std::optional<core::JobId> holder) {
  if (node.spot) co_return core::Pricing::kSpot;
  if (node.reserved) co_return core::Pricing::kReserved;
  if (!holder) co_return core::Pricing::kOnDemand;
  const auto job = co_await context.stores.jobs->Get(*holder);
  // The spec may have been changed to spot since; a node that is spot says so.
  const bool unmarked = job.ok() && (job->spec.tpu.pricing == core::Pricing::kFlexStart ||
                                     job->spec.tpu.pricing == core::Pricing::kReservationBound);
  co_return unmarked ? job->spec.tpu.pricing : core::Pricing::kOnDemand;
}

/// The job of this store that holds the node.
std::optional<core::JobId> JobOfNode(const core::NodeSeen& node, const std::string& store_id) {
  const auto id = core::LabelledJob(node.labels);
  if (!id || store_id.empty()) return std::nullopt;
  core::Job job;
  job.id = *id;
  job.user = base::UserName();
  return core::IsOurs(node.labels, core::OwnerLabels(job, store_id)) ? id : std::nullopt;
}

}  // namespace

Task<Result<std::vector<QuotaHolder>>> FetchHolders(Context context, QuotaQuery query) {
  JM_CO_ASSIGN_OR_RETURN(const Nodes nodes, co_await FetchNodes(context, query));
  std::string store_id;
  if (context.stores.jobs != nullptr) {
    const auto id = co_await context.stores.jobs->StoreId();
    if (id.ok()) store_id = *id;
  }
  std::vector<QuotaHolder> holders;
  for (const core::NodeSeen& node : nodes) {
    QuotaHolder holder{.node = node.id, .zone = node.zone, .type = node.accelerator};
    holder.job = JobOfNode(node, store_id);
    holder.pricing = co_await PricingOf(context, node, holder.job);
    holders.push_back(std::move(holder));
  }
  co_return holders;
}

}  // namespace jobman::client

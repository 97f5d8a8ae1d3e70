#include "controller/abandoned_slices.hpp"

#include <algorithm>

#include "jobman/base/log.hpp"
#include "jobman/core/ownership.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::controller {
namespace {

using base::LogLevel;

/// The job as recorded now, after the listing.
base::Task<std::optional<core::Job>> JobOf(core::FoundSlice found, ports::JobStore* store,
                                           const JobBook* book) {
  const auto id = core::LabelledJob(found.labels);
  if (!id) co_return std::nullopt;
  if (const core::Job* const known = book->Find(*id)) co_return *known;
  const auto stored = co_await store->Get(*id);
  co_return stored.ok() ? std::optional(*stored) : std::nullopt;
}

/// Whether it is a node of a queued resource, and queued resources were not listed. A node is
/// deleted with its queued resource, so nothing can be said about it then.
bool IsOfUnlisted(const core::FoundSlice& found, const Listing& listing) {
  if (listing.queued_listed) return false;
  return std::any_of(listing.nodes.begin(), listing.nodes.end(), [&](const core::NodeSeen& node) {
    return node.id == found.ref.name && !node.queued_resource.empty();
  });
}

}  // namespace

base::Task<void> DeleteAbandonedSlices(std::shared_ptr<ports::SliceApi> api, ports::JobStore* store,
                                       const JobBook* book, std::string store_id, Listing listing) {
  for (const core::FoundSlice& found :
       core::FindSlices(listing.place, listing.nodes, listing.queued)) {
    if (found.leaving || IsOfUnlisted(found, listing)) continue;
    const auto job = co_await JobOf(found, store, book);
    if (!job) continue;
    const core::Claim claim = core::JudgeSlice(found, core::OwnerLabels(*job, store_id), job);
    if (claim.ownership != core::Ownership::kOrphan) continue;
    // An attempt that is not on record: the store is an old copy, and the slice may be in use. The
    // job adopts it when it reaches that attempt; otherwise `gc` deletes it.
    if (core::AttemptOf(found.ref.name) > job->attempt) continue;
    base::Log(LogLevel::kWarn, "cloud", "deleting slice {} of an abandoned request: {}",
              found.ref.name, claim.why);
    const auto deleted = co_await api->Delete(found.ref);
    if (!deleted.ok() && deleted.error().code != base::Code::kNotFound) {
      base::Log(LogLevel::kWarn, "cloud", "deleting slice {}: {}", found.ref.name,
                deleted.error().ToString());
    }
  }
}

}  // namespace jobman::controller

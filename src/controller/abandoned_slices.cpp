#include "controller/abandoned_slices.hpp"

#include <algorithm>

#include "controller/delete_part.hpp"
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

/// Whether the job's own record says that it asked for this slice and gave it up. Labels alone do
/// not: a copy of this store gives its slices the same ones.
base::Task<base::Result<bool>> WasGivenUp(core::FoundSlice found, core::Job job,
                                          ports::JobStore* store) {
  const auto is_it = [&found](const std::string& slice, const std::string& zone) {
    return core::IsPartOf(slice, found.ref.name) && zone == found.ref.place.zone;
  };
  for (const core::AbandonedRequest& one : job.abandoned) {
    if (is_it(one.ref.name, one.ref.place.zone) && one.ref.place.project == found.ref.place.project)
      co_return true;
  }
  JM_CO_ASSIGN_OR_RETURN(const auto attempts, co_await store->Attempts(job.id));
  co_return std::any_of(attempts.begin(), attempts.end(), [&](const ports::AttemptRecord& one) {
    return one.ended_at && !one.slice.empty() && is_it(one.slice, one.zone);
  });
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

AbandonedSlices::AbandonedSlices(asio::io_context& loop, const Ports& ports, const Options& options,
                                 JobBook& book)
    : loop_(loop), ports_(ports), options_(options), book_(book) {}

AbandonedSlices::~AbandonedSlices() {
  scope_.Cancel();
}

bool AbandonedSlices::Quiet() const {
  return std::none_of(asked_.begin(), asked_.end(),
                      [](const auto& one) { return one.second.pending; });
}

base::Task<void> AbandonedSlices::Judge(std::shared_ptr<ports::SliceApi> api, Listing listing) {
  for (const core::FoundSlice& found :
       core::FindSlices(listing.place, listing.nodes, listing.queued)) {
    if (found.leaving || IsOfUnlisted(found, listing)) continue;
    const auto job = co_await JobOf(found, ports_.stores.jobs, &book_);
    if (!job) continue;
    const Labels ours = core::OwnerLabels(*job, options_.policy.store_id);
    const core::Claim claim = core::JudgeSlice(found, ours, job);
    if (claim.ownership != core::Ownership::kOrphan) continue;
    // Otherwise it may be in use by a copy of this store; `gc` asks.
    const auto given_up = co_await WasGivenUp(found, *job, ports_.stores.jobs);
    if (!given_up.ok() || !*given_up) continue;
    const auto asked = asked_.find(found.ref.name);
    const bool soon = asked != asked_.end() &&
                      (asked->second.pending || ports_.clock->Now() < asked->second.again);
    if (soon) continue;
    base::Log(LogLevel::kWarn, "cloud", "deleting slice {} of an abandoned request: {}",
              found.ref.name, claim.why);
    asked_[found.ref.name].pending = true;
    base::Spawn(loop_.get_executor(), scope_, Delete(this, api, job->id, ours, found.ref));
  }
}

base::Task<void> AbandonedSlices::Delete(AbandonedSlices* self,
                                         std::shared_ptr<ports::SliceApi> api, core::JobId job,
                                         Labels ours, core::SliceRef slice) {
  core::DeleteAnswered answer{.slice = slice.name, .began = self->ports_.clock->Now()};
  const auto deleted = co_await DeletePart(api, std::move(ours), slice, Unfound::kLeave);
  answer.gone = deleted.ok() && !*deleted;
  if (!deleted.ok()) answer.error = deleted.error();
  if (answer.error) {
    base::Log(LogLevel::kWarn, "cloud", "deleting slice {}: {}", slice.name,
              answer.error->ToString());
  }
  Asked& asked = self->asked_[slice.name];
  asked.pending = false;
  const bool refused = answer.error && core::IsRefusedDelete(*answer.error);
  if (!refused) asked.refused.reset();
  if (refused && !asked.refused) asked.refused.emplace();
  if (refused) ++asked.refused->times;
  asked.again =
      self->ports_.clock->Now() + core::PauseOfDeletes(asked.refused, self->options_.policy);
  self->book_.Post(job, std::move(answer));
}

}  // namespace jobman::controller

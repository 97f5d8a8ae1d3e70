#include "jobman/client/garbage.hpp"

#include <fmt/format.h>

#include "jobman/base/strings.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/ports/records.hpp"

namespace jobman::client {
namespace {

using base::Error;
using base::Result;
using base::Status;
using base::Task;
using core::FoundSlice;
using core::Ownership;

bool IsListed(const FoundSlice& found, const core::Claim& claim, const GarbageQuery& query) {
  if (found.leaving) return false;
  switch (claim.ownership) {
    case Ownership::kOrphan:
    case Ownership::kOtherStore:
      return true;
    case Ownership::kUnlabelled:
      return !query.name_glob.empty() && base::GlobMatch(query.name_glob, found.ref.name);
    case Ownership::kOwned:
    case Ownership::kOtherOwner:
      return false;
  }
  return false;
}

bool MayBeDeleted(Ownership ownership, const GarbageChoice& choice) {
  return ownership == Ownership::kOrphan ||
         (ownership == Ownership::kOtherStore && choice.other_stores) ||
         (ownership == Ownership::kUnlabelled && choice.unlabelled);
}

bool IsTheSame(const FoundSlice& a, const FoundSlice& b) {
  return a.labels == b.labels && a.create_time == b.create_time && a.uid == b.uid;
}

Error CannotList(const core::Place& place, Error error) {
  return std::move(error).With(
      fmt::format("nothing is deleted: listing zone {} of {}", place.zone, place.project));
}

}  // namespace

std::vector<Garbage::Slice*> SlicesToDelete(Garbage& garbage, const GarbageChoice& choice) {
  std::vector<Garbage::Slice*> slices;
  for (Garbage::Slice& slice : garbage.slices)
    if (MayBeDeleted(slice.claim.ownership, choice)) slices.push_back(&slice);
  return slices;
}

GarbageCollector::GarbageCollector(Context context)
    : context_(std::move(context)),
      jobs_(context_.stores.jobs),
      shell_(context_.open_shell(context_.loop->get_executor(), *context_.stores.host_keys)),
      vouching_(context_) {}

Task<Result<ports::SliceApi*>> GarbageCollector::CloudOf(core::CloudSpec spec) {
  const auto known = clouds_.find(spec.endpoint);
  if (known != clouds_.end()) co_return known->second.slices.get();
  JM_CO_ASSIGN_OR_RETURN(CloudClient opened, co_await context_.open_cloud(context_.paths, spec));
  co_return clouds_.emplace(spec.endpoint, std::move(opened)).first->second.slices.get();
}

Task<Result<GarbageCollector::FoundSlices>> GarbageCollector::List(CloudPlace place) {
  // A simulator that is not running has no slices, and a request would start it.
  if (place.cloud.endpoint == kLocal) {
    const auto local = FindLocalCloud(context_.paths);
    if (!local.ok() && local.error().code == base::Code::kNotFound) co_return FoundSlices{};
  }
  JM_CO_ASSIGN_OR_RETURN(ports::SliceApi* const api, co_await CloudOf(place.cloud));
  JM_CO_ASSIGN_OR_RETURN(const auto nodes, co_await api->ListNodes(place.place));
  JM_CO_ASSIGN_OR_RETURN(const auto queued, co_await api->ListQueued(place.place));
  co_return core::FindSlices(place.place, nodes, queued);
}

Task<Result<GarbageCollector::MaybeJob>> GarbageCollector::JobOf(ports::JobStore* jobs,
                                                                 core::JobId id) {
  auto job = co_await jobs->Get(id);
  if (job.ok()) co_return std::optional(std::move(job).value());
  if (job.error().code == base::Code::kNotFound) co_return MaybeJob{};
  co_return std::move(job).error();
}

Task<Result<core::Claim>> GarbageCollector::Judge(FoundSlice found) {
  JM_CO_ASSIGN_OR_RETURN(const std::string store_id, co_await jobs_->StoreId());
  core::Job anybody;
  anybody.user = base::UserName();
  MaybeJob job;
  if (const auto id = core::LabelledJob(found.labels)) {
    auto labelled = co_await JobOf(jobs_, *id);
    // Nobody here knows whether the job holds the slice.
    if (!labelled.ok() && ports::IsUnusable(labelled.error())) {
      core::Claim unknown{.ownership = Ownership::kOwned, .why = labelled.error().message};
      co_return unknown;
    }
    if (!labelled.ok()) co_return std::move(labelled).error();
    job = *std::move(labelled);
  }
  co_return core::JudgeSlice(found, core::OwnerLabels(anybody, store_id), job);
}

Task<Result<Garbage>> GarbageCollector::Look(GarbageQuery query,
                                             std::function<void(const Error&)> also_failed) {
  std::vector<std::pair<CloudPlace, FoundSlice>> all;
  std::optional<Error> failed;
  for (const CloudPlace& place : query.places) {
    auto found = co_await List(place);
    if (found.ok()) {
      for (FoundSlice& slice : *found) all.emplace_back(place, std::move(slice));
      continue;
    }
    Error error = CannotList(place.place, std::move(found).error());
    if (!failed) {
      failed = std::move(error);
    } else if (also_failed) {
      also_failed(error);
    }
  }
  if (failed) co_return *std::move(failed);
  // The store is read after the listings: see the class.
  Garbage garbage;
  garbage.places = query.places;
  for (auto& [place, found] : all) {
    JM_CO_ASSIGN_OR_RETURN(core::Claim claim, co_await Judge(found));
    if (!IsListed(found, claim, query)) continue;
    garbage.slices.push_back(
        {.where = place, .found = std::move(found), .claim = std::move(claim)});
  }
  if (query.hosts) JM_CO_TRY(co_await LookAtHosts(&garbage));
  co_return garbage;
}

Task<Result<std::optional<FoundSlice>>> GarbageCollector::LookAgain(Garbage::Slice slice) {
  JM_CO_ASSIGN_OR_RETURN(ports::SliceApi* const api, co_await CloudOf(slice.where.cloud));
  const core::SliceRef& ref = slice.found.ref;
  std::vector<core::NodeSeen> nodes;
  std::vector<core::QueuedSeen> queued;
  Status looked = base::Ok();
  if (ref.mode == core::AllocationMode::kQueuedResources) {
    auto seen = co_await api->GetQueued(ref.place, ref.name);
    if (seen.ok()) queued.push_back(std::move(*seen));
    if (!seen.ok()) looked = std::move(seen).error();
  } else {
    auto seen = co_await api->GetNode(ref.place, ref.name);
    if (seen.ok()) nodes.push_back(std::move(*seen));
    if (!seen.ok()) looked = std::move(seen).error();
  }
  if (!looked.ok() && looked.error().code == base::Code::kNotFound) {
    co_return std::optional<FoundSlice>{};
  }
  JM_CO_TRY(std::move(looked));
  co_return std::optional(core::FindSlices(ref.place, nodes, queued).front());
}

Task<Status> GarbageCollector::TryRemove(Garbage::Slice* slice) {
  JM_CO_ASSIGN_OR_RETURN(const auto now, co_await LookAgain(*slice));
  slice->fate = Garbage::Fate::kGone;
  if (!now || now->leaving) co_return base::Ok();
  slice->fate = Garbage::Fate::kSpared;
  if (!IsTheSame(*now, slice->found)) {
    slice->claim.why = "the name belongs to another resource by now, or its labels changed";
    co_return base::Ok();
  }
  JM_CO_ASSIGN_OR_RETURN(core::Claim claim, co_await Judge(*now));
  const bool changed = claim.ownership != slice->claim.ownership;
  slice->claim = std::move(claim);
  if (changed) co_return base::Ok();
  JM_CO_ASSIGN_OR_RETURN(ports::SliceApi* const api, co_await CloudOf(slice->where.cloud));
  const auto deleted = co_await api->Delete(slice->found.ref);
  const bool gone = !deleted.ok() && deleted.error().code == base::Code::kNotFound;
  if (!deleted.ok() && !gone) co_return deleted.error();
  slice->fate = gone ? Garbage::Fate::kGone : Garbage::Fate::kDeleted;
  co_return base::Ok();
}

Task<Garbage::Slice> GarbageCollector::Remove(Garbage::Slice slice) {
  auto done = co_await TryRemove(&slice);
  if (done.ok()) co_return slice;
  slice.fate = Garbage::Fate::kFailed;
  slice.error = std::move(done).error();
  co_return slice;
}

}  // namespace jobman::client

#include "controller/zone_watch.hpp"

#include <algorithm>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

#include "jobman/base/log.hpp"
#include "jobman/controller/times.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::controller {

using base::LogLevel;
using core::Job;

namespace {

bool IsQueued(const core::SliceRef& ref) {
  return ref.mode == core::AllocationMode::kQueuedResources;
}

/// The slices that the job has or may have; all in one zone.
std::vector<core::SliceRef> RefsOf(const Job& job) {
  std::vector<core::SliceRef> refs;
  if (job.slice) refs.push_back(job.slice->ref);
  for (const core::AbandonedRequest& one : job.abandoned) refs.push_back(one.ref);
  return refs;
}

/// Their place; nullptr when there are none.
const core::Place* PlaceOf(const Job& job) {
  if (job.slice) return &job.slice->ref.place;
  return job.abandoned.empty() ? nullptr : &job.abandoned.front().ref.place;
}

std::string KeyOf(const core::CloudSpec& cloud, const core::Place& place) {
  return CloudKey(cloud) + '\n' + place.project + '\n' + place.zone;
}

bool AsksQueue(const Job& job) {
  if (job.slice && IsQueued(job.slice->ref)) return true;
  return std::any_of(job.abandoned.begin(), job.abandoned.end(),
                     [](const core::AbandonedRequest& one) { return IsQueued(one.ref); });
}

bool IsListed(const auto& listed, const std::string& id) {
  return std::any_of(listed.begin(), listed.end(), [&](const auto& one) { return one.id == id; });
}

/// The jobs whose slice was requested but is not completely listed yet. Others need no further
/// request: what is listed shows its state.
std::vector<Job> Unseen(std::vector<Job> jobs, const Listing& listing) {
  std::erase_if(jobs, [&](const Job& job) {
    if (!job.slice) return true;
    const core::Slice& slice = *job.slice;
    const std::vector<std::string> ids = core::NodeIds(slice.ref);
    return slice.phase != core::SlicePhase::kCreated || !slice.hosts.empty() ||
           IsListed(listing.queued, slice.ref.name) ||
           std::all_of(ids.begin(), ids.end(),
                       [&](const auto& id) { return IsListed(listing.nodes, id); });
  });
  return jobs;
}

}  // namespace

struct ZoneWatch::Place {
  Place(asio::io_context& loop, std::string key_of, core::CloudSpec of, core::Place at)
      : key(std::move(key_of)), cloud(std::move(of)), where(std::move(at)), timer(loop) {}
  std::string key;
  core::CloudSpec cloud;
  core::Place where;
  asio::steady_timer timer;
  base::Duration pause{0};
  bool poll_now = true;  ///< something changed since the last look began
  bool waiting = false;  ///< in the pause between two looks
  bool silent = false;   ///< the last look failed
  std::optional<core::TimePoint> answered = {};
};

ZoneWatch::ZoneWatch(asio::io_context& loop, const Ports& ports, const Options& options,
                     Clouds& clouds, JobBook& book)
    : loop_(loop),
      ports_(ports),
      options_(options),
      clouds_(clouds),
      book_(book),
      abandoned_(loop, ports, options, book) {}

ZoneWatch::~ZoneWatch() {
  scope_.Cancel();
}

void ZoneWatch::Watch(const Job& job) {
  const core::Place* const where = PlaceOf(job);
  if (where == nullptr) return;
  const std::string key = KeyOf(job.spec.cloud, *where);
  if (places_.contains(key)) return;
  auto place = std::make_shared<Place>(loop_, key, job.spec.cloud, *where);
  place->pause = options_.hot_poll;
  places_[key] = place;
  base::Spawn(loop_.get_executor(), scope_, Loop(this, place));
}

void ZoneWatch::PollNow(const core::CloudSpec& cloud, const core::Place& where) {
  const auto found = places_.find(KeyOf(cloud, where));
  if (found == places_.end()) return;  // no longer watched
  Place& place = *found->second;
  place.poll_now = true;
  place.pause = options_.hot_poll;
  if (place.waiting) place.timer.cancel();
}

bool ZoneWatch::Answers(const Job& job) const {
  if (!job.slice) return false;
  const auto found = places_.find(KeyOf(job.spec.cloud, job.slice->ref.place));
  if (found == places_.end() || !found->second->answered) return false;
  return ports_.clock->Now() - *found->second->answered < options_.policy.poll * 2 + kLookTakes;
}

bool ZoneWatch::Quiet() const {
  return abandoned_.Quiet() && std::all_of(places_.begin(), places_.end(), [&](const auto& entry) {
           return entry.second->waiting && entry.second->pause > options_.hot_poll * 4;
         });
}

std::vector<Job> ZoneWatch::JobsAt(const Place& place) const {
  std::vector<Job> jobs;
  for (const Job* job : book_.All()) {
    const core::Place* const where = PlaceOf(*job);
    if (where != nullptr && KeyOf(job->spec.cloud, *where) == place.key) jobs.push_back(*job);
  }
  return jobs;
}

base::Task<void> ZoneWatch::Loop(ZoneWatch* self, std::shared_ptr<Place> place) {
  std::error_code woken;
  for (;;) {
    place->poll_now = false;
    if (self->JobsAt(*place).empty()) break;
    const auto looked = co_await self->Look(place);
    if (looked.ok()) {
      place->answered = self->ports_.clock->Now();
      if (std::exchange(place->silent, false)) self->RepeatEffects(*place);
    } else {
      place->silent = true;
      base::Log(LogLevel::kWarn, "cloud", "cannot look at zone {}, so nothing changes there: {}",
                place->where.zone, looked.error().ToString());
      self->PostLookFailed(*place, looked.error());
      // A simulator that was started anew has another endpoint, or another token.
      const bool moved = looked.error().reason == base::Reason::kUnreachable ||
                         looked.error().code == base::Code::kUnauthenticated;
      if (moved) self->clouds_.Forget(place->cloud);
    }
    if (place->poll_now) place->pause = self->options_.hot_poll;
    place->timer.expires_after(place->pause);
    place->pause = std::min<base::Duration>(place->pause * 8 / 5, self->options_.policy.poll);
    place->waiting = true;
    co_await place->timer.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    place->waiting = false;
    co_await base::Yield();
  }
  self->places_.erase(place->key);
}

base::Task<base::Status> ZoneWatch::Look(std::shared_ptr<Place> place) {
  const core::TimePoint began = ports_.clock->Now();
  JM_CO_ASSIGN_OR_RETURN(const auto api, co_await clouds_.Get(place->cloud));
  Listing listing{.place = place->where};
  // Nodes first: a node whose queued resource is missing from the later list has really lost it,
  // but a queued resource without its node may just be newer than the list of nodes.
  JM_CO_ASSIGN_OR_RETURN(listing.nodes, co_await api->ListNodes(place->where));
  const auto jobs = JobsAt(*place);
  listing.queued_listed = std::any_of(jobs.begin(), jobs.end(), AsksQueue);
  if (listing.queued_listed) {
    JM_CO_ASSIGN_OR_RETURN(listing.queued, co_await api->ListQueued(place->where));
  }
  PostSeen(*place, began, listing);
  co_await LookAtOperations(api, Unseen(JobsAt(*place), listing));
  co_await abandoned_.Judge(api, std::move(listing));
  co_return base::Ok();
}

void ZoneWatch::PostSeen(const Place& place, core::TimePoint began, const Listing& listing) {
  for (const Job& job : JobsAt(place)) {
    for (const core::SliceRef& ref : RefsOf(job)) {
      // Queued resources were not listed: the place is looked at as soon as the first job is
      // loaded, before the jobs that use them.
      if (IsQueued(ref) && !listing.queued_listed) continue;
      core::SliceSeen seen = SeenIn(listing, ref, core::OwnerLabels(job, options_.policy.store_id));
      seen.began = began;
      book_.Post(job.id, std::move(seen));
    }
  }
}

/// The cloud is back: calls that were lost, such as a delete, are repeated at once.
void ZoneWatch::RepeatEffects(const Place& place) {
  for (const Job& job : JobsAt(place)) book_.RepeatEffects(job.id);
}

void ZoneWatch::PostLookFailed(const Place& place, const base::Error& error) {
  for (const Job& job : JobsAt(place)) {
    if (!job.slice) continue;
    book_.Post(job.id, core::LookFailed{.slice = job.slice->ref.name, .error = error});
  }
}

/// Why a requested slice is not there: only its operation shows a stockout.
base::Task<void> ZoneWatch::LookAtOperations(std::shared_ptr<ports::SliceApi> api,
                                             std::vector<Job> jobs) {
  for (const Job& job : jobs) {
    std::optional<core::OperationFailed> failed;
    for (const std::string& operation : job.slice->operations) {
      const auto seen = co_await api->GetOperation(operation);
      if (!seen.ok() || !seen->done || !seen->error) continue;
      if (!failed) failed = core::OperationFailed{job.slice->ref.name, *seen->error};
      failed->nodes.push_back(seen->node);
    }
    if (failed) book_.Post(job.id, *std::move(failed));
  }
}

}  // namespace jobman::controller

#include "controller/task_offers.hpp"

#include <algorithm>
#include <utility>

#include "jobman/controller/times.hpp"

namespace jobman::controller {

void TaskOffers::Add(core::JobId worker, std::string config) {
  workers_[worker] = std::move(config);
}

bool TaskOffers::AnyWorker() {
  std::erase_if(workers_, [&](const auto& worker) {
    const core::Job* const job = book_.Find(worker.first);
    const bool serves =
        job != nullptr && core::WorkerOf(*job) && job->spec.queue->config == worker.second;
    return !serves;
  });
  const auto is_left = [&](const auto& entry) { return !workers_.contains(entry.first); };
  std::erase_if(offers_, is_left);
  std::erase_if(passed_over_, is_left);
  return !workers_.empty();
}

bool TaskOffers::MayOffer(const core::Job& job, core::TimePoint now) const {
  if (offers_.contains(job.id)) return false;
  const auto passed = passed_over_.find(job.id);
  return passed == passed_over_.end() || passed->second.version != job.version ||
         now >= passed->second.again;
}

std::optional<core::TimePoint> TaskOffers::Make(const core::TaskBoard& board, core::TimePoint now) {
  if (!AnyWorker()) return std::nullopt;
  std::map<std::string, int> reserved;
  for (const auto& [id, offer] : offers_) ++reserved[offer.task];
  const auto is_reserved = [&](const core::Task& task) {
    const auto offered = reserved.find(task.definition.id);
    const int others = offered == reserved.end() ? 0 : offered->second;
    return static_cast<int>(task.claims.size()) + others >= task.definition.max_jobs;
  };
  std::optional<core::TimePoint> wake;
  const auto wake_at = [&wake](std::optional<core::TimePoint> at) {
    if (at && (!wake || *at < *wake)) wake = at;
  };
  for (const auto& [id, passed] : passed_over_)
    if (passed.again > now) wake_at(passed.again);
  std::map<std::pair<std::string, std::string>, bool> asked;  // by accelerator and zone
  for (const auto& [id, config] : workers_) {
    const core::Job& job = *book_.Find(id);
    const auto worker = core::WorkerOf(job);
    if (!worker || worker->phase != core::WorkerPhase::kIdle || !MayOffer(job, now)) continue;
    if (const core::Task* const task = board.Next(*worker, now, is_reserved)) {
      offers_[id] = {.task = task->definition.id, .version = job.version};
      ++reserved[task->definition.id];
      book_.Post(id, core::TaskOffered{*task});
      continue;
    }
    if (std::exchange(asked[{worker->accelerator, worker->zone}], true)) continue;
    wake_at(board.WakeAt(*worker, now));
  }
  return wake;
}

void TaskOffers::SetOver(core::JobId worker, bool passed_over, core::TimePoint now) {
  const auto offer = offers_.find(worker);
  if (offer == offers_.end()) return;
  passed_over_.erase(worker);
  if (!passed_over) {
    offer->second.over = true;
    return;
  }
  passed_over_[worker] = {.version = offer->second.version, .again = now + kRecordAgain};
  offers_.erase(offer);
}

std::vector<core::JobId> TaskOffers::Over() const {
  std::vector<core::JobId> over;
  for (const auto& [id, offer] : offers_)
    if (offer.over) over.push_back(id);
  return over;
}

void TaskOffers::Forget(const std::vector<core::JobId>& over) {
  for (const core::JobId id : over) {
    const auto offer = offers_.find(id);
    if (offer != offers_.end() && offer->second.over) offers_.erase(offer);
  }
}

}  // namespace jobman::controller

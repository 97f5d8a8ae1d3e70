#include "controller/queue_desk.hpp"

#include <algorithm>

#include "jobman/base/files.hpp"

namespace jobman::controller {

QueueService& QueueDesk::ServiceOf(const std::string& config) {
  const auto [file, fresh] = files_.try_emplace(config);
  if (fresh && !config.empty()) file->second = base::RealPath(config).string();
  std::unique_ptr<QueueService>& service = services_[file->second];
  if (!service) {
    service = std::make_unique<QueueService>(loop_, ports_, book_, file->second, lease_token_);
  }
  return *service;
}

void QueueDesk::Decided(const core::Job& job) {
  if (!core::WorkerOf(job)) return;
  QueueService& service = ServiceOf(job.spec.queue->config);
  service.offers().Add(job.id, job.spec.queue->config);
  service.Wake(false);
}

void QueueDesk::OfferOver(core::JobId id, bool passed_over) {
  const core::TimePoint now = ports_.clock->Now();
  for (const auto& [file, service] : services_) {
    service->offers().SetOver(id, passed_over, now);
    if (!passed_over) service->Wake(true);
  }
}

void QueueDesk::TasksWritten(const std::vector<core::TaskWrite>& writes) {
  for (const core::TaskWrite& write : writes) {
    const auto* const change = std::get_if<core::TaskChange>(&write);
    const core::QueueId queue =
        change != nullptr ? change->task.queue : std::get<core::TaskRelease>(write).queue;
    for (const auto& [file, service] : services_)
      if (service->id() == queue) service->Wake(true);
  }
}

void QueueDesk::StoreChanged() {
  for (const auto& [file, service] : services_) service->Wake(true);
}

std::optional<core::TimePoint> QueueDesk::WakeDue(core::TimePoint now) {
  std::erase_if(services_, [](const auto& one) { return !one.second->offers().AnyWorker(); });
  if (services_.empty()) files_.clear();
  std::optional<core::TimePoint> next;
  for (const auto& [file, service] : services_) {
    const auto due = service->WakeDue(now);
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

bool QueueDesk::Quiet() const {
  return std::all_of(services_.begin(), services_.end(),
                     [](const auto& one) { return one.second->Quiet(); });
}

}  // namespace jobman::controller

#include <utility>

#include "controller/queue_desk.hpp"
#include "jobman/base/log.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {

QueueService::QueueService(asio::io_context& loop, const Ports& ports, JobBook& book,
                           std::string file, std::int64_t lease_token)
    : loop_(loop),
      ports_(ports),
      book_(book),
      records_(ports, std::move(file), lease_token),
      watch_(ports, records_),
      offers_(book) {}

bool QueueService::HasFile() const {
  return records_.file() != ports::kSubmittedQueue && ports_.queue_files != nullptr;
}

bool QueueService::MayHaveOrphans(core::TimePoint now) const {
  return !healed_at_ || now - *healed_at_ >= kEndOrphans || now < *healed_at_;
}

void QueueService::Wake(bool changed) {
  outdated_ = outdated_ || changed;
  woken_ = true;
  if (working_ || again_) return;
  working_ = true;
  base::Spawn(loop_.get_executor(), scope_, Work(this));
}

base::Task<void> QueueService::Work(QueueService* self) {
  co_await base::Yield();  // whoever wakes it may be in the midst of a decision
  while (self->woken_) {
    self->woken_ = false;
    const base::Status served = co_await self->Serve();
    self->Tell(served, self->told_of_store_);
    if (served.ok()) continue;
    self->outdated_ = true;
    self->again_ = self->ports_.clock->Now() + kRecordAgain;
    break;
  }
  self->working_ = false;
}

base::Task<base::Status> QueueService::Serve() {
  if (std::exchange(outdated_, false)) {
    const std::vector<core::JobId> over = offers_.Over();
    JM_CO_TRY(co_await records_.Refresh());
    offers_.Forget(over);
  }
  const core::TimePoint now = ports_.clock->Now();
  if (MayHaveOrphans(now)) {
    JM_CO_TRY(co_await records_.EndOrphans(book_));
    healed_at_ = now;
  }
  wake_at_ = offers_.Make(records_.board(), ports_.clock->Now());
  WakeDue(ports_.clock->Now());  // for the first look at the file
  co_return base::Ok();
}

base::Task<void> QueueService::LookAtFile(QueueService* self) {
  const auto changed = co_await self->watch_.Look();
  self->Tell(changed.ok() ? base::Ok() : base::Status(changed.error()), self->told_of_file_);
  self->looking_ = false;
  self->looked_ = true;
  if (changed.ok() && *changed) self->Wake(true);
}

std::optional<core::TimePoint> QueueService::WakeDue(core::TimePoint now) {
  if (again_ && now >= *again_) {
    again_.reset();
    Wake(true);
  }
  const bool due = !looked_ || now - looked_at_ >= kLookAtQueueFile || now < looked_at_;
  if (HasFile() && records_.loaded() && !looking_ && due) {
    looking_ = true;
    looked_at_ = now;
    base::Spawn(loop_.get_executor(), scope_, LookAtFile(this));
  }
  if (MayHaveOrphans(now) || (wake_at_ && now >= *wake_at_)) {
    wake_at_.reset();
    Wake(false);
  }
  return wake_at_;
}

bool QueueService::Quiet() const {
  const bool seen = !HasFile() || looked_;
  return seen && !working_ && !looking_ && !outdated_ && offers_.empty();
}

/// Once until it is over, or is another.
void QueueService::Tell(const base::Status& status, std::string& told) const {
  std::string text = status.ok() ? std::string() : status.error().ToString();
  if (!text.empty() && text != told) {
    base::Log(base::LogLevel::kError, "queue", "{}: {}",
              records_.file().empty() ? "submitted tasks" : records_.file(), text);
  }
  told = std::move(text);
}

}  // namespace jobman::controller

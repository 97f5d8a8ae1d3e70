#include "controller/courier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

#include "jobman/base/backoff.hpp"
#include "jobman/base/log.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {
namespace {

constexpr int kMostTries = 12;  // about an hour, with the waits below
constexpr base::Backoff kAgain = {.base = kFirstHookRetry, .cap = kLongestHookRetry};
constexpr std::size_t kMostAtOnce = 8;

}  // namespace

Courier::Courier(asio::io_context& loop, const Ports& ports, const Options& options)
    : loop_(loop), ports_(ports), options_(options), wake_(loop) {}

void Courier::Start(std::int64_t lease_token) {
  lease_token_ = lease_token;
  if (ports_.notifier == nullptr) return;
  started_ = true;
  changed_ = true;
  base::Spawn(loop_.get_executor(), scope_, Loop(this));
}

void Courier::PollNow() {
  if (!started_) return;
  changed_ = true;
  wake_.cancel();
}

base::Task<void> Courier::Stop() {
  scope_.Cancel();
  const base::Status cut_short =
      base::Error{.code = base::Code::kAborted, .message = "not done when the controller ended"};
  auto unfinished = std::exchange(under_way_, {});
  for (auto& [number, one] : unfinished) {
    co_await Record(std::move(one.delivery), one.told.value_or(cut_short));
  }
}

bool Courier::Quiet(core::TimePoint now) const {
  return !changed_ && under_way_.empty() &&
         std::none_of(waiting_.begin(), waiting_.end(),
                      [&](const auto& entry) { return DueAt(entry.second) <= now; });
}

base::Task<void> Courier::Load() {
  changed_ = false;
  const int recorded = recorded_;
  const auto outbox = co_await ports_.stores.outbox->Waiting();
  unreadable_ = !outbox.ok();
  if (unreadable_) {
    base::Log(base::LogLevel::kError, "store", "cannot read the outbox: {}",
              outbox.error().ToString());
    co_return;
  }
  if (recorded != recorded_) {
    changed_ = true;
    co_return;
  }
  waiting_.clear();
  for (const ports::HookDelivery& delivery : *outbox) {
    if (!under_way_.contains(delivery.number)) waiting_.emplace(delivery.number, delivery);
  }
}

void Courier::StartDue() {
  const core::TimePoint now = ports_.clock->Now();
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    if (under_way_.size() >= kMostAtOnce) return;
    if (DueAt(next->second) > now) {
      ++next;
      continue;
    }
    const std::int64_t number = next->first;
    under_way_[number] = {.delivery = std::move(next->second)};
    next = waiting_.erase(next);
    base::Spawn(loop_.get_executor(), scope_, Deliver(this, number));
  }
}

core::TimePoint Courier::DueAt(const ports::HookDelivery& delivery) const {
  const auto held = held_back_.find(delivery.number);
  return held == held_back_.end() ? *delivery.next_try : std::max(*delivery.next_try, held->second);
}

base::Duration Courier::UntilNext() const {
  if (changed_) return base::Duration{0};
  base::Duration wait = unreadable_ ? kReadOutboxAgain : kLookAtOutbox;
  if (under_way_.size() >= kMostAtOnce) return wait;
  for (const auto& [number, delivery] : waiting_) {
    wait = std::min(wait, DueAt(delivery) - ports_.clock->Now());
  }
  return std::max(wait, base::Duration{1});
}

base::Task<void> Courier::Loop(Courier* self) {
  while (true) {
    if (self->changed_ || self->unreadable_) co_await self->Load();
    self->StartDue();
    self->wake_.expires_after(self->UntilNext());
    std::error_code woken;
    co_await self->wake_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    co_await base::EndIfCancelled();
  }
}

base::Task<base::Status> Courier::TellOnce(ports::HookDelivery delivery) {
  const auto job = co_await ports_.stores.jobs->Get(delivery.job);
  if (!job.ok()) co_return job.error();
  const auto& hooks = job->spec.hooks;
  if (delivery.hook < 0 || static_cast<std::size_t>(delivery.hook) >= hooks.size()) {
    co_return base::Internal("the job file has no such hook");
  }
  ports::Message message{.event_id = delivery.event_id,
                         .event = delivery.event,
                         .body = delivery.body,
                         .log = options_.paths.JobDir(delivery.job.value) / "hooks.log"};
  const core::HookSpec hook = hooks[static_cast<std::size_t>(delivery.hook)];
  const core::SmtpSpec smtp = job->spec.smtp;
  co_return co_await ports_.notifier->Tell(hook, smtp, std::move(message));
}

base::Task<void> Courier::Deliver(Courier* self, std::int64_t number) {
  co_await base::Yield();  // StartDue() iterates over the map that Load() replaces
  const ports::HookDelivery delivery = self->under_way_.at(number).delivery;
  const base::Status told = co_await self->TellOnce(delivery);
  self->under_way_.at(number).told = told;
  co_await self->Record(delivery, told);
  self->under_way_.erase(number);
  self->PollNow();
}

/// A delivery whose result cannot be recorded is repeated later: better twice than never.
base::Task<void> Courier::Record(ports::HookDelivery delivery, base::Status told) {
  const core::TimePoint now = ports_.clock->Now();
  ++delivery.tries;
  delivery.next_try.reset();
  delivery.error = told.ok() ? std::string{} : told.error().ToString();
  std::string text = ports::HookName(delivery) + " was told of \"" + delivery.event + "\"";
  if (!told.ok()) {
    const bool again = delivery.tries < kMostTries;
    const base::Duration wait = kAgain.Bound(delivery.tries);
    if (again) delivery.next_try = now + wait;
    text = fmt::format("{} failed: {}; try {} of {}, {}", ports::HookText(delivery), delivery.error,
                       delivery.tries, kMostTries,
                       again ? "again in " + base::FormatDuration(wait) : "given up");
  }
  base::Log(told.ok() ? base::LogLevel::kInfo : base::LogLevel::kWarn, "hooks", "job {}: {}",
            core::FormatJobId(delivery.job), text);
  const ports::Event event{.at = now,
                           .job = delivery.job,
                           .attempt = delivery.attempt,
                           .kind = "hook",
                           .subject = delivery.event,
                           .text = text};
  const auto recorded = co_await ports_.stores.outbox->RecordTry(delivery, event, lease_token_);
  ++recorded_;
  held_back_.erase(delivery.number);
  if (recorded.ok()) co_return;
  held_back_[delivery.number] = now + kAgain.Bound(kMostTries);
  base::Log(base::LogLevel::kError, "store", "cannot record that a hook was told: {}",
            recorded.error().ToString());
}

}  // namespace jobman::controller

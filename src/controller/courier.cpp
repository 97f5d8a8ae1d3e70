#include "controller/courier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

#include "jobman/base/backoff.hpp"
#include "jobman/base/log.hpp"

namespace jobman::controller {
namespace {

constexpr int kMostTries = 12;  // with these waits: about an hour
constexpr base::Backoff kAgain = {.base = std::chrono::seconds{5}, .cap = std::chrono::minutes{10}};
constexpr std::size_t kMostAtOnce = 8;
constexpr base::Duration kLongestNap = std::chrono::minutes{1};

}  // namespace

Courier::Courier(asio::io_context& loop, const World& world, const Options& options)
    : loop_(loop), world_(world), options_(options), wake_(loop) {}

Courier::~Courier() {
  scope_.Cancel();
}

void Courier::Start(std::int64_t lease_token) {
  lease_token_ = lease_token;
  if (world_.notifier == nullptr) return;
  started_ = true;
  Load();
  base::Spawn(loop_.get_executor(), scope_, Loop(this));
}

void Courier::Hurry() {
  if (!started_) return;
  Load();
  wake_.cancel();
}

void Courier::Stop() {
  scope_.Cancel();
  const base::Status cut_short =
      base::Error{.code = base::Code::kAborted, .message = "not done when the controller ended"};
  for (auto& [number, notice] : std::exchange(under_way_, {})) {
    Record(std::move(notice), cut_short);
  }
}

bool Courier::Quiet(core::TimePoint now) const {
  return under_way_.empty() &&
         std::none_of(waiting_.begin(), waiting_.end(),
                      [&](const auto& entry) { return DueAt(entry.second) <= now; });
}

void Courier::Load() {
  const auto outbox = world_.store->Outbox();
  stale_ = !outbox.ok();
  if (stale_) {
    return base::Log(base::LogLevel::kError, "store", "cannot read the outbox: {}",
                     outbox.error().ToString());
  }
  waiting_.clear();
  for (const ports::Notice& notice : *outbox) {
    if (!under_way_.contains(notice.number)) waiting_.emplace(notice.number, notice);
  }
}

void Courier::StartDue() {
  const core::TimePoint now = world_.clock->Now();
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    if (under_way_.size() >= kMostAtOnce) return;
    if (DueAt(next->second) > now) {
      ++next;
      continue;
    }
    ports::Notice notice = std::move(next->second);
    next = waiting_.erase(next);
    under_way_.emplace(notice.number, notice);
    base::Spawn(loop_.get_executor(), scope_, Deliver(this, std::move(notice)));
  }
}

core::TimePoint Courier::DueAt(const ports::Notice& notice) const {
  const auto held = held_back_.find(notice.number);
  return held == held_back_.end() ? *notice.next_try : std::max(*notice.next_try, held->second);
}

base::Duration Courier::UntilNext() const {
  base::Duration wait = stale_ ? base::Duration{std::chrono::seconds{1}} : kLongestNap;
  if (under_way_.size() >= kMostAtOnce) return wait;
  for (const auto& [number, notice] : waiting_) {
    wait = std::min(wait, DueAt(notice) - world_.clock->Now());
  }
  return std::max(wait, base::Duration{1});
}

base::Task<void> Courier::Loop(Courier* self) {
  while (true) {
    if (self->stale_) self->Load();
    self->StartDue();
    self->wake_.expires_after(self->UntilNext());
    std::error_code woken;
    co_await self->wake_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    co_await base::Yield();  // ends here when cancelled
  }
}

base::Task<base::Status> Courier::TellOnce(ports::Notice notice) {
  const auto job = world_.store->Get(notice.job);
  if (!job.ok()) co_return job.error();
  const auto& hooks = job->spec.hooks;
  if (notice.hook < 0 || static_cast<std::size_t>(notice.hook) >= hooks.size()) {
    co_return base::Internal("the job file has no such hook");
  }
  ports::Message message{.event_id = notice.event_id,
                         .event = notice.event,
                         .body = notice.body,
                         .log = options_.paths.JobDir(notice.job.value) / "hooks.log"};
  const core::HookSpec hook = hooks[static_cast<std::size_t>(notice.hook)];
  const core::SmtpSpec smtp = job->spec.smtp;
  co_return co_await world_.notifier->Tell(hook, smtp, std::move(message));
}

base::Task<void> Courier::Deliver(Courier* self, ports::Notice notice) {
  co_await base::Yield();  // StartDue() walks over what Load() replaces
  const base::Status told = co_await self->TellOnce(notice);
  const std::int64_t number = notice.number;
  self->Record(std::move(notice), told);
  self->under_way_.erase(number);
  self->Load();
  self->wake_.cancel();
}

/// What cannot be recorded is told again, some time later: better twice than never.
void Courier::Record(ports::Notice notice, const base::Status& told) {
  const core::TimePoint now = world_.clock->Now();
  ++notice.tries;
  notice.next_try.reset();
  notice.error = told.ok() ? std::string{} : told.error().ToString();
  std::string text = fmt::format("told {}", notice.target);
  if (!told.ok()) {
    const bool again = notice.tries < kMostTries;
    const base::Duration wait = kAgain.Bound(notice.tries);
    if (again) notice.next_try = now + wait;
    text = fmt::format("{} was not told ({} of {} tries): {}: {}", notice.target, notice.tries,
                       kMostTries, notice.error,
                       again ? "again in " + base::FormatDuration(wait) : "given up");
  }
  const ports::Event event{.at = now,
                           .job = notice.job,
                           .attempt = notice.attempt,
                           .kind = "hook",
                           .subject = notice.event,
                           .text = text};
  base::Log(told.ok() ? base::LogLevel::kInfo : base::LogLevel::kWarn, "hooks", "job {}: {}",
            core::FormatJobId(notice.job), text);
  const auto recorded = world_.store->RecordTry(notice, event, lease_token_);
  held_back_.erase(notice.number);
  if (recorded.ok()) return;
  held_back_[notice.number] = now + kAgain.Bound(kMostTries);
  base::Log(base::LogLevel::kError, "store", "cannot record that a hook was told: {}",
            recorded.error().ToString());
}

}  // namespace jobman::controller

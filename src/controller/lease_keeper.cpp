#include "controller/lease_keeper.hpp"

#include <algorithm>

#include "jobman/base/log.hpp"
#include "jobman/controller/controller.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {
namespace {

base::Error HeldBy(const std::string& holder) {
  return {.code = base::Code::kAborted,
          .message = "another controller is running: " + HolderText(holder),
          .hint = "jobman controller status"};
}

void WarnOf(const ports::Lease& lease, base::TimePoint now) {
  base::Log(base::LogLevel::kWarn, "store",
            "the lease of {} ends in {}, which no controller asks for: the clock was wrong, there "
            "or here. It is taken over",
            lease.holder, base::FormatDuration(lease.expires - now));
}

}  // namespace

LeaseKeeper::LeaseKeeper(asio::io_context& loop, ports::LeaseStore& store, const base::Clock& clock,
                         base::Duration lease_time, std::function<void()> on_lost)
    : loop_(loop),
      store_(store),
      clock_(clock),
      lease_time_(lease_time),
      on_lost_(std::move(on_lost)) {}

base::Task<base::Status> LeaseKeeper::Take(std::string holder) {
  holder_ = std::move(holder);
  JM_CO_ASSIGN_OR_RETURN(const auto current, co_await store_.CurrentLease());
  if (current && HolderIsDead(current->holder)) JM_CO_TRY(co_await store_.DropLease(*current));
  const base::TimePoint now = clock_.Now();
  if (current && ports::IsTooFarAhead(*current, now)) WarnOf(*current, now);
  JM_CO_ASSIGN_OR_RETURN(const auto lease, co_await store_.TakeLease(holder_, now, lease_time_));
  if (!lease) co_return HeldBy(current ? current->holder : "another process");
  lease_ = *lease;
  renewed_ = now;
  base::Spawn(loop_.get_executor(), renewing_, KeepRenewing(this));
  co_return base::Ok();
}

base::Task<base::Status> LeaseKeeper::GiveBack() {
  renewing_.Cancel();
  co_return co_await store_.DropLease(lease_);
}

base::Task<void> LeaseKeeper::KeepRenewing(LeaseKeeper* self) {
  while (!self->lost_) {
    co_await base::Sleep(std::min(kLookAtClock, self->lease_time_ / 3));
    const bool due = self->clock_.Now() - self->renewed_ >= self->lease_time_ / 3;
    if (due) co_await self->Renew();
  }
}

base::Task<void> LeaseKeeper::Renew() {
  const base::TimePoint now = clock_.Now();
  const auto lease = co_await store_.TakeLease(holder_, now, lease_time_);
  if (!lease.ok()) {
    // Every commit checks the token, so two controllers cannot both record.
    base::Log(base::LogLevel::kError, "store", "cannot renew the lease: {}",
              lease.error().ToString());
    co_return co_await Confirm();
  }
  const bool ours = lease->has_value() && (*lease)->token == lease_.token;
  if (!ours) co_return SetLost();
  renewed_ = std::max(renewed_, now);
}

base::Task<void> LeaseKeeper::Confirm() {
  const base::TimePoint now = clock_.Now();
  const auto current = co_await store_.CurrentLease();
  if (!current.ok() || !*current) co_return;
  if ((*current)->token != lease_.token) co_return SetLost();
  confirmed_ = std::max(confirmed_, now);
}

base::Task<bool> LeaseKeeper::MayAct() {
  if (Lasts()) co_return true;
  if (lost_) co_return false;
  const base::TimePoint asked = clock_.Now();
  co_await Renew();
  co_return Lasts() || (!lost_ && confirmed_ >= asked);
}

bool LeaseKeeper::Holds() const {
  return Lasts() || (!lost_ && clock_.Now() - confirmed_ < lease_time_ / 3);
}

void LeaseKeeper::SetLost() {
  if (std::exchange(lost_, true)) return;
  on_lost_();
}

}  // namespace jobman::controller

#include "jobman/core/request_holds.hpp"

#include <algorithm>

#include "jobman/base/backoff.hpp"
#include "jobman/core/times.hpp"

namespace jobman::core {
namespace {

/// Rate limits are per project.
std::string RateKey(const Job& job) {
  return job.spec.cloud.endpoint + '\n' + job.spec.tpu.project;
}

/// Jobs with equal keys compete for the same capacity or quota.
std::string StockKey(const Job& job) {
  const TpuSpec& tpu = job.spec.tpu;
  return RateKey(job) + '\n' + tpu.zone + '\n' + tpu.accelerator + '\n' +
         std::string(PricingName(tpu.pricing)) + '\n' +
         std::string(AllocationModeName(tpu.allocation_mode));
}

std::string KeyOf(const Job& job, const base::Error& told) {
  return told.reason == base::Reason::kRateLimit ? RateKey(job) : StockKey(job);
}

/// A refusal that holds for all competing jobs.
const base::Error* ShortageIn(const Job& job) {
  const auto* waits = std::get_if<BackingOff>(&job.state);
  if (waits == nullptr) return nullptr;
  const base::Reason reason = waits->error.reason;
  const bool shared = reason == base::Reason::kStockout || reason == base::Reason::kQuota ||
                      reason == base::Reason::kRateLimit;
  return shared ? &waits->error : nullptr;
}

bool Asks(const Job& before, const Job& after) {
  return after.attempt != before.attempt && std::holds_alternative<Requesting>(after.state);
}

/// Its request was accepted, so a rate limit is over.
bool IsAccepted(const Job& before, const Job& after) {
  if (!after.slice || after.attempt == 0) return false;
  return after.slice->phase == SlicePhase::kCreated &&
         (!before.slice || before.slice->phase == SlicePhase::kIntended);
}

bool IsReady(const Job& before, const Job& after) {
  if (!after.slice || after.attempt == 0) return false;
  return !after.slice->hosts.empty() && (!before.slice || before.slice->hosts.empty());
}

/// It asked after that time and its request stays in the queue. Acceptance alone says little:
/// without capacity many requests fail within a minute.
bool StaysInQueue(const Job& job, TimePoint told_at, TimePoint now) {
  return std::holds_alternative<Waiting>(job.state) && job.since >= told_at &&
         now - job.since >= kQueueHolds;
}

base::Backoff BackoffOf(const Job& job) {
  return {.base = job.spec.retries.backoff, .cap = job.spec.retries.backoff_cap};
}

/// Between half the bound and the bound: jitter, but never at once.
Duration Wait(const Job& job, int streak, double unit_random) {
  const base::Backoff backoff = BackoffOf(job);
  return backoff.Bound(streak) / 2 + backoff.FullJitter(streak, unit_random) / 2;
}

}  // namespace

void RequestHolds::Learn(const Job& before, const Job& after, TimePoint now, double unit_random) {
  const auto decay = [&](Shortage& shortage) {
    const Duration quiet = now - shortage.hold.not_before;
    shortage.streak = base::StreakAfter(shortage.streak, quiet, BackoffOf(after));
  };
  if (IsAccepted(before, after)) shortages_.erase(RateKey(after));
  const auto known = shortages_.find(StockKey(after));
  const bool over = known != shortages_.end() &&
                    (IsReady(before, after) || StaysInQueue(after, known->second.told_at, now));
  if (over) {
    shortages_.erase(known);
    return;
  }
  const base::Error* const told = ShortageIn(after);
  // A job that only waits for another job's refusal has learned nothing new.
  const bool asked = std::holds_alternative<Requesting>(before.state) ||
                     std::holds_alternative<Waiting>(before.state) ||
                     std::holds_alternative<Provisioning>(before.state);
  const bool refused = told != nullptr && asked && before.attempt == after.attempt;
  if (refused) {
    if (told->reason != base::Reason::kRateLimit) shortages_.erase(RateKey(after));
    Shortage& shortage = shortages_[KeyOf(after, *told)];
    decay(shortage);
    ++shortage.streak;
    shortage.told_at = now;
    shortage.hold.error = *told;
  }
  if (!refused && !Asks(before, after)) return;
  for (const std::string& key : {StockKey(after), RateKey(after)}) {
    const auto found = shortages_.find(key);
    if (found == shortages_.end()) continue;
    Shortage& shortage = found->second;
    if (!refused) decay(shortage);  // before the request moves not_before
    TimePoint& next = shortage.hold.not_before;
    next = std::max(next, now + Wait(after, shortage.streak, unit_random));
  }
}

void RequestHolds::Recall(const Job& job) {
  const base::Error* const told = ShortageIn(job);
  if (told == nullptr) return;
  const TimePoint until = std::get<BackingOff>(job.state).until;
  const auto [found, fresh] = shortages_.try_emplace(KeyOf(job, *told));
  RequestHold& hold = found->second.hold;
  hold.not_before = fresh ? until : std::min(hold.not_before, until);
  hold.error = *told;
  found->second.told_at = std::max(found->second.told_at, job.since);
  found->second.streak = std::max({1, found->second.streak, job.spent.streak});
}

std::optional<RequestHold> RequestHolds::HoldFor(const Job& job) const {
  std::optional<RequestHold> hold;
  for (const std::string& key : {StockKey(job), RateKey(job)}) {
    const auto found = shortages_.find(key);
    if (found == shortages_.end()) continue;
    if (!hold || hold->not_before < found->second.hold.not_before) hold = found->second.hold;
  }
  return hold;
}

}  // namespace jobman::core

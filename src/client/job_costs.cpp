#include "jobman/client/job_costs.hpp"

#include <algorithm>
#include <chrono>
#include <ratio>
#include <set>

#include "jobman/client/local_cloud.hpp"

namespace jobman::client {
namespace {

using Journal = std::vector<ports::Event>;
using Attempts = std::vector<ports::AttemptRecord>;

bool InUse(const std::string& state) {
  return state == "SETUP" || state == "IDLE" || state == "RUNNING";
}

bool IsOverState(const std::string& state) {
  return state == "SUCCEEDED" || state == "FAILED" || state == "CANCELLED" || state == "DELETED";
}

/// Follows the journal of one job.
class HeldWalk {
 public:
  explicit HeldWalk(bool existing) : existing_(existing) {}

  void See(const ports::Event& event) {
    // Others may be told late, of an earlier attempt.
    if (event.kind != "effect" && event.kind != "state") return;
    // The slice may be kept from one attempt to the next.
    if (since_ && event.attempt != attempt_) {
      Close(event.at);
      since_ = event.at;
    }
    attempt_ = event.attempt;
    return event.kind == "effect" ? SeeEffect(event) : SeeState(event);
  }
  void Close(base::TimePoint at) {
    if (since_ && at > *since_) times_.push_back({.attempt = attempt_, .from = *since_, .to = at});
    since_.reset();
  }
  std::vector<HeldTime> Take() && { return std::move(times_); }

 private:
  void SeeEffect(const ports::Event& event) {
    if (event.subject == "CreateSlice") slice_ = event.text;
    // An earlier slice, which came late, may be deleted meanwhile.
    const bool this_one = slice_.empty() || event.text == slice_;
    if (event.subject == "DeleteSlice" && this_one) Close(event.at);
  }
  void SeeState(const ports::Event& event) {
    if (InUse(event.subject) && !since_) since_ = event.at;
    const bool released = existing_ ? IsOverState(event.subject) : event.subject == "DELETED";
    if (released) Close(event.at);
  }

  bool existing_;
  std::string slice_ = {};  ///< the last that was asked for
  int attempt_ = 0;
  std::optional<base::TimePoint> since_ = {};
  std::vector<HeldTime> times_ = {};
};

/// Attempts of which the journal has no state: another tool ran them.
std::vector<HeldTime> TimesAtMost(const core::Job& job, const Journal& journal,
                                  const Attempts& attempts, base::TimePoint now) {
  std::set<int> told;
  for (const ports::Event& event : journal) {
    if (event.kind == "state") told.insert(event.attempt);
  }
  std::vector<HeldTime> times;
  for (const ports::AttemptRecord& one : attempts) {
    if (told.contains(one.attempt)) continue;
    const base::TimePoint end = core::IsFinal(job.state) ? job.since : now;
    times.push_back({.attempt = one.attempt,
                     .from = one.started_at,
                     .to = one.ended_at.value_or(end),
                     .at_most = true});
  }
  std::erase_if(times, [](const HeldTime& time) { return time.to <= time.from; });
  return times;
}

HeldCost CostOf(const core::Job& job, const Attempts& attempts, const HeldTime& held,
                const core::PriceList& prices) {
  HeldCost cost{.job = job.id,
                .name = job.name,
                .user = job.user,
                .tpu = job.spec.tpu,
                .held = held,
                .simulated = job.spec.cloud.endpoint == kLocal};
  const auto record = std::find_if(attempts.begin(), attempts.end(), [&](const auto& one) {
    return one.attempt == held.attempt && !one.zone.empty();
  });
  if (record != attempts.end()) cost.tpu.zone = record->zone;
  cost.per_hour = core::HourlyPrice(prices, cost.tpu);
  cost.on_demand = core::OnDemandPrice(prices, cost.tpu);
  return cost;
}

/// The first midnight UTC after that time.
base::TimePoint NextDay(base::TimePoint time) {
  return std::chrono::floor<std::chrono::days>(time) + std::chrono::days{1};
}

}  // namespace

std::vector<HeldTime> HeldTimes(const core::Job& job, const Journal& journal,
                                const Attempts& attempts, base::TimePoint now) {
  std::vector<HeldTime> times = TimesAtMost(job, journal, attempts, now);
  HeldWalk walk(!job.spec.tpu.existing.empty());
  for (const ports::Event& event : journal) walk.See(event);
  // Without a slice on record it was let go, at the last event at the latest.
  const bool still = job.slice.has_value();
  if (still) walk.Close(now);
  if (!still && !journal.empty()) walk.Close(journal.back().at);
  const std::vector<HeldTime> told = std::move(walk).Take();
  times.insert(times.end(), told.begin(), told.end());
  return times;
}

double HeldCost::Hours() const {
  return std::chrono::duration<double, std::ratio<3600>>(held.to - held.from).count();
}

std::optional<double> HeldCost::Dollars() const {
  return per_hour ? std::optional(*per_hour * Hours()) : std::nullopt;
}

std::optional<double> HeldCost::DollarsOnDemand() const {
  return on_demand ? std::optional(*on_demand * Hours()) : std::nullopt;
}

base::Task<base::Result<std::vector<HeldCost>>> CostsOfJob(ports::JobStore* jobs, core::JobId id,
                                                           base::TimePoint now,
                                                           const core::PriceList* prices) {
  JM_CO_ASSIGN_OR_RETURN(const core::Job job, co_await jobs->Get(id));
  JM_CO_ASSIGN_OR_RETURN(const Journal journal, co_await jobs->Events(id, 0));
  JM_CO_ASSIGN_OR_RETURN(const Attempts attempts, co_await jobs->Attempts(id));
  std::vector<HeldCost> costs;
  for (const HeldTime& held : HeldTimes(job, journal, attempts, now))
    costs.push_back(CostOf(job, attempts, held, *prices));
  co_return costs;
}

std::vector<HeldCost> CostsSince(std::vector<HeldCost> costs, base::TimePoint since) {
  std::erase_if(costs, [&](const HeldCost& cost) { return cost.held.to <= since; });
  for (HeldCost& cost : costs) cost.held.from = std::max(cost.held.from, since);
  return costs;
}

std::vector<HeldCost> CutByDay(const std::vector<HeldCost>& costs) {
  std::vector<HeldCost> parts;
  for (const HeldCost& cost : costs) {
    for (HeldCost part = cost; part.held.from < cost.held.to; part.held.from = part.held.to) {
      part.held.to = std::min(NextDay(part.held.from), cost.held.to);
      parts.push_back(part);
    }
  }
  return parts;
}

}  // namespace jobman::client

#include "cli/views/cost_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ratio>

namespace jobman::cli::views {
namespace {

using client::HeldCost;
using By = Costs::By;

std::string KeyOf(const HeldCost& cost, By by) {
  switch (by) {
    case By::kJob:
      return core::FormatJobId(cost.job);
    case By::kUser:
      return cost.user;
    case By::kDay:
      return base::FormatDateTime(cost.held.from).substr(0, 10);
    case By::kZone:
      return cost.tpu.zone;
  }
  return {};
}

}  // namespace

void CostSum::Add(const HeldCost& cost) {
  jobs.insert(cost.job);
  last = cost;
  held += cost.held.to - cost.held.from;
  at_most = at_most || cost.held.at_most;
  const auto price = cost.Dollars();
  complete = complete && price.has_value();
  if (price) dollars = dollars.value_or(0) + *price;
  const auto other = cost.DollarsOnDemand();
  on_demand_complete = on_demand_complete && other.has_value();
  if (other) on_demand = on_demand.value_or(0) + *other;
  if (!price || !other) return;
  compared += *other;
  saved += *other - *price;
}

std::optional<double> CostSum::Saved() const {
  return dollars && on_demand && compared > 0 ? std::optional(saved) : std::nullopt;
}

double CostSum::Hours() const {
  return std::chrono::duration<double, std::ratio<3600>>(held).count();
}

std::string_view WordOfBy(By by) {
  switch (by) {
    case By::kJob:
      return "job";
    case By::kUser:
      return "user";
    case By::kDay:
      return "day";
    case By::kZone:
      return "zone";
  }
  return {};
}

CostSums SumsOf(const Costs& view) {
  CostSums sums;
  const auto cut = view.by == By::kDay ? client::CutByDay(view.parts) : view.parts;
  for (const HeldCost& cost : cut) sums[KeyOf(cost, view.by)].Add(cost);
  return sums;
}

CostSum TotalOf(const Costs& view) {
  CostSum total;
  for (const HeldCost& cost : view.parts) total.Add(cost);
  return total;
}

std::map<std::string, std::set<core::JobId>> Unpriced(const Costs& view) {
  std::map<std::string, std::set<core::JobId>> jobs;
  for (const HeldCost& cost : view.parts) {
    if (cost.per_hour) continue;
    jobs[fmt::format("{} {} in {}", cost.tpu.accelerator, core::PricingName(cost.tpu.pricing),
                     cost.tpu.zone)]
        .insert(cost.job);
  }
  return jobs;
}

bool DiffersFromOnDemand(const Costs& view) {
  return std::any_of(view.parts.begin(), view.parts.end(), [](const HeldCost& cost) {
    return cost.on_demand && cost.per_hour != cost.on_demand;
  });
}

}  // namespace jobman::cli::views

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cli/views/costs.hpp"

namespace jobman::cli::views {

/// What some of the times come to.
struct CostSum {
  std::set<core::JobId> jobs = {};
  client::HeldCost last = {};  ///< one of them, for what they have in common
  base::Duration held = {};
  std::optional<double> dollars = {};  ///< of those with a price
  bool complete = true;                ///< all have one
  bool at_most = false;                ///< of some only the most is known

  std::optional<double> on_demand = {};  ///< what those with such a price would cost on demand
  bool on_demand_complete = true;        ///< all have one
  double compared = 0;                   ///< what those that have both prices would cost on demand
  double saved = 0;                      ///< how much less they cost

  void Add(const client::HeldCost& cost);
  double Hours() const;
  /// Dollars; nothing if no time has both prices.
  std::optional<double> Saved() const;
};
/// By job, user, day or zone.
using CostSums = std::map<std::string, CostSum>;

CostSums SumsOf(const Costs& view);
CostSum TotalOf(const Costs& view);
/// What has no list price, "v6e-8 spot in southamerica-west1-a", and the jobs that had it.
std::map<std::string, std::set<core::JobId>> Unpriced(const Costs& view);
/// Whether any time has another price than on demand.
bool DiffersFromOnDemand(const Costs& view);
/// "job", "user", "day", "zone".
std::string_view WordOfBy(Costs::By by);

}  // namespace jobman::cli::views

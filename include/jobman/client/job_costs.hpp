#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/core/prices.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::client {

/// A time during which an attempt of a job held a slice.
struct HeldTime {
  int attempt = 0;
  base::TimePoint from = {};
  base::TimePoint to = {};
  /// Only the attempt's beginning and end are known, as of imported jobs: it was held no longer.
  bool at_most = false;
  friend bool operator==(const HeldTime&, const HeldTime&) = default;
};

/// When a job held READY slices, as its journal says: from the first stage on a slice, which begins
/// when jobman sees it READY, until its deletion is decided, as it is when it is lost; until `now`
/// if it is held still. A node of the user's (tpu.existing) is held until the job is over.
std::vector<HeldTime> HeldTimes(const core::Job& job, const std::vector<ports::Event>& journal,
                                const std::vector<ports::AttemptRecord>& attempts,
                                base::TimePoint now);

/// Such a time, and what an hour of it costs.
struct HeldCost {
  core::JobId job = {};
  std::string name = {};
  std::string user = {};
  core::TpuSpec tpu = {};  ///< as it is now; its zone is the attempt's
  HeldTime held = {};
  std::optional<double> per_hour = {};   ///< USD at list price; nothing: not known
  std::optional<double> on_demand = {};  ///< what an hour of the same would cost on demand
  bool simulated = false;                ///< of the cloud `local`: nobody pays for it

  double Hours() const;
  /// USD; nothing if the price is not known.
  std::optional<double> Dollars() const;
  std::optional<double> DollarsOnDemand() const;
};

/// `prices` must outlive the coroutine.
base::Task<base::Result<std::vector<HeldCost>>> CostsOfJob(ports::JobStore* jobs, core::JobId id,
                                                           base::TimePoint now,
                                                           const core::PriceList* prices);

/// What of the times is not before `since`.
std::vector<HeldCost> CostsSince(std::vector<HeldCost> costs, base::TimePoint since);
/// The same times, cut at midnight UTC.
std::vector<HeldCost> CutByDay(const std::vector<HeldCost>& costs);

}  // namespace jobman::client

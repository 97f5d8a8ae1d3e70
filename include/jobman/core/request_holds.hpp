#pragma once

#include <map>
#include <optional>
#include <string>

#include "jobman/core/reconcile.hpp"

namespace jobman::core {

/// Spaces out the requests of jobs that compete for the same capacity. After a stockout they ask
/// one at a time, with growing pauses: fifty jobs waiting for one zone send no more requests than
/// one would. A granted slice, or a request that stays in the queue, releases all of them. A rate
/// limit holds all jobs of the project. Pure: fed with decisions. Not stored; rebuilt from the
/// waiting jobs after a restart.
class RequestHolds {
 public:
  /// A decision was made: the job before and after it. `unit_random` in [0, 1).
  void Learn(const Job& before, const Job& after, TimePoint now, double unit_random);
  /// A job decided by an earlier controller.
  void Recall(const Job& job);
  /// Nothing when the job may ask.
  std::optional<RequestHold> HoldFor(const Job& job) const;

 private:
  struct Shortage {
    int streak = 0;
    TimePoint told_at = {};  ///< when a job was refused last
    RequestHold hold = {};
  };
  std::map<std::string, Shortage> shortages_ = {};
};

}  // namespace jobman::core

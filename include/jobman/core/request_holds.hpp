#pragma once

#include <map>
#include <optional>
#include <string>

#include "jobman/core/reconcile.hpp"

namespace jobman::core {

/// What jobs that compete for the same capacity learn from one another. After a stockout they ask
/// one at a time, and the later the longer it lasts: fifty jobs that wait for one zone send as many
/// requests as one would. The first slice that is granted, or a request that stays in the queue,
/// lets all of them ask. A rate limit is one of the project: all its jobs learn of it. Pure: fed
/// with decisions; forgotten with the process, and built up again from the jobs that wait.
class RequestHolds {
 public:
  /// A decision was made: the job before and after it. `unit_random` in [0, 1).
  void Learn(const Job& before, const Job& after, TimePoint now, double unit_random);
  /// A job that was decided upon by an earlier controller.
  void Recall(const Job& job);
  /// Nothing: the job may ask.
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

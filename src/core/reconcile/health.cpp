// A node that is READY and that the service calls unhealthy: nothing is started there, and what
// runs goes on. Its repair is awaited for a limited time.
#include <fmt/format.h>

#include <algorithm>

#include "core/reconcile/turn.hpp"

namespace jobman::core {

bool IsUnhealthy(const Turn& turn) {
  return turn.job.slice && turn.job.slice->unhealthy_since.has_value();
}

bool GaveUpUnhealthy(Turn& turn) {
  // Seen now: while the cloud is silent, nothing is known of its repair.
  if (!IsUnhealthy(turn) || turn.view() != SliceView::kUnclear) return false;
  const Slice& slice = *turn.job.slice;
  if (turn.now - *slice.unhealthy_since < turn.policy.repair_limit) return false;
  if (!IsConfirmed(turn)) return false;
  LoseSlice(turn,
            InfraFault(AttemptOutcome::kInfra,
                       {.code = base::Code::kUnavailable,
                        .message = fmt::format("slice {} is {} and was not repaired within {}",
                                               slice.ref.name, slice.cloud_state,
                                               base::FormatDuration(turn.policy.repair_limit))}));
  return true;
}

bool IsSilentAndUnhealthy(const Turn& turn) {
  const auto& hosts = turn.job.stage->hosts;
  return IsUnhealthy(turn) && std::any_of(hosts.begin(), hosts.end(), [&](const HostRun& run) {
           return !Ended(run) && run.silent_since &&
                  turn.now - *run.silent_since >= turn.policy.doubt_limit;
         });
}

}  // namespace jobman::core

// The reconciler keeps its invariants under any sequence of observations, possible or not.
// RapidCheck shrinks a failing sequence to the shortest one (RC_PARAMS="seed=..." repeats it).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::test {
namespace {

using base::Code;
using base::Error;
using base::Reason;
using core::NodeState;
using core::QueuedState;
using core::SlicePhase;
using core::Wish;

/// Makes observation number `what`; `detail` chooses its details.
void Observe(Reconciling& r, int what, int detail) {
  constexpr std::array kErrors = {Reason::kUnreachable, Reason::kStockout, Reason::kPermission};
  const Error error{.code = detail % 2 == 0 ? Code::kUnavailable : Code::kResourceExhausted,
                    .message = "refused",
                    .reason = kErrors.at(static_cast<std::size_t>(detail % 3))};
  const int host = detail % 3;
  switch (what % 15) {
    case 0:
      return static_cast<void>(r.After(std::chrono::seconds{detail}));
    case 1:
      return static_cast<void>(r.Answered());
    case 2:
      return static_cast<void>(r.Refused(error));
    case 3:
      return static_cast<void>(r.Queued(static_cast<QueuedState>(detail % 11)));
    case 4:
      return static_cast<void>(r.Node(static_cast<NodeState>(detail % 16)));
    case 5:
      return static_cast<void>(r.Ready(1 + detail % 3));
    case 6:
      return static_cast<void>(r.Ready(2, detail % 3));
    case 7:
      return static_cast<void>(r.Absent());
    case 8:
      return static_cast<void>(r.Foreign());
    case 9:
      return static_cast<void>(r.Failed(error));
    case 10:
      return static_cast<void>(r.Gone());
    case 11:
      return static_cast<void>(r.HostEnds(host, detail % 5 == 0 ? detail : 0));
    case 12:
      return static_cast<void>(r.HostLost(host));
    case 13:
      return static_cast<void>(r.NoAnswer(error));
    default:
      return static_cast<void>(r.WishFor(static_cast<Wish>(detail % 5)));
  }
}

bool Wants(const Reconciling& r, const std::string& effect) {
  return std::any_of(r.effects().begin(), r.effects().end(),
                     [&](const std::string& one) { return one.starts_with(effect + " "); });
}

RC_GTEST_PROP(ReconcileSequences, NothingConfusesTheReconciler,
              (const std::vector<std::pair<std::uint8_t, std::uint8_t>>& observations)) {
  JobBuilder builder;
  if (observations.size() % 2 == 0) builder.Direct();
  Reconciling r(builder.Step("install").Build());
  r.Tick();
  for (const auto& [what, detail] : observations) {
    const core::Job before = r.job();
    Observe(r, what, detail);
    RC_ASSERT((!r.job().why.empty()));
    RC_ASSERT((core::NeedsCare(r.job()) == r.job().wake_at.has_value()));
    if (Wants(r, "CreateSlice")) RC_ASSERT((r.job().slice->phase == SlicePhase::kIntended));
    if (Wants(r, "DeleteSlice")) {
      RC_ASSERT((r.job().slice && r.job().slice->phase == SlicePhase::kDeleting));
      RC_ASSERT((what % 15 != 8));  // a foreign slice was seen just now
    }
    if (Wants(r, "RunStage")) RC_ASSERT((r.job().stage.has_value()));
    if (core::IsFinal(before.state) && what % 15 != 14) RC_ASSERT((r.job().state == before.state));
    const bool kept = before.slice && r.job().slice && before.slice->ref == r.job().slice->ref;
    if (before.slice && !kept) RC_ASSERT((!r.job().slice || r.job().attempt > before.attempt));
  }
}

}  // namespace
}  // namespace jobman::test

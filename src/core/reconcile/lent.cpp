// The cloud lends a slice for tpu.max_run_duration, and then takes it away: the end is known from
// the beginning.
#include <fmt/format.h>

#include <algorithm>

#include "core/reconcile/fold_parts.hpp"
#include "core/reconcile/turn.hpp"

namespace jobman::core {
namespace {

/// Between the service's clock and ours.
constexpr Duration kClockSkew = std::chrono::seconds{30};
/// What the command has beyond its grace: to be told, and for the answer.
constexpr Duration kToBeTold = std::chrono::seconds{30};
/// Of a slice that is lent for a short time, most belongs to the command.
constexpr int kLeadPart = 10;

/// When the first node was created. Whether the time counts from here is not documented: it is the
/// earliest that can be meant. By the service's clock, which may differ from ours: it was not
/// before the request, unless that was repeated.
TimePoint FirstCreated(const Slice& slice, const std::vector<NodeSeen>& nodes, TimePoint now) {
  TimePoint first = now;
  for (const NodeSeen& node : nodes) {
    const auto created = base::ParseRfc3339(node.create_time);
    if (created.ok()) first = std::min(first, *created);
  }
  return slice.requests_sent == 1 ? std::max(first, slice.requested_at) : first;
}

std::optional<TimePoint> FirstEnd(const std::vector<NodeSeen>& nodes) {
  std::optional<TimePoint> first;
  for (const NodeSeen& node : nodes) {
    if (node.ends_at && (!first || *node.ends_at < *first)) first = node.ends_at;
  }
  return first;
}

/// "its run duration of 4h", or what else the cloud's time for it is.
std::string LentTime(const Job& job) {
  const auto& lent = job.spec.tpu.max_run_duration;
  return lent ? "its run duration of " + base::FormatDuration(*lent) : "its time in the cloud";
}

}  // namespace

void RecordLentUntil(Slice& slice, const std::vector<NodeSeen>& nodes,
                     const std::optional<Duration>& lent, TimePoint now) {
  if (const auto told = FirstEnd(nodes)) slice.lent_until = told;
  if (slice.lent_until || !lent || slice.ref.existing) return;
  slice.lent_until = FirstCreated(slice, nodes, now) + *lent;
}

bool LentTimeIsOver(const Turn& turn) {
  const auto& until = turn.job.slice->lent_until;
  if (!until) return false;
  const Duration lent = turn.job.spec.tpu.max_run_duration.value_or(Duration::max());
  return turn.now + std::min(kClockSkew, lent / kLeadPart) >= *until;
}

std::string HowItRanOut(const Turn& turn) {
  return "is over: " + LentTime(turn.job) + " ended";
}

std::optional<TimePoint> EndIsToldAt(const Job& job) {
  if (!job.slice || !job.slice->lent_until) return std::nullopt;
  const Duration lent = job.spec.tpu.max_run_duration.value_or(Duration::max());
  const Duration lead = job.spec.command.on_notice.grace + kToBeTold;
  return *job.slice->lent_until - std::min(lead, lent / kLeadPart);
}

std::optional<Notice> NoticeOfEnd(const Turn& turn) {
  const auto due = EndIsToldAt(turn.job);
  if (!due || turn.now < *due) return std::nullopt;
  return Notice{.kind = Notice::Kind::kPreemption,
                .imminent = true,
                .text = fmt::format("{} ends at {}", LentTime(turn.job),
                                    base::FormatRfc3339(*turn.job.slice->lent_until))};
}

}  // namespace jobman::core

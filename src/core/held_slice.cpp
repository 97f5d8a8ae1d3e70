#include "jobman/core/held_slice.hpp"

#include "core/json_fields.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::core {

Slice IntendedSlice(SliceRef ref, TimePoint now) {
  Slice slice;
  slice.unshown = NamesOfParts(ref);
  slice.ref = std::move(ref);
  slice.requested_at = now;
  slice.last_evidence_at = now;
  return slice;
}

Slice ExistingSlice(SliceRef ref, TimePoint now) {
  Slice slice = IntendedSlice(std::move(ref), now);
  slice.phase = SlicePhase::kCreated;
  slice.unshown.clear();
  slice.omitted_since = now;  // no listing has shown it: the first look by name is believed
  return slice;
}

std::string CureOf(const SliceRef& slice, const DeleteRefused& refused) {
  // Without a reason the advice is a general one, and no use to somebody who pays for the slice.
  const bool fits = refused.error.reason != base::Reason::kNone ||
                    refused.error.code == base::Code::kUnauthenticated ||
                    refused.error.code == base::Code::kPermissionDenied;
  if (fits && !refused.error.hint.empty()) return refused.error.hint;
  const bool queued = slice.mode == AllocationMode::kQueuedResources;
  const bool passes = refused.error.code == base::Code::kAborted;
  return std::string(passes ? "something else is changing it, and jobman tries again; if that "
                              "lasts, "
                            : "") +
         "delete it by hand, which jobman notices: gcloud compute tpus " +
         (queued ? "queued-resources" : "tpu-vm") + " delete " + NamesOfParts(slice).front() +
         " --zone " + slice.place.zone + " --project " + slice.place.project;
}

bool IsHeld(const Slice& slice) {
  return slice.phase == SlicePhase::kCreated && !slice.hosts.empty();
}

HostPosition PositionOf(const Slice& slice, int host) {
  HostPosition position{.host = host};
  while (position.node + 1 < static_cast<int>(slice.nodes.size())) {
    const int here = slice.nodes[static_cast<std::size_t>(position.node)].hosts;
    if (position.host < here) break;
    position.host -= here;
    ++position.node;
  }
  const auto index = static_cast<std::size_t>(position.node);
  position.node_id = NodeId(slice.ref, position.node);
  if (index < slice.nodes.size()) position.node_uid = slice.nodes[index].uid;
  return position;
}

std::string_view SlicePhaseName(SlicePhase phase) {
  switch (phase) {
    case SlicePhase::kIntended:
      return "intended";
    case SlicePhase::kCreated:
      return "created";
    case SlicePhase::kDeleting:
      return "deleting";
  }
  JM_CHECK(false, "a SlicePhase out of range");
  return {};
}

std::optional<SlicePhase> SlicePhaseFromName(std::string_view name) {
  return FindName(&SlicePhaseName,
                  std::array{SlicePhase::kIntended, SlicePhase::kCreated, SlicePhase::kDeleting},
                  name);
}

}  // namespace jobman::core

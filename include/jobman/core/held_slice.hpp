#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/core/slice.hpp"

namespace jobman::core {

/// How far our own slice has come, in our books. What the cloud shows is another matter (NodeSeen).
enum class SlicePhase {
  kIntended,  ///< the create is recorded and may or may not have been sent
  kCreated,   ///< the API confirmed it, or it was seen
  kDeleting,  ///< the delete is decided
};

/// The cloud does not answer when it is asked about a slice.
struct NoAnswer {
  TimePoint since = {};
  base::Error error = {};
  friend bool operator==(const NoAnswer&, const NoAnswer&) = default;
};

/// A node of our slice, as last seen READY.
struct SliceNode {
  std::string uid = {};  ///< Node.id
  int hosts = 0;
  friend bool operator==(const SliceNode&, const SliceNode&) = default;
};

/// A slice we asked for. Never forgotten before the cloud confirms that it is gone; one that was
/// never seen is watched for even then (AbandonedRequest).
struct Slice {
  SliceRef ref = {};
  SlicePhase phase = SlicePhase::kIntended;
  /// How often its create was decided. With more than one, a refusal may be of one request and the
  /// slice of another.
  int requests_sent = 1;
  std::vector<std::string> operations = {};  ///< of its creation, while they are not done
  std::vector<SliceNode> nodes = {};         ///< as last seen READY, all at once
  std::vector<HostAddress> hosts = {};       ///< of all nodes, in the nodes' order
  int generation = 0;  ///< grows when the machines changed under us: new uid, new addresses
  int absences = 0;    ///< successful lists in a row without it
  int gaps = 0;        ///< ... that show it, but not all of its nodes
  TimePoint requested_at = {};                        ///< when the last create was decided
  std::optional<TimePoint> delete_requested_at = {};  ///< when the last delete was decided
  /// When something last told that it exists, or that more of it does; until then when it was first
  /// requested. Only a call that began later can tell that it does not.
  TimePoint last_evidence_at = {};
  /// Of what was asked for by a call each (PartsOf), the names that no listing has shown yet: when
  /// they are young they may be there all the same.
  std::vector<std::string> unshown = {};
  std::string cloud_state = {};  ///< the API's own word when it was last seen; empty: never seen
  /// READY at the last look, so an unreachable host is the host's own fault.
  bool ready = false;
  std::optional<NoAnswer> no_answer = {};  ///< the last looks failed: nothing is known meanwhile
  std::optional<Notice> notice = {};       ///< what the API announces of it
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// The slice as it is recorded right before its first create request.
Slice IntendedSlice(SliceRef ref, TimePoint now);
/// Usable once: it was created, and its hosts are known.
bool IsHeld(const Slice& slice);

/// A request that was given up before any listing showed anything of it: what it asked for may come
/// late, is looked for until then, and deleted.
struct AbandonedRequest {
  SliceRef ref = {};
  TimePoint until = {};
  friend bool operator==(const AbandonedRequest&, const AbandonedRequest&) = default;
};

/// Where a host of the slice stands.
struct HostPosition {
  int node = 0;  ///< which of the slice's nodes: JOBMAN_SLICE_INDEX
  int host = 0;  ///< its number within that node, as the API counts
  std::string node_id = {};
  std::string node_uid = {};
};
HostPosition PositionOf(const Slice& slice, int host);

/// "intended", "created", "deleting".
std::string_view SlicePhaseName(SlicePhase phase);
std::optional<SlicePhase> SlicePhaseFromName(std::string_view name);

}  // namespace jobman::core

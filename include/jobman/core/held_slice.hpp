#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/core/slice.hpp"

namespace jobman::core {

/// How far a slice has come by our own records. What the cloud shows is in NodeSeen.
enum class SlicePhase {
  kIntended,  ///< the create is recorded and may or may not have been sent
  kCreated,   ///< the API confirmed it, or it was seen
  kDeleting,  ///< the delete is decided
};

/// Every look at the slice since `since` has failed.
struct NoAnswer {
  TimePoint since = {};
  base::Error error = {};
  friend bool operator==(const NoAnswer&, const NoAnswer&) = default;
};

/// The cloud has refused to delete the slice, every time since `since`.
struct DeleteRefused {
  TimePoint since = {};
  int times = 0;
  base::Error error = {};  ///< the last
  friend bool operator==(const DeleteRefused&, const DeleteRefused&) = default;
};
/// Whether the error says that the call was refused and has had no effect. False if it may have
/// arrived all the same, and for "not found".
bool IsRefusal(const base::Error& error);
/// Whether the answer to a delete says that the slice stays, for now or for good.
bool IsRefusedDelete(const base::Error& error);

/// A node of our slice, as last seen READY.
struct SliceNode {
  std::string uid = {};  ///< Node.id
  int hosts = 0;
  friend bool operator==(const SliceNode&, const SliceNode&) = default;
};

/// Which setup: of these machines, and of this Job::setup_epoch.
struct SetupDone {
  int generation = 0;
  int epoch = 0;
  /// The user says so (SetupWish::kSkip), for one attempt: no host is asked.
  bool vouched = false;
  friend bool operator==(const SetupDone&, const SetupDone&) = default;
};

/// A slice we requested. Kept on record until the cloud confirms that it is gone. If it was never
/// seen, it is watched for even after that (AbandonedRequest). Or a node of the user's
/// (SliceRef::existing), on record as long as the job uses it.
struct Slice {
  SliceRef ref = {};
  SlicePhase phase = SlicePhase::kIntended;
  /// How often its create was decided. If more than once, one request may be refused although
  /// another created the slice.
  int requests_sent = 1;
  std::vector<std::string> operations = {};  ///< pending create operations
  std::vector<SliceNode> nodes = {};         ///< as last seen when all were READY
  std::vector<HostAddress> hosts = {};       ///< of all nodes, in node order
  int generation = 0;  ///< grows when machines are replaced: new uid, new addresses
  int absences = 0;    ///< complete listings in a row without it
  int gaps = 0;        ///< complete listings in a row without some of its nodes
  /// When the first listing began that omitted it; since then none has shown any of it. A "not
  /// found" that was asked for before is older than what was shown.
  std::optional<TimePoint> omitted_since = {};
  /// The same for a part of it, or a listing that showed it as lost: none has shown it whole since.
  std::optional<TimePoint> lacking_since = {};
  /// Asked by name, the cloud does not know it, or a node of it, since then.
  std::optional<TimePoint> not_found_since = {};
  TimePoint requested_at = {};                        ///< when the last create was decided
  std::optional<TimePoint> delete_requested_at = {};  ///< when the last delete was decided
  std::optional<DeleteRefused> delete_refused = {};   ///< until a delete is accepted
  /// When it, or another part of it, was last shown to exist; before that, when it was first
  /// requested. Only a call that began later can show that it does not exist.
  TimePoint last_evidence_at = {};
  /// Names of the parts (PartsOf) that no listing has shown yet. New ones may exist all the same.
  std::vector<std::string> unshown = {};
  std::string cloud_state = {};  ///< the API's state at the last sighting; empty: never seen
  /// READY at the last look, so an unreachable host is the host's own fault.
  bool ready = false;
  /// Since then the API calls a READY node of it unhealthy, and not for maintenance.
  std::optional<TimePoint> unhealthy_since = {};
  std::optional<NoAnswer> no_answer = {};  ///< set while looks fail
  /// Hosts that did not answer when the command was stopped. It may still run there, so no other
  /// attempt uses this slice.
  std::vector<int> unstopped = {};
  std::optional<Notice> notice = {};  ///< announced by the API
  /// When the cloud takes it away, since it lent it for tpu.max_run_duration only.
  std::optional<TimePoint> lent_until = {};
  /// All setup steps succeeded on it, and none is optional: another attempt begins with the
  /// command, which starts on no host that was restarted since.
  std::optional<SetupDone> setup_done = {};
  /// Attempts in a row that ended because a host had lost its setup.
  int lapses = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// The slice as it is recorded right before its first create request.
Slice IntendedSlice(SliceRef ref, TimePoint now);
/// A node of the user's, right before it is looked for.
Slice ExistingSlice(SliceRef ref, TimePoint now);
/// What the user can do about a delete that is refused.
std::string CureOf(const SliceRef& slice, const DeleteRefused& refused);
/// Created, with known hosts: it was READY at least once.
bool IsHeld(const Slice& slice);

/// A request abandoned before any listing showed its slice. The slice may still be created: it is
/// looked for until then, and deleted if it appears.
struct AbandonedRequest {
  SliceRef ref = {};
  TimePoint until = {};
  std::optional<DeleteRefused> delete_refused = {};  ///< it appeared, and cannot be deleted
  friend bool operator==(const AbandonedRequest&, const AbandonedRequest&) = default;
};

/// The position of a host in the slice.
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

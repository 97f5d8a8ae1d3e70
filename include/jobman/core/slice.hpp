#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/core/job_spec.hpp"

namespace jobman::core {

/// Node.state of the Cloud TPU API v2; kUnknown for a word this program does not know.
enum class NodeState {
  kUnspecified,
  kCreating,
  kReady,
  kRestarting,
  kReimaging,
  kDeleting,
  kRepairing,
  kStopped,
  kStopping,
  kStarting,
  kPreempted,
  kTerminated,
  kHiding,
  kHidden,
  kUnhiding,
  kUnknown,
};

/// QueuedResourceState.state of the Cloud TPU API v2.
enum class QueuedState {
  kUnspecified,
  kCreating,
  kAccepted,
  kProvisioning,
  kFailed,
  kDeleting,
  kActive,
  kSuspending,
  kSuspended,
  kWaitingForResources,
  kUnknown,
};

/// From the API's words, "READY", "WAITING_FOR_RESOURCES"; kUnknown for others.
NodeState NodeStateFromName(std::string_view name);
QueuedState QueuedStateFromName(std::string_view name);

/// A zone of a project.
struct Place {
  std::string project = {};
  std::string zone = {};
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// The two addresses of a host; `external` is empty without an external IP.
struct HostAddress {
  std::string internal = {};
  std::string external = {};
  friend bool operator==(const HostAddress&, const HostAddress&) = default;
};
/// The one of the two that the job's `ssh.address` chooses. A host without an external address, or
/// of a job that wants none (`tpu.external_ips`), is reached at its internal one.
const std::string& ChosenAddress(const HostAddress& host, const JobSpec& spec);

/// An announcement by the cloud that it will take machines away.
struct Notice {
  enum class Kind { kMaintenance, kPreemption };
  Kind kind = Kind::kMaintenance;
  bool imminent = false;  ///< happening now: the command is signalled, not just told
  std::string text = {};  ///< "TERMINATE_ON_HOST_MAINTENANCE", "SCHEDULED, PENDING, from <time>"
  friend bool operator==(const Notice&, const Notice&) = default;
};
/// "maintenance", "preemption".
std::string_view NoticeKindName(Notice::Kind kind);
std::optional<Notice::Kind> NoticeKindFromName(std::string_view name);

/// A node as the API showed it.
struct NodeSeen {
  std::string id = {};  ///< last part of Node.name
  std::string zone = {};
  std::string uid = {};  ///< Node.id: differs when a name is reused
  NodeState state = NodeState::kUnspecified;
  std::string raw_state = {};
  std::string health = {};
  std::string accelerator = {};
  std::string queued_resource = {};  ///< last part of Node.queuedResource
  std::map<std::string, std::string> labels = {};
  std::vector<HostAddress> hosts = {};  ///< networkEndpoints, in worker order
  std::string create_time = {};
  std::optional<Notice> notice = {};  ///< upcomingMaintenance
  /// schedulingConfig.terminationTimestamp, which only v2alpha1 shows.
  std::optional<base::TimePoint> ends_at = {};
  bool spot = false;
  bool reserved = false;  ///< of a reservation
  /// What its metadata say of OS Login (enable-oslogin); nothing: what the project's say counts.
  std::optional<bool> os_login = {};
};

/// A queued resource as the API showed it.
struct QueuedSeen {
  std::string id = {};
  std::string zone = {};
  QueuedState state = QueuedState::kUnspecified;
  std::string raw_state = {};
  std::optional<base::Error> failure = {};         ///< state.failedData.error
  std::map<std::string, std::string> labels = {};  ///< of the first node spec
  std::string create_time = {};
};

/// Names what an attempt requests: one node, or the nodes of a multislice. A queued resource has
/// the same name.
struct SliceRef {
  AllocationMode mode = AllocationMode::kQueuedResources;
  Place place = {};
  std::string name = {};
  int nodes = 1;  ///< `tpu.num_slices`
  /// `tpu.existing`: the user's own node, which is used and never deleted.
  bool existing = false;
  friend bool operator==(const SliceRef&, const SliceRef&) = default;
};

/// Everything a create call needs.
struct SliceRequest {
  SliceRef ref = {};
  /// `labels` include ours; `metadata` the startup script and, added by the executor, ssh-keys.
  TpuSpec tpu = {};
  friend bool operator==(const SliceRequest&, const SliceRequest&) = default;
};

/// A long-running operation of the API.
struct OperationSeen {
  std::string name = {};  ///< projects/P/locations/Z/operations/ID
  bool done = false;
  std::optional<base::Error> error = {};
  std::string node = {};  ///< the id of its target node (metadata.target), if any
};

/// A reservation as the API showed it (reservations.list of v2alpha1).
struct ReservationSeen {
  enum class Unit { kUnknown, kChips, kCores };
  std::string id = {};     ///< last part of Reservation.name
  std::string state = {};  ///< the API's word: "ACTIVE"
  Unit unit = Unit::kUnknown;
  std::int64_t size = 0;  ///< in `unit`; 0: not told
  std::int64_t used = 0;  ///< standard.usage.total, in `unit`
  friend bool operator==(const ReservationSeen&, const ReservationSeen&) = default;
};

/// The host keys that GuestAttributes report for one host.
struct HostKeys {
  int host = 0;
  std::map<std::string, std::string> keys = {};  ///< "ssh-ed25519" -> base64 of the public key
};

}  // namespace jobman::core

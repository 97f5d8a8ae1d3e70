#pragma once

#include <map>
#include <set>
#include <string>

#include "jobman/base/result.hpp"
#include "sim/wire/paging.hpp"

namespace jobman::sim {

/// How long the steps of the service take: short, but long enough to be observed.
struct Delays {
  Duration accept{50};        ///< queued resource: CREATING to queued; its create operation ends
  Duration queue{200};        ///< queued resource: queued although there is capacity
  Duration provision{300};    ///< node of a queued resource: CREATING to READY
  Duration create{300};       ///< node without a queued resource: CREATING to READY
  Duration remove{200};       ///< node or queued resource: DELETING to gone
  Duration suspend{200};      ///< queued resource: SUSPENDING to SUSPENDED
  Duration start{300};        ///< STARTING to READY
  Duration stop{200};         ///< STOPPING to STOPPED
  Duration update{0};         ///< operation of a patch
  Duration reset{300};        ///< RESTARTING to READY
  Duration maintenance{500};  ///< how long maintenance that was asked for lasts
};

/// Open questions about the real service, each with a guess as default.
struct Guesses {
  /// The state of a waiting queued resource: the documentation says that WAITING_FOR_RESOURCES
  /// "replaced the ACCEPTED state".
  std::string queue_state = "WAITING_FOR_RESOURCES";
  /// Whether the nodes of a SUSPENDED queued resource stay visible (PREEMPTED) until it is deleted.
  bool suspended_keeps_nodes = false;
  /// Whether a queued resource holds quota while it waits.
  bool waiting_holds_quota = true;
  /// Whether a second queuedResources.create with the same requestId returns the first operation.
  bool request_id_deduplicates = true;
  /// Whether queuedResources.list accepts the zone "-".
  bool queued_zone_wildcard = true;
  /// The type of an operation's metadata: this one is in recordings, but Google's client libraries
  /// know only google.cloud.tpu.v2.OperationMetadata, of the version they call.
  std::string operation_metadata = "google.cloud.common.OperationMetadata";
  /// How long a new node or queued resource answers 404 and is not listed.
  Duration create_visible_after{0};
  /// The error of queuedResources.delete without force while there are nodes.
  std::string force_needed =
      "Queued resource has nodes; delete the nodes first or set force to true.";
  /// The errors of stop and start on a pod slice, and on a spot or preemptible node.
  std::string stop_refused = "stop and start are only available for single-host nodes";
  std::string spot_stop_refused = "stop and start are not available for spot and preemptible nodes";
};

/// Settings of the service, at `up` and while it runs.
struct Settings {
  Delays delays = {};
  Guesses guesses = {};
  /// "ZONE/FAMILY" or "ZONE/FAMILY-spot" (ZONE may be "*") to the limit in the service's unit:
  /// cores for v2, v3, v4 and v5p, chips for v5litepod and v6e. Absent: no limit.
  std::map<std::string, std::int64_t> quota = {};
  /// "ZONE/TYPE" or "ZONE/FAMILY" (ZONE may be "*") to the number of chips. Absent: unlimited.
  std::map<std::string, std::int64_t> stock = {};
  /// "COLLECTION/METHOD" (with * and ?) to the requests a minute that a project may send.
  std::map<std::string, std::int64_t> requests_per_minute = {};
  /// "ZONE/RESERVATION" to its number of chips, for reservations.list.
  std::map<std::string, std::int64_t> reservations = {};
  /// "ZONE/TYPE" to the number of hosts: types that are offered besides those of the catalogue.
  std::map<std::string, std::int64_t> types = {};
  /// External addresses that a project may use in a region, as the Compute API says; nothing is
  /// refused for them.
  std::int64_t addresses = 4096;
  /// GB of disks that a project may use in a region, of each kind, likewise.
  std::int64_t disk_gb = 409600;
  std::set<std::string> denied_zones = {};  ///< 403 LOCATION_POLICY_VIOLATED
  PageSizes pages = {};
  bool loose = false;  ///< what the schema refuses in requests is ignored instead
};

/// All settings, in the form ApplySettings takes.
Json ToJson(const Settings& settings);
/// Changes the settings named in `patch`; nothing if any of them is invalid. Durations are written
/// "250ms" or "2s"; a bare number is seconds. A null entry of a map removes it.
base::Status ApplySettings(Settings& settings, const Json& patch);
/// "delays.create=2s" as a patch for ApplySettings. A value that is not JSON is text.
base::Result<Json> SettingPatch(const std::string& assignment);

}  // namespace jobman::sim

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// How long the steps of the simulated service take. Short, but long enough to be seen.
struct Delays {
  Duration accept{50};      ///< queued resource: CREATING to the queue; its create operation ends
  Duration queue{200};      ///< queued resource: in the queue although there is capacity
  Duration provision{300};  ///< node of a queued resource: CREATING to READY
  Duration create{300};     ///< node of its own: CREATING to READY
  Duration remove{200};     ///< node or queued resource: DELETING to gone
  Duration suspend{200};    ///< queued resource: SUSPENDING to SUSPENDED
  Duration start{300};      ///< STARTING to READY
  Duration stop{200};       ///< STOPPING to STOPPED
  Duration update{0};       ///< a patch's operation
  Duration reset{300};      ///< RESTARTING to READY
};

/// What the real service does is not known here; each is a setting instead of a guess in code.
struct Guesses {
  /// The state of a queued resource in the queue: the documentation says that the second
  /// "replaced the ACCEPTED state".
  std::string queue_state = "WAITING_FOR_RESOURCES";
  /// Whether the nodes of a SUSPENDED queued resource stay readable (PREEMPTED) until it is
  /// deleted.
  bool suspended_keeps_nodes = false;
  /// Whether a queued resource holds quota while it waits.
  bool waiting_holds_quota = true;
  /// Whether a second queuedResources.create with the same requestId answers as the first did.
  bool request_id_deduplicates = true;
  /// Whether queuedResources.list accepts the zone "-".
  bool queued_zone_wildcard = true;
  /// How long a queued resource that was just created answers 404 to get.
  Duration create_visible_after{0};
  /// The refusal of queuedResources.delete without force while there are nodes.
  std::string force_needed =
      "Queued resource has nodes; delete the nodes first or set force to true.";
  /// The refusal of stop and start on a pod slice, and on a spot or preemptible node.
  std::string stop_refused = "stop and start are only available for single-host nodes";
  std::string spot_stop_refused = "stop and start are not available for spot and preemptible nodes";
};

/// Everything about the simulated service that can be chosen, at `up` and while it runs.
struct Settings {
  Delays delays = {};
  Guesses guesses = {};
  /// "ZONE/FAMILY" or "ZONE/FAMILY-spot" (ZONE may be "*") to the limit in the service's unit:
  /// cores for v2, v3, v4 and v5p, chips for v5litepod and v6e. Absent: no limit.
  std::map<std::string, std::int64_t> quota = {};
  /// "ZONE/TYPE" or "ZONE/FAMILY" (ZONE may be "*") to the chips there are. Absent: enough.
  std::map<std::string, std::int64_t> stock = {};
  std::set<std::string> denied_zones = {};  ///< 403 LOCATION_POLICY_VIOLATED
  std::int64_t page_size = 0;               ///< entries in a page when none is asked; 0: all
  std::int64_t max_page_size = 1000;        ///< more than this is never given at once
  std::string token = {};                   ///< the only bearer token accepted; empty: none needed
};

/// All settings, in the form that ApplySettings takes.
Json ToJson(const Settings& settings);
/// Takes over what `patch` names, and nothing when anything in it is wrong. Durations are written
/// "250ms" or "2s"; a bare number is seconds. A null entry in a map removes it.
base::Status ApplySettings(Settings& settings, const Json& patch);
/// "delays.create=2s" as a patch for ApplySettings. The value is JSON, or else text.
base::Result<Json> SettingPatch(const std::string& assignment);

}  // namespace jobman::sim

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/core/accelerators.hpp"
#include "sim/cloud/catalogue.hpp"
#include "sim/cloud/operations.hpp"
#include "sim/hosts/host_fleet.hpp"
#include "sim/wire/api_error.hpp"
#include "sim/wire/route.hpp"

namespace jobman::sim {

/// Node.State of the API.
enum class NodeState {
  kCreating,
  kReady,
  kRestarting,
  kRepairing,
  kStopping,
  kStopped,
  kStarting,
  kPreempted,
  kTerminated,
  kDeleting,
};
std::string_view NodeStateName(NodeState state);

struct NodeHost {
  HostPlan plan = {};
  std::string public_key = {};  ///< base64 of the ed25519 host key
  bool running = false;
  bool cut = false;   ///< running, but unreachable
  bool hung = false;  ///< running, but new commands do not begin
  HostFaultKind fault = HostFaultKind::kNone;
};

/// Events announced to the hosts of a node.
struct UpcomingEvents {
  bool preemption = false;  ///< `instance/preempted`
  Json maintenance = {};    ///< `upcomingMaintenance` of the node; null: none
  friend bool operator==(const UpcomingEvents&, const UpcomingEvents&) = default;
};

/// A node to be created.
struct NodePlan {
  ResourceKey key = {};
  Json spec = Json::object();              ///< what the user sent, read by the schema
  std::string version = {};                ///< API version that creates it
  bool spot = false;                       ///< spot or preemptible
  std::optional<ResourceKey> queued = {};  ///< the queued resource that creates it
  bool multislice = false;
  std::optional<ApiError> error = {};  ///< the creation ends with it, as in a stockout
  bool stalled = false;                ///< never becomes READY
  bool foreign = false;                ///< made by the simulator as somebody else
};

struct Node : NodePlan {
  std::string uid = {};  ///< decimal, never reused
  core::Accelerator shape = {};
  TimePoint created = {};
  NodeState state = NodeState::kCreating;
  std::vector<NodeHost> hosts = {};
  UpcomingEvents upcoming = {};
  std::string health = {};  ///< instead of HEALTHY
  std::string health_why = {};
  std::optional<TimePoint> ends_at = {};  ///< its run duration is over
  Json overlay = Json::object();          ///< fields that replace the real ones: the verb `show`

  Operations::Key operation = {};  ///< of the change in progress
  int change = 0;                  ///< counts changes; events of an earlier one are ignored
  bool booting = false;
  bool delay_over = false;  ///< of the current boot
  bool booted = false;      ///< every host of the current boot is reachable
};

/// The accelerator that the Node of a request specifies.
base::Result<core::Accelerator> ShapeOf(const Json& spec, const std::string& zone,
                                        const MoreTypes& more);
/// Why the Node of a request cannot be created in this zone, if so.
std::optional<ApiError> CheckNodeSpec(const Json& spec, const std::string& zone,
                                      const MoreTypes& more);
bool IsSpot(const Json& spec);
/// The metadata of a Node; values that are not strings are left out.
Metadata MetadataOf(const Json& spec);
/// Whether a node in this state holds chips. A PREEMPTED or STOPPED one holds quota only.
bool HoldsChips(NodeState state);

/// `upcomingMaintenance` of a node, an hour long.
Json UpcomingMaintenance(const Node& node, TimePoint start);

/// The node as GET shows it.
Json RenderNode(const Node& node);
/// RenderNode as the `response` of an operation, with its "@type".
Json NodeResponse(const Node& node);

}  // namespace jobman::sim

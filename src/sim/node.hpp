#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/core/accelerators.hpp"
#include "sim/errors.hpp"
#include "sim/fleet.hpp"
#include "sim/operations.hpp"
#include "sim/route.hpp"
#include "sim/wire.hpp"

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
  bool cut = false;  ///< it runs, and nobody can reach it
};

/// What the machines of a node are told about what is to come.
struct Notice {
  bool preempted = false;    ///< `instance/preempted`
  bool maintenance = false;  ///< `instance/maintenance-event`
  Json upcoming = {};        ///< `upcomingMaintenance`, on the node too; null: none
  friend bool operator==(const Notice&, const Notice&) = default;
};

/// One node as the simulator keeps it.
struct Node {
  ResourceKey key = {};
  std::string uid = {};        ///< decimal, never used again
  Json spec = Json::object();  ///< what the user sent, output-only fields removed
  core::Accelerator shape = {};
  bool spot = false;         ///< spot or preemptible
  std::string version = {};  ///< API version that created it
  TimePoint created = {};
  NodeState state = NodeState::kCreating;
  std::vector<NodeHost> hosts = {};
  std::optional<ResourceKey> queued = {};  ///< the queued resource that asked for it
  bool multislice = false;
  Notice notice = {};
  std::string health = {};  ///< instead of HEALTHY
  std::string health_why = {};
  bool foreign = false;           ///< made by the simulator, as if somebody else had
  Json overlay = Json::object();  ///< fields set by hand over the rendered ones, for rehearsals

  Operations::Key operation = {};  ///< that the present change belongs to
  int change = 0;                  ///< counts changes: an event of an older one is ignored
  bool stalled = false;            ///< the delay of a boot is never over
  bool booting = false;
  bool delay_over = false;            ///< of the present boot
  bool booted = false;                ///< every host of the present boot can be reached
  std::optional<ApiError> doom = {};  ///< ends the creation instead of READY: no capacity
};

/// Checks a Node of a request against the catalogue and takes it apart. `key` names it.
base::Result<core::Accelerator> ShapeOf(const Json& spec);
/// What is wrong with the Node of a request in this zone; nothing when it can be created.
std::optional<ApiError> CheckNodeSpec(const Json& spec, const std::string& zone);
/// The user's part of a Node of a request.
Json UserFields(const Json& node);
bool IsSpot(const Json& spec);
/// The metadata map of a Node; values that are no strings are left out.
Metadata MetadataOf(const Json& spec);
/// Whether nodes in this state hold chips. A PREEMPTED or STOPPED node holds quota only.
bool HoldsChips(NodeState state);

/// The node as GET shows it.
Json RenderNode(const Node& node);
/// RenderNode with the "@type" that an operation's response carries.
Json NodeResponse(const Node& node);

}  // namespace jobman::sim

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/errors.hpp"
#include "sim/fleet.hpp"
#include "sim/node.hpp"
#include "sim/operations.hpp"
#include "sim/route.hpp"
#include "sim/settings.hpp"
#include "sim/timeline.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// What the parts of the world share. Everything outlives the parts.
struct Context {
  const Settings& settings;
  Timeline& timeline;
  Operations& operations;
  HostFleet& fleet;
};

/// A node to be created.
struct NodePlan {
  ResourceKey key = {};
  Json spec = Json::object();  ///< checked by CheckNodeSpec
  std::string version = {};
  bool spot = false;
  std::optional<ResourceKey> queued = {};
  bool multislice = false;
  std::optional<ApiError> doom = {};  ///< ends the creation with this error
  bool stalled = false;               ///< never gets READY
  bool foreign = false;               ///< nobody asked for it
};

/// The nodes and their states. Knows nothing of queued resources but the name in a node.
class Nodes {
 public:
  explicit Nodes(Context context) : context_(context) {}

  /// Called after every change of a node's state, also when one is gone.
  void OnChange(std::function<void(TimePoint)> changed) { changed_ = std::move(changed); }

  /// Called when something that the machines can read on their metadata server has changed.
  void OnGuestChange(std::function<void()> changed) { guest_changed_ = std::move(changed); }

  // What the API's methods do, after their arguments were checked. `version` names the API's.

  /// CREATING at once; the operation ends with READY, or with the plan's doom.
  Operations::Key Create(const NodePlan& plan, TimePoint now);
  /// The same without an operation, READY after `delay`: a node of a queued resource.
  Node& Add(const NodePlan& plan, Duration delay, TimePoint now);
  Operations::Key Delete(Node& node, const std::string& version, TimePoint now);
  Reply Patch(Node& node, const Request& request, const std::string& version, TimePoint now);
  Reply StartOrStop(Node& node, bool start, const std::string& version, TimePoint now);
  Reply GuestAttributes(const Node& node, const Request& request) const;

  // What the service does by itself.

  /// Everything on the node dies; the record stays as PREEMPTED.
  void Preempt(Node& node, TimePoint now);
  /// The same, but no connection ends: packets to the machines are lost for a time, as when a host
  /// of them loses its power.
  void PreemptSilently(Node& node, Duration time, TimePoint now);
  /// The machines end, and the node stays in this state.
  void End(Node& node, NodeState state, TimePoint now);
  /// The same with another state before it, for a time.
  void End(Node& node, NodeState via, Duration time, NodeState state, TimePoint now);
  /// All hosts off and on again with a new boot, disks intact.
  void Restart(Node& node, TimePoint now);
  /// REPAIRING for a time, and then the same machines again.
  void Repair(Node& node, Duration time, TimePoint now);
  /// READY but UNHEALTHY_MAINTENANCE for a time, and then other external addresses.
  void Maintain(Node& node, Duration time, TimePoint now);
  /// STARTING, then READY, with other external addresses.
  void Start(Node& node, TimePoint now);
  /// Tells the machines what is to come.
  void Announce(Node& node, const Notice& notice);
  /// DELETING at once and gone after the delete delay, without an operation.
  void Remove(Node& node, TimePoint now);
  /// Gone at once.
  void Erase(ResourceKey key, TimePoint now);

  // What happens to one machine; the API shows nothing of it.

  void KillHost(Node& node, std::size_t index);
  /// Switches a dead machine on again.
  void BootHost(Node& node, std::size_t index);
  void LinkHost(Node& node, std::size_t index, Link link);

  /// There is no capacity where `where` ("us-central2-b/v4", with * and ?) fits, until then.
  void DryUp(const std::string& where, TimePoint until);
  /// Takes back all that is wrong with capacity, machines and notices.
  void Calm(TimePoint now);

  /// The hosts of boot `boot` of a node can be reached, or never will be.
  void HostsBooted(const std::string& uid, int boot, TimePoint now);
  void HostsFailed(const std::string& uid, int boot, const std::string& why, TimePoint now);

  Node* Find(const ResourceKey& key);
  const std::map<ResourceKey, Node>& all() const { return nodes_; }
  std::map<ResourceKey, Node>& all() { return nodes_; }
  /// Whether the stock has `chips` of this shape free in the zone.
  bool HasCapacity(const core::Accelerator& shape, const std::string& zone, int count) const;

 private:
  Operations::Key Begin(const Node& node, const char* verb, const std::string& version,
                        TimePoint now);
  /// Ends the operation of an unfinished change: another change takes its place.
  void Abort(Node& node, TimePoint now);
  void AddHosts(Node& node);
  void Boot(Node& node, Duration delay, TimePoint now);
  void PowerOff(Node& node);
  void NewExternalAddresses(Node& node);
  void CalmNode(Node& node, TimePoint now);
  void Finish(Node& node, TimePoint now);
  void SetState(Node& node, NodeState state, TimePoint now);
  /// Runs `event` at `due` unless the node changed again before.
  void Later(const Node& node, TimePoint due, std::function<void(Node&, TimePoint)> event);
  Node* FindByUid(const std::string& uid);
  static constexpr int kInternalBlock = 16;   ///< 127.16.0.1 and up
  static constexpr int kExternalBlock = 128;  ///< 127.128.0.1 and up
  std::string NextAddress(int first_block);

  Context context_;
  std::map<ResourceKey, Node> nodes_ = {};
  std::function<void(TimePoint)> changed_ = [](TimePoint) {};
  std::function<void()> guest_changed_ = [] {};
  std::map<std::string, TimePoint> droughts_ = {};
  std::set<std::string> stems_ = {};  ///< of host names, also of nodes that are gone
  std::int64_t uid_count_ = 0;
  std::uint32_t address_count_ = 0;
};

}  // namespace jobman::sim

#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/cloud/node.hpp"
#include "sim/cloud/settings.hpp"
#include "sim/cloud/timeline.hpp"
#include "sim/wire/request.hpp"

namespace jobman::sim {

/// Shared by NodeRegistry and ResourceQueue; outlives them.
struct CloudContext {
  const Settings& settings;
  Timeline& timeline;
  Operations& operations;
  HostFleet& fleet;
};

/// Metadata of all hosts of a project, of the Compute API.
struct ProjectMetadata {
  Metadata items = {};
  std::int64_t changes = 0;
};

/// All nodes, and their state machine. Knows of queued resources only the name stored in a node.
///
/// node_registry.cpp: finding, creating, deleting, capacity; node_lifecycle.cpp: booting, endings
/// and interruptions; node_methods.cpp: methods of the API on one node.
class NodeRegistry {
 public:
  explicit NodeRegistry(CloudContext context) : context_(context) {}

  /// Called after every change of a node's state, and when one has been removed.
  void OnChange(std::function<void(TimePoint)> changed) { changed_ = std::move(changed); }

  /// Called when metadata that hosts can read has changed.
  void OnGuestChange(std::function<void()> changed) { guest_changed_ = std::move(changed); }

  // Called by the methods of the API after checking the arguments. `version` is the API's.

  /// CREATING at once. The operation ends at READY, or with the plan's error.
  Operations::Key Create(const NodePlan& plan, TimePoint now);
  /// The same without an operation: a node of a queued resource, READY after `delay`.
  Node& Add(const NodePlan& plan, Duration delay, TimePoint now);
  Operations::Key Delete(Node& node, const std::string& version, TimePoint now);
  /// `mask` is updateMask, `body` a Node.
  Reply Patch(Node& node, const std::string& mask, const Json& body, const std::string& version,
              TimePoint now);
  Reply StartOrStop(Node& node, bool start, const std::string& version, TimePoint now);
  Reply GuestAttributes(const Node& node, const Json& body) const;

  Reply PerformMaintenance(Node& node, const std::string& version, TimePoint now);
  Reply SimulateMaintenance(Node& node, const Json& body, const std::string& version,
                            TimePoint now);

  // Done by the service itself.

  /// Everything on the node ends; it stays as PREEMPTED.
  void Preempt(Node& node, TimePoint now);
  /// The same without closing connections: for `time`, packets to its hosts are lost.
  void PreemptSilently(Node& node, Duration time, TimePoint now);
  /// The hosts end, and the node stays in `state`.
  void End(Node& node, NodeState state, TimePoint now);
  /// The same, showing the state `via` for `time` first.
  void End(Node& node, NodeState via, Duration time, NodeState state, TimePoint now);
  /// Restarts all hosts, with a new boot id and their disks.
  void Restart(Node& node, TimePoint now);
  /// REPAIRING for `time`, then the same hosts again.
  void Repair(Node& node, Duration time, TimePoint now);
  /// READY but UNHEALTHY_MAINTENANCE for `time`, then other external addresses.
  void Maintain(Node& node, Duration time, TimePoint now);
  /// The same at once, for as long as delays.maintenance, announced if it was not.
  void MaintainNow(Node& node, TimePoint now);
  /// STARTING, then READY, with other external addresses.
  void Start(Node& node, TimePoint now);
  void Announce(Node& node, const UpcomingEvents& events);
  /// DELETING at once and removed after the delete delay, without an operation.
  void Remove(Node& node, TimePoint now);
  /// Removed at once.
  void Erase(ResourceKey key, TimePoint now);

  // What happens to one host; the API shows nothing of it.

  void KillHost(Node& node, std::size_t index);
  /// Switches a killed host back on.
  void BootHost(Node& node, std::size_t index);
  /// kMended ends a fault too.
  void SetHostLink(Node& node, std::size_t index, Link link);
  /// Why hosts cannot have such a fault here, if so.
  base::Status MayFail(HostFaultKind kind) const;
  void SetHostFault(Node& node, std::size_t index, const HostFault& fault);

  /// No capacity until then in places that match `where` ("us-central2-b/v4", with * and ?).
  void AddStockout(const std::string& where, TimePoint until);
  /// Ends stockouts and announced events, and repairs hosts.
  void Calm(TimePoint now);

  // The hosts of boot `boot` of a node are reachable, or never will be.

  void HostsBooted(const std::string& uid, int boot, TimePoint now);
  void HostsFailed(const std::string& uid, int boot, const std::string& why, TimePoint now);

  const ProjectMetadata& MetadataOfProject(const std::string& project) const;
  /// Hosts read it, and its ssh-keys can log in, unless the node has block-project-ssh-keys.
  void SetProjectMetadata(const std::string& project, Metadata items);
  /// A line "USER:TYPE DATA COMMENT" of the login profile: hosts under OS Login let it in.
  void AddProfileKey(const std::string& line);
  const std::vector<std::string>& profile_keys() const { return profile_keys_; }

  Node* Find(const ResourceKey& key);
  const std::map<ResourceKey, Node>& all() const { return nodes_; }
  std::map<ResourceKey, Node>& all() { return nodes_; }
  bool HasCapacity(const core::Accelerator& shape, const std::string& zone, int count) const;

 private:
  Operations::Key Begin(const Node& node, const char* verb, const std::string& version,
                        TimePoint now);
  /// Ends the operation of an unfinished change that another one replaces.
  void Abort(Node& node, TimePoint now);
  void AddHosts(Node& node);
  /// The metadata of a node's hosts: its own, with the ssh-keys of the project; under OS Login in
  /// their place the keys of the login profile.
  Metadata HostMetadata(const Node& node) const;
  void UpdateHosts(Node& node);
  /// Gives or takes the external addresses, as the node's networkConfig says.
  void UpdateAddresses(Node& node);
  void Boot(Node& node, Duration delay, TimePoint now);
  void PowerOff(Node& node);
  void NewExternalAddresses(Node& node);
  void CalmNode(Node& node, TimePoint now);
  void Finish(Node& node, TimePoint now);
  void SetState(Node& node, NodeState state, TimePoint now);
  /// Runs `event` at `due` unless the node changes before.
  void Later(const Node& node, TimePoint due, std::function<void(Node&, TimePoint)> event);
  Node* FindByUid(const std::string& uid);
  static constexpr int kInternalBlock = 16;   ///< 127.16.0.1 and up
  static constexpr int kExternalBlock = 128;  ///< 127.128.0.1 and up
  std::string NextAddress(int first_block);

  CloudContext context_;
  std::map<ResourceKey, Node> nodes_ = {};
  std::function<void(TimePoint)> changed_ = [](TimePoint) {};
  std::function<void()> guest_changed_ = [] {};
  std::map<std::string, TimePoint> stockouts_ = {};
  std::map<std::string, ProjectMetadata> projects_ = {};
  std::vector<std::string> profile_keys_ = {};  ///< lines as in ssh-keys
  std::set<std::string> stems_ = {};            ///< of host names, also of removed nodes
  std::int64_t uid_count_ = 0;
  std::uint32_t address_count_ = 0;
};

}  // namespace jobman::sim

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/faults.hpp"
#include "sim/fleet.hpp"
#include "sim/guest_request.hpp"
#include "sim/nodes.hpp"
#include "sim/operations.hpp"
#include "sim/orders.hpp"
#include "sim/queued.hpp"
#include "sim/request_log.hpp"
#include "sim/route.hpp"
#include "sim/settings.hpp"
#include "sim/timeline.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// The Cloud TPU service as a calculator: requests and the time go in, replies and orders to the
/// fleet come out. No clock, no thread, no socket. Calls must not overlap.
class World {
 public:
  World(Settings settings, HostFleet& fleet);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Answers one request of the Cloud TPU API, of the Compute API's project get, or of the
  /// simulator's own paths under /sim/.
  Reply Handle(const Request& request, TimePoint now);
  /// Lets everything happen that is due.
  void Advance(TimePoint now);
  /// When Advance has something to do next.
  std::optional<TimePoint> NextDue() const { return timeline_.NextDue(); }

  // Reports of the fleet.
  void HostsBooted(const std::string& uid, int boot, TimePoint now);
  void HostsFailed(const std::string& uid, int boot, const std::string& why, TimePoint now);

  /// What the machine with this address reads on its metadata server.
  GuestReply Guest(const std::string& address, const GuestRequest& request) const;
  /// Called when a machine could read something else than before.
  void OnGuestChange(std::function<void()> changed) { nodes_.OnGuestChange(std::move(changed)); }
  /// Called when the API shall not be reachable for a time.
  void OnUnplug(std::function<void(Duration)> unplug) { orders_.OnUnplug(std::move(unplug)); }

  /// Nodes, queued resources and hosts as `jobman-sim status` shows them.
  Json Status(TimePoint now) const;
  const Settings& settings() const { return settings_; }

 private:
  struct Call {
    Request request = {};
    Route route = {};
    std::string method = {};
    std::optional<Fault> fault = {};  ///< for what the call begins
    bool Is(Fault::Kind kind) const { return fault && fault->kind == kind; }
  };
  using Method = Reply (World::*)(const Call&, TimePoint);
  static const std::map<std::string, Method>& Methods();

  Reply Answer(const Request& request, std::string& method, TimePoint now);
  Reply CallApi(Call call, TimePoint now);
  Reply Control(const Request& request, TimePoint now);
  Reply ComputeProject(const Request& request) const;
  /// 401, 400 and 403 that come before any method looks at its arguments.
  std::optional<ApiError> Gate(const Call& call) const;

  Reply ListLocations(const Call& call, TimePoint now);
  Reply GetLocation(const Call& call, TimePoint now);
  Reply GenerateIdentity(const Call& call, TimePoint now);
  Reply ListTypes(const Call& call, TimePoint now);
  Reply GetType(const Call& call, TimePoint now);
  Reply ListRuntimes(const Call& call, TimePoint now);
  Reply GetRuntime(const Call& call, TimePoint now);
  Reply CreateNode(const Call& call, TimePoint now);
  bool IsVisible(TimePoint created, TimePoint now) const;
  Reply ListNodes(const Call& call, TimePoint now);
  Reply GetNode(const Call& call, TimePoint now);
  Reply DeleteNode(const Call& call, TimePoint now);
  Reply PatchNode(const Call& call, TimePoint now);
  Reply StartNode(const Call& call, TimePoint now);
  Reply StopNode(const Call& call, TimePoint now);
  Reply GuestAttributes(const Call& call, TimePoint now);
  Reply CreateQueued(const Call& call, TimePoint now);
  Reply ListQueued(const Call& call, TimePoint now);
  Reply GetQueued(const Call& call, TimePoint now);
  Reply DeleteQueued(const Call& call, TimePoint now);
  Reply ResetQueued(const Call& call, TimePoint now);
  Reply ListOperations(const Call& call, TimePoint now);
  Reply GetOperation(const Call& call, TimePoint now);
  Reply DeleteOperation(const Call& call, TimePoint now);
  Reply CancelOperation(const Call& call, TimePoint now);

  /// Makes a node, or a queued resource, of somebody else where one is about to be created.
  void Occupy(const NodePlan& plan, TimePoint now);
  void Occupy(const QueuedResource& wanted, TimePoint now);
  /// Remembers what is created without a label of jobman.
  void NoteOwner(const std::string& name, const Json& spec, TimePoint now);

  std::optional<ApiError> QuotaRefusal(const ResourceKey& where, const core::Accelerator& shape,
                                       bool spot, int count) const;
  std::int64_t QuotaHeld(const ResourceKey& where, const std::string& generation, bool spot) const;
  /// The project a path means: an id, also when the path has its number.
  std::string ProjectOf(const std::string& project);

  Settings settings_;
  Timeline timeline_ = {};
  Operations operations_ = {};
  Nodes nodes_;
  QueuedResources queued_;
  Faults faults_ = {};
  Orders orders_;
  RequestLog log_ = {};
  Json ownerless_ = Json::array();                        ///< created without jobman's labels
  std::map<std::string, std::string> projects_ = {};      ///< number to id
  std::map<std::string, Operations::Key> requests_ = {};  ///< requestId to its operation
};

}  // namespace jobman::sim

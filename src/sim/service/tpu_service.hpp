#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/cloud/node_registry.hpp"
#include "sim/cloud/operations.hpp"
#include "sim/cloud/resource_queue.hpp"
#include "sim/cloud/settings.hpp"
#include "sim/cloud/timeline.hpp"
#include "sim/faults/call_faults.hpp"
#include "sim/faults/orders.hpp"
#include "sim/hosts/guest_metadata.hpp"
#include "sim/wire/request_log.hpp"
#include "sim/wire/route.hpp"

namespace jobman::sim {

/// The Cloud TPU service as a calculator: requests and the time go in, replies and calls of the
/// fleet come out. It has no clock, thread or socket. Calls must not overlap.
///
/// tpu_service.cpp: from request to method, quota; api_methods.cpp: the methods of the API;
/// control.cpp: the simulator's own paths.
class TpuService {
 public:
  TpuService(Settings settings, HostFleet& fleet);
  TpuService(const TpuService&) = delete;
  TpuService& operator=(const TpuService&) = delete;

  /// Answers one request of the Cloud TPU API, of the Compute API's project get, or of the
  /// simulator's own paths under /sim/.
  Reply Handle(const Request& request, TimePoint now);
  /// Runs everything that is due.
  void Advance(TimePoint now);
  /// When Advance has something to do next.
  std::optional<TimePoint> NextDue() const { return timeline_.NextDue(); }

  // The fleet reports.
  void HostsBooted(const std::string& uid, int boot, TimePoint now);
  void HostsFailed(const std::string& uid, int boot, const std::string& why, TimePoint now);

  /// What the host with this address reads on its metadata server.
  GuestReply Guest(const std::string& address, const GuestRequest& request) const;
  /// Called when something changed that hosts can read there.
  void OnGuestChange(std::function<void()> changed) { nodes_.OnGuestChange(std::move(changed)); }
  /// Called when the API is to be unreachable for a time.
  void OnUnplug(std::function<void(Duration)> unplug) { orders_.OnUnplug(std::move(unplug)); }

  /// Nodes, queued resources and hosts as `jobman-sim status` shows them.
  Json Status(TimePoint now) const;
  const Settings& settings() const { return settings_; }

 private:
  struct Call {
    Request request = {};
    Route route = {};
    std::string method = {};
    std::optional<CallFault> fault = {};  ///< of what the call creates
    bool Is(CallFault::Kind kind) const { return fault && fault->kind == kind; }
  };
  using Method = Reply (TpuService::*)(const Call&, TimePoint);
  static const std::map<std::string, Method>& Methods();

  Reply Answer(const Request& request, std::string& method, TimePoint now);
  Reply CallApi(Call call, TimePoint now);
  Reply Control(const Request& request, TimePoint now);
  /// POST /sim/node, the older form of the verbs `show` and `reboot`.
  Reply ShowNode(Json body, TimePoint now);
  Reply ComputeProject(const Request& request) const;
  /// 401, 400 and 403, which come before any method looks at its arguments.
  std::optional<ApiError> CheckAccess(const Call& call) const;

  Reply ListLocations(const Call& call, TimePoint now);
  Reply GetLocation(const Call& call, TimePoint now);
  Reply GenerateIdentity(const Call& call, TimePoint now);
  Reply ListTypes(const Call& call, TimePoint now);
  Reply GetType(const Call& call, TimePoint now);
  Reply ListRuntimes(const Call& call, TimePoint now);
  Reply GetRuntime(const Call& call, TimePoint now);
  Reply CreateNode(const Call& call, TimePoint now);
  Reply ListNodes(const Call& call, TimePoint now);
  Reply GetNode(const Call& call, TimePoint now);
  Reply DeleteNode(const Call& call, TimePoint now);
  Reply PatchNode(const Call& call, TimePoint now);
  Reply StartOrStopNode(const Call& call, TimePoint now);
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

  /// Creates a node, or a queued resource, of this name first, as somebody else would.
  void Occupy(const NodePlan& plan, TimePoint now);
  void Occupy(const QueuedResource& wanted, TimePoint now);
  /// Notes what is created without a label of jobman.
  void NoteOwner(const std::string& name, const Json& spec, TimePoint now);

  bool IsVisible(TimePoint created, TimePoint now) const;
  std::optional<ApiError> CheckQuota(const ResourceKey& where, const core::Accelerator& shape,
                                     bool spot, int count) const;
  std::int64_t QuotaHeld(const ResourceKey& where, const std::string& generation, bool spot) const;
  /// The id of the project in a path, which may have its number.
  std::string ProjectOf(const std::string& project);

  Settings settings_;
  Timeline timeline_ = {};
  Operations operations_ = {};
  NodeRegistry nodes_;
  ResourceQueue queued_;
  CallFaults faults_ = {};
  Orders orders_;
  RequestLog log_ = {};
  Json ownerless_ = Json::array();                        ///< created without jobman's labels
  std::map<std::string, std::string> projects_ = {};      ///< number to id
  std::map<std::string, Operations::Key> requests_ = {};  ///< requestId to its operation
};

}  // namespace jobman::sim

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "sim/cloud/node_registry.hpp"
#include "sim/cloud/operations.hpp"
#include "sim/cloud/resource_queue.hpp"
#include "sim/cloud/settings.hpp"
#include "sim/cloud/timeline.hpp"
#include "sim/faults/call_faults.hpp"
#include "sim/faults/orders.hpp"
#include "sim/hosts/guest_metadata.hpp"
#include "sim/schema/api_schema.hpp"
#include "sim/service/request_quota.hpp"
#include "sim/wire/request_log.hpp"
#include "sim/wire/route.hpp"

namespace jobman::sim {

/// The Cloud TPU service without I/O: takes requests and the time, returns replies and calls the
/// fleet. It has no clock, thread or socket. Calls must not overlap.
///
/// tpu_service.cpp: dispatch and quota; api_methods.cpp, create_methods.cpp and
/// maintenance_methods.cpp: the methods of the API; compute_methods.cpp: the Compute API;
/// quota_methods.cpp: the Service Usage API;
/// control.cpp: the simulator's own paths.
class TpuService {
 public:
  TpuService(Settings settings, HostFleet& fleet);
  TpuService(const TpuService&) = delete;
  TpuService& operator=(const TpuService&) = delete;

  /// Answers one request of the Cloud TPU API, of those beside it (Compute, OS Login, Service
  /// Usage), or of the simulator's own paths under /sim/.
  Reply Handle(const Request& request, TimePoint now);
  /// Runs everything that is due.
  void Advance(TimePoint now);
  /// When Advance next has something to do.
  std::optional<TimePoint> NextDue() const { return timeline_.NextDue(); }

  // Reports of the fleet.
  void HostsBooted(const std::string& uid, int boot, TimePoint now);
  void HostsFailed(const std::string& uid, int boot, const std::string& why, TimePoint now);

  /// The name of the host with this address; empty without one.
  std::string HostAt(const std::string& address) const;
  /// The metadata that the host with this address reads.
  GuestReply Guest(const std::string& address, const GuestRequest& request) const;
  /// Called when that metadata has changed.
  void OnGuestChange(std::function<void()> changed) { nodes_.OnGuestChange(std::move(changed)); }
  /// Called to make the API unreachable for a time.
  void OnUnplug(std::function<void(Duration)> unplug) { orders_.OnUnplug(std::move(unplug)); }

  /// "nodes.create" and all others of the Cloud TPU API, sorted.
  static std::vector<std::string> MethodNames();
  /// Nodes, queued resources and hosts, for `jobman-sim status`.
  Json Status(TimePoint now) const;
  const Settings& settings() const { return settings_; }

 private:
  struct Call {
    Request request = {};  ///< the query as the schema reads it
    Json body = Json::object();
    Route route = {};
    std::string method = {};
    std::optional<CallFault> fault = {};  ///< affects what the call creates
    bool Is(CallFault::Kind kind) const { return fault && fault->kind == kind; }
  };
  using Method = Reply (TpuService::*)(const Call&, TimePoint);
  static const std::map<std::string, Method>& Methods();

  Reply Answer(const Request& request, std::string& method, TimePoint now);
  /// Checks access and the request, calls the method, and shows the reply as the version does.
  Reply CallApi(Call call, const SchemaMethod& schema, TimePoint now);
  /// Calls the method, unless a fault stands in its way.
  Reply CallMethod(Call call, TimePoint now);
  Reply Control(const Request& request, TimePoint now);
  /// POST /sim/node, the older form of the verbs `show` and `reboot`.
  Reply ShowNode(Json body, TimePoint now);
  /// Requests of the Compute API; what it does not have here is 404.
  Reply Compute(const Request& request, std::string& method);
  static bool IsOsLogin(const std::string& path);
  /// Requests for which IsOsLogin().
  Reply OsLogin(const Request& request, std::string& method);
  Json ProjectBody(const std::string& project) const;
  /// The Service Usage API: the limits of Cloud TPU, as the setting `quota` has them.
  static bool IsQuotaPath(const std::string& path);
  Reply QuotaMetrics(const Request& request, std::string& method) const;
  /// A region with its quota of external addresses; nothing if there is no zone in it.
  std::optional<Json> RegionBody(const std::string& project, const std::string& region) const;
  Reply SetProjectMetadata(const std::string& project, const std::string& body);
  /// 400 and 403, checked before any method looks at its arguments.
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
  Reply PerformMaintenance(const Call& call, TimePoint now);
  Reply SimulateMaintenance(const Call& call, TimePoint now);
  Reply PerformQueuedMaintenance(const Call& call, TimePoint now);
  Reply MaintenanceInfo(const Call& call, TimePoint now);
  Reply ListReservations(const Call& call, TimePoint now);
  Reply ListTensorFlow(const Call& call, TimePoint now);
  Reply GetTensorFlow(const Call& call, TimePoint now);
  Reply ListOperations(const Call& call, TimePoint now);
  Reply GetOperation(const Call& call, TimePoint now);
  Reply DeleteOperation(const Call& call, TimePoint now);
  Reply CancelOperation(const Call& call, TimePoint now);

  /// The operation of an earlier create with the same requestId.
  std::optional<Reply> Repeated(const Call& call) const;
  void Remember(const Call& call, const Operations::Key& operation);
  /// First creates a node or queued resource of this name, as somebody else would.
  void Occupy(const NodePlan& plan, TimePoint now);
  void Occupy(const QueuedResource& wanted, TimePoint now);
  /// Records resources created without jobman labels.
  void NoteOwner(const std::string& name, const Json& spec, TimePoint now);

  bool IsVisible(TimePoint created, TimePoint now) const;
  std::optional<ApiError> CheckQuota(const ResourceKey& where, const core::Accelerator& shape,
                                     bool spot, int count) const;
  std::int64_t QuotaHeld(const ResourceKey& where, const std::string& generation, bool spot) const;
  /// Of the nodes that use the reservation of this name.
  std::int64_t ChipsUsedOf(const std::string& reservation) const;
  /// The id of the project in a path, which may have its number.
  std::string ProjectOf(const std::string& project);

  Settings settings_;
  Timeline timeline_ = {};
  Operations operations_ = {};
  NodeRegistry nodes_;
  ResourceQueue queued_;
  CallFaults faults_{MethodNames()};
  Orders orders_;
  RequestLog log_ = {};
  RequestQuota quota_ = {};
  std::int64_t project_changes_ = 0;                      ///< operations of the Compute API
  std::set<std::string> project_operations_ = {};         ///< "PROJECT/operation-N"
  Json ownerless_ = Json::array();                        ///< created without jobman labels
  std::map<std::string, std::string> projects_ = {};      ///< number to id
  std::map<std::string, Operations::Key> requests_ = {};  ///< requestId to its operation
};

}  // namespace jobman::sim

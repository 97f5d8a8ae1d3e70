#include "sim/service/tpu_service.hpp"

#include <utility>

#include "sim/cloud/catalogue.hpp"
#include "sim/cloud/guest_tree.hpp"
#include "sim/schema/reply_view.hpp"
#include "sim/schema/request_reader.hpp"
#include "sim/schema/selection.hpp"
#include "sim/schema/values.hpp"

namespace jobman::sim {

TpuService::TpuService(Settings settings, HostFleet& fleet)
    : settings_(std::move(settings)),
      nodes_(CloudContext{settings_, timeline_, operations_, fleet}),
      queued_(CloudContext{settings_, timeline_, operations_, fleet}, nodes_),
      orders_({settings_, timeline_, nodes_, queued_, faults_}) {
  nodes_.OnChange([this](TimePoint now) { queued_.Review(now); });
}

const std::map<std::string, TpuService::Method>& TpuService::Methods() {
  static const std::map<std::string, Method> kMethods = {
      {"locations.list", &TpuService::ListLocations},
      {"locations.get", &TpuService::GetLocation},
      {"locations.generateServiceIdentity", &TpuService::GenerateIdentity},
      {"acceleratorTypes.list", &TpuService::ListTypes},
      {"acceleratorTypes.get", &TpuService::GetType},
      {"runtimeVersions.list", &TpuService::ListRuntimes},
      {"runtimeVersions.get", &TpuService::GetRuntime},
      {"nodes.create", &TpuService::CreateNode},
      {"nodes.list", &TpuService::ListNodes},
      {"nodes.get", &TpuService::GetNode},
      {"nodes.delete", &TpuService::DeleteNode},
      {"nodes.patch", &TpuService::PatchNode},
      {"nodes.start", &TpuService::StartOrStopNode},
      {"nodes.stop", &TpuService::StartOrStopNode},
      {"nodes.getGuestAttributes", &TpuService::GuestAttributes},
      {"nodes.performMaintenance", &TpuService::PerformMaintenance},
      {"nodes.simulateMaintenanceEvent", &TpuService::SimulateMaintenance},
      {"queuedResources.performMaintenanceQueuedResource", &TpuService::PerformQueuedMaintenance},
      {"queuedResources.getMaintenanceInfo", &TpuService::MaintenanceInfo},
      {"reservations.list", &TpuService::ListReservations},
      {"tensorflowVersions.list", &TpuService::ListTensorFlow},
      {"tensorflowVersions.get", &TpuService::GetTensorFlow},
      {"queuedResources.create", &TpuService::CreateQueued},
      {"queuedResources.list", &TpuService::ListQueued},
      {"queuedResources.get", &TpuService::GetQueued},
      {"queuedResources.delete", &TpuService::DeleteQueued},
      {"queuedResources.reset", &TpuService::ResetQueued},
      {"operations.list", &TpuService::ListOperations},
      {"operations.get", &TpuService::GetOperation},
      {"operations.delete", &TpuService::DeleteOperation},
      {"operations.cancel", &TpuService::CancelOperation},
  };
  return kMethods;
}

std::vector<std::string> TpuService::MethodNames() {
  std::vector<std::string> names;
  for (const auto& [name, method] : Methods()) names.push_back(name);
  return names;
}

void TpuService::Advance(TimePoint now) {
  timeline_.Advance(now);
}

void TpuService::HostsBooted(const std::string& uid, int boot, TimePoint now) {
  Advance(now);
  nodes_.HostsBooted(uid, boot, now);
  Advance(now);
}

void TpuService::HostsFailed(const std::string& uid, int boot, const std::string& why,
                             TimePoint now) {
  Advance(now);
  nodes_.HostsFailed(uid, boot, why, now);
}

Reply TpuService::Handle(const Request& request, TimePoint now) {
  Advance(now);
  std::string method;
  Reply reply = Answer(request, method, now);
  Advance(now);  // with a delay of zero the next state is due now
  if (!method.empty()) log_.Add(method, request, reply, now);
  return reply;
}

Reply TpuService::Answer(const Request& request, std::string& method, TimePoint now) {
  if (request.path.starts_with("/sim/")) return Control(request, now);
  if (request.path.starts_with("/compute/v1/projects/")) return Compute(request, method);
  if (IsOsLogin(request.path)) return OsLogin(request, method);
  if (request.method == "GET" && IsQuotaPath(request.path)) return QuotaMetrics(request, method);
  auto route = ParseRoute(request.path);
  if (route) method = MethodName(request.method, *route);
  const SchemaMethod* schema = route ? ApiSchema::Get().Method(method, route->version) : nullptr;
  if (schema == nullptr || schema->http != request.method || !Methods().contains(method)) {
    method = "unknown";
    return ToReply(
        {.code = base::Code::kNotFound,
         .message = "The requested URL " + request.path + " was not found on this server."});
  }
  route->key.project = ProjectOf(route->key.project);
  return CallApi({.request = request, .route = std::move(*route), .method = method}, *schema, now);
}

Reply TpuService::CallApi(Call call, const SchemaMethod& schema, TimePoint now) {
  if (auto refused = CheckAccess(call)) return ToReply(*refused);
  const std::string version = call.route.version;
  const std::string project = call.route.key.project;
  const std::string limit = quota_.Take(settings_.requests_per_minute, project, call.method, now);
  if (!limit.empty()) return ToReply(RateLimitError(limit, ProjectNumber(project)));
  ReadRequest read = ReadCall(schema, version, call.request);
  std::optional<Selection> part;
  if (const auto fields = read.query.find("fields"); fields != read.query.end()) {
    part = ReadSelection(fields->second, schema.reply, version, read.violations);
  }
  if (!read.malformed) CheckValues(schema, read.body, now, read.violations);
  CheckListing(schema, version, read.query, read.violations);
  if (!read.violations.empty() && (!settings_.loose || read.malformed)) {
    return ToReply(InvalidRequest(read.violations));
  }
  call.request.query = std::move(read.query);
  call.body = std::move(read.body);
  const ReplyView view{.version = version,
                       .enum_numbers = Query(call.request, "alt").ends_with("enum-encoding=int")};
  Reply reply = CallMethod(std::move(call), now);
  if (reply.status != 200) return reply;
  reply.body = ShownIn(view, schema.reply, std::move(reply.body));
  if (part) reply.body = Selected(*part, std::move(reply.body));
  return reply;
}

namespace {

/// Another id and other addresses, as after a maintenance that is announced.
void MoveNode(Json& node) {
  node["id"] = std::to_string(Number(node, "id") + 1);  // one that still is an int64
  if (node.contains("networkEndpoints")) {
    for (Json& endpoint : node["networkEndpoints"]) endpoint["ipAddress"] = "127.77.7.7";
  }
  node["upcomingMaintenance"] = {{"type", "UNSCHEDULED"}, {"maintenanceStatus", "ONGOING"}};
}

/// The list shows what exists as taken away, as nobody's, or elsewhere.
void DistortList(CallFault::Kind kind, Json& body) {
  const bool lost = kind == CallFault::Kind::kListLost;
  const bool foreign = kind == CallFault::Kind::kListForeign;
  const bool moved = kind == CallFault::Kind::kListMoved;
  if (!lost && !foreign && !moved) return;
  for (Json& node : body["nodes"]) {
    if (lost) node["state"] = "PREEMPTED";
    if (foreign) node.erase("labels");
    if (moved) MoveNode(node);
  }
  for (Json& queued : body["queuedResources"]) {
    if (lost) queued["state"] = {{"state", "SUSPENDED"}};
    for (Json& spec : queued["tpu"]["nodeSpec"]) {
      if (foreign) spec["node"].erase("labels");
    }
  }
  for (const char* entries : {"nodes", "queuedResources"}) {
    if (body[entries].empty()) body.erase(entries);
  }
}

/// What a fault of a listing does to the page of it that is answered.
void OmitFromList(CallFault::Kind kind, const ResourceKey& where, Json& body) {
  const bool part = kind == CallFault::Kind::kListPart;
  const bool silent = kind == CallFault::Kind::kListSilent;
  if (!part && !silent && kind != CallFault::Kind::kListNone) return;
  Json left = Json::object();
  for (const auto& [field, entries] : body.items()) {
    if (part && field == "nextPageToken") left[field] = entries;
    if (!part || !entries.is_array()) continue;
    for (std::size_t entry = 1; entry < entries.size(); entry += 2) {
      left[field].push_back(entries[entry]);
    }
  }
  if (silent) {
    left["unreachable"] = {"projects/" + where.project + "/locations/" + where.zone};
  }
  body = std::move(left);
}

}  // namespace

Reply TpuService::CallMethod(Call call, TimePoint now) {
  const auto method = Methods().find(call.method)->second;
  const auto fault = faults_.Take(call.method);
  if (!fault) return (this->*method)(call, now);

  switch (fault->kind) {
    case CallFault::Kind::kRefuse: {
      Reply reply = ToReply(fault->error);
      if (!fault->retry_after.empty()) reply.headers["Retry-After"] = fault->retry_after;
      return reply;
    }
    case CallFault::Kind::kDropRequest:
      return {.lost = true};
    case CallFault::Kind::kOperation:
    case CallFault::Kind::kTaken:
    case CallFault::Kind::kWait:
    case CallFault::Kind::kProvision:
    case CallFault::Kind::kGiveUp:
      call.fault = fault;
      break;
    case CallFault::Kind::kDropReply:
    case CallFault::Kind::kListNone:
    case CallFault::Kind::kListPart:
    case CallFault::Kind::kListSilent:
    case CallFault::Kind::kListLost:
    case CallFault::Kind::kListForeign:
    case CallFault::Kind::kListMoved:
      break;
  }
  Reply reply = (this->*method)(call, now);
  if (reply.status == 200) {
    OmitFromList(fault->kind, call.route.key, reply.body);
    DistortList(fault->kind, reply.body);
  }
  reply.lost = fault->kind == CallFault::Kind::kDropReply;
  return reply;
}

std::optional<ApiError> TpuService::CheckAccess(const Call& call) const {
  const std::string& zone = call.route.key.zone;
  if (zone.empty()) return std::nullopt;
  if (settings_.denied_zones.contains(zone)) {
    return ZoneNotAllowedError(zone, ProjectNumber(call.route.key.project));
  }
  const bool list = call.method.ends_with(".list");
  const bool wildcard =
      zone == "-" && list &&
      (call.route.collection != "queuedResources" || settings_.guesses.queued_zone_wildcard);
  if (!wildcard && !IsZone(zone)) return BadZoneError(zone);
  return std::nullopt;
}

std::string TpuService::HostAt(const std::string& address) const {
  for (const auto& [key, node] : nodes_.all()) {
    for (const NodeHost& host : node.hosts) {
      if (host.plan.internal_ip == address || host.plan.external_ip == address) {
        return host.plan.name;
      }
    }
  }
  return {};
}

GuestReply TpuService::Guest(const std::string& address, const GuestRequest& request) const {
  for (const auto& [key, node] : nodes_.all()) {
    for (std::size_t i = 0; i < node.hosts.size(); ++i) {
      const HostPlan& plan = node.hosts[i].plan;
      if (plan.internal_ip != address && plan.external_ip != address) continue;
      GuestTree tree = GuestTreeOf(node, i);
      for (const auto& [name, value] : nodes_.MetadataOfProject(key.project).items) {
        tree["project/attributes/" + name] = value;
      }
      return LookUp(tree, request.path, request.recursive);
    }
  }
  return {.status = 404, .body = "no host has the address " + address + "\n"};
}

std::string TpuService::ProjectOf(const std::string& project) {
  const std::string number = ProjectNumber(project);
  if (number != project) projects_[number] = project;
  const auto known = projects_.find(number);
  return known == projects_.end() ? project : known->second;
}

std::int64_t TpuService::QuotaHeld(const ResourceKey& where, const std::string& generation,
                                   bool spot) const {
  const auto same = [&](const ResourceKey& key, const core::Accelerator& shape, bool is_spot) {
    return key.project == where.project && key.zone == where.zone &&
           shape.generation == generation && is_spot == spot;
  };
  std::int64_t held = 0;
  for (const auto& [key, node] : nodes_.all()) {
    if (!node.queued && same(key, node.shape, node.spot)) held += QuotaUnits(node.shape);
  }
  // A queued resource holds its quota until it is deleted, even without nodes.
  for (const auto& [key, queued] : queued_.all()) {
    const bool waits =
        queued.state == QueuedState::kCreating || queued.state == QueuedState::kWaiting;
    if (waits && !settings_.guesses.waiting_holds_quota) continue;
    if (!same(key, queued.shape, queued.spot)) continue;
    held += QuotaUnits(queued.shape) * static_cast<std::int64_t>(queued.nodes.size());
  }
  return held;
}

std::optional<ApiError> TpuService::CheckQuota(const ResourceKey& where,
                                               const core::Accelerator& shape, bool spot,
                                               int count) const {
  const std::string family = shape.generation + (spot ? "-spot" : "");
  for (const std::string& key : {where.zone + "/" + family, "*/" + family}) {
    const auto limit = settings_.quota.find(key);
    if (limit == settings_.quota.end()) continue;
    const std::int64_t wanted = QuotaUnits(shape) * count;
    if (QuotaHeld(where, shape.generation, spot) + wanted <= limit->second) return std::nullopt;
    return QuotaError(QuotaId(shape, spot), limit->second, where.zone,
                      ProjectNumber(where.project));
  }
  return std::nullopt;
}

}  // namespace jobman::sim

#include "sim/world.hpp"

#include <utility>

#include "jobman/base/strings.hpp"
#include "sim/catalogue.hpp"

namespace jobman::sim {

World::World(Settings settings, HostFleet& fleet)
    : settings_(std::move(settings)),
      nodes_(Context{settings_, timeline_, operations_, fleet}),
      queued_(Context{settings_, timeline_, operations_, fleet}, nodes_),
      orders_({settings_, timeline_, nodes_, queued_, faults_}) {
  nodes_.OnChange([this](TimePoint now) { queued_.Review(now); });
}

const std::map<std::string, World::Method>& World::Methods() {
  static const std::map<std::string, Method> kMethods = {
      {"locations.list", &World::ListLocations},
      {"locations.get", &World::GetLocation},
      {"locations.generateServiceIdentity", &World::GenerateIdentity},
      {"acceleratorTypes.list", &World::ListTypes},
      {"acceleratorTypes.get", &World::GetType},
      {"runtimeVersions.list", &World::ListRuntimes},
      {"runtimeVersions.get", &World::GetRuntime},
      {"nodes.create", &World::CreateNode},
      {"nodes.list", &World::ListNodes},
      {"nodes.get", &World::GetNode},
      {"nodes.delete", &World::DeleteNode},
      {"nodes.patch", &World::PatchNode},
      {"nodes.start", &World::StartNode},
      {"nodes.stop", &World::StopNode},
      {"nodes.getGuestAttributes", &World::GuestAttributes},
      {"queuedResources.create", &World::CreateQueued},
      {"queuedResources.list", &World::ListQueued},
      {"queuedResources.get", &World::GetQueued},
      {"queuedResources.delete", &World::DeleteQueued},
      {"queuedResources.reset", &World::ResetQueued},
      {"operations.list", &World::ListOperations},
      {"operations.get", &World::GetOperation},
      {"operations.delete", &World::DeleteOperation},
      {"operations.cancel", &World::CancelOperation},
  };
  return kMethods;
}

void World::Advance(TimePoint now) {
  timeline_.Advance(now);
}

void World::HostsBooted(const std::string& uid, int boot, TimePoint now) {
  Advance(now);
  nodes_.HostsBooted(uid, boot, now);
  Advance(now);
}

void World::HostsFailed(const std::string& uid, int boot, const std::string& why, TimePoint now) {
  Advance(now);
  nodes_.HostsFailed(uid, boot, why, now);
}

Reply World::Handle(const Request& request, TimePoint now) {
  Advance(now);
  std::string method;
  Reply reply = Answer(request, method, now);
  Advance(now);  // with delays of zero the next state is due at once
  if (!method.empty()) log_.Add(method, request, reply, now);
  return reply;
}

Reply World::Answer(const Request& request, std::string& method, TimePoint now) {
  if (request.path.starts_with("/sim/")) return Control(request, now);
  if (request.path.starts_with("/compute/v1/projects/")) {
    method = "compute.projects.get";
    return ComputeProject(request);
  }
  auto route = ParseRoute(request.path);
  if (route) method = MethodName(request.method, *route);
  if (!route || !Methods().contains(method)) {
    method = "unknown";
    return ToReply(
        {.code = base::Code::kNotFound,
         .message = "The requested URL " + request.path + " was not found on this server."});
  }
  route->key.project = ProjectOf(route->key.project);
  return CallApi({.request = request, .route = std::move(*route), .method = method}, now);
}

Reply World::CallApi(Call call, TimePoint now) {
  if (auto refused = Gate(call)) return ToReply(*refused);
  const auto method = Methods().find(call.method)->second;
  const auto fault = faults_.Take(call.method);
  if (!fault) return (this->*method)(call, now);

  switch (fault->kind) {
    case Fault::Kind::kRefuse: {
      Reply reply = ToReply(fault->error);
      if (!fault->retry_after.empty()) reply.headers["Retry-After"] = fault->retry_after;
      return reply;
    }
    case Fault::Kind::kDropRequest:
      return {.lost = true};
    case Fault::Kind::kOperation:
    case Fault::Kind::kTaken:
    case Fault::Kind::kWait:
    case Fault::Kind::kProvision:
    case Fault::Kind::kGiveUp:
      call.fault = fault;
      break;
    case Fault::Kind::kDropReply:
      break;
  }
  Reply reply = (this->*method)(call, now);
  reply.lost = fault->kind == Fault::Kind::kDropReply;
  return reply;
}

std::optional<ApiError> World::Gate(const Call& call) const {
  if (!settings_.token.empty() && call.request.token != settings_.token) {
    return UnauthenticatedError(call.request.token.empty() ? "CREDENTIALS_MISSING"
                                                           : "ACCESS_TOKEN_EXPIRED");
  }
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

GuestReply World::Guest(const std::string& address, const GuestRequest& request) const {
  for (const auto& [key, node] : nodes_.all()) {
    for (std::size_t i = 0; i < node.hosts.size(); ++i) {
      const HostPlan& plan = node.hosts[i].plan;
      if (plan.internal_ip != address && plan.external_ip != address) continue;
      return LookUp(GuestTreeOf(node, i), request.path, request.recursive);
    }
  }
  return {.status = 404, .body = "no machine has the address " + address + "\n"};
}

std::string World::ProjectOf(const std::string& project) {
  const std::string number = ProjectNumber(project);
  if (number != project) projects_[number] = project;
  const auto known = projects_.find(number);
  return known == projects_.end() ? project : known->second;
}

Reply World::ComputeProject(const Request& request) const {
  // gcloud reads the project's metadata before it connects to a TPU VM.
  const std::string project = request.path.substr(std::string("/compute/v1/projects/").size());
  return {.body = {{"kind", "compute#project"},
                   {"id", ProjectNumber(project)},
                   {"name", project},
                   {"commonInstanceMetadata",
                    {{"kind", "compute#metadata"}, {"items", Json::array()}}}}};
}

std::int64_t World::QuotaHeld(const ResourceKey& where, const std::string& generation,
                              bool spot) const {
  const auto same = [&](const ResourceKey& key, const core::Accelerator& shape, bool is_spot) {
    return key.project == where.project && key.zone == where.zone &&
           shape.generation == generation && is_spot == spot;
  };
  std::int64_t held = 0;
  for (const auto& [key, node] : nodes_.all()) {
    if (!node.queued && same(key, node.shape, node.spot)) held += QuotaUnits(node.shape);
  }
  // A queued resource holds its quota until it is deleted, also as a husk without nodes.
  for (const auto& [key, queued] : queued_.all()) {
    const bool waits =
        queued.state == QueuedState::kCreating || queued.state == QueuedState::kWaiting;
    if (waits && !settings_.guesses.waiting_holds_quota) continue;
    if (!same(key, queued.shape, queued.spot)) continue;
    held += QuotaUnits(queued.shape) * static_cast<std::int64_t>(queued.nodes.size());
  }
  return held;
}

std::optional<ApiError> World::QuotaRefusal(const ResourceKey& where,
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

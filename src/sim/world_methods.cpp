#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "sim/catalogue.hpp"
#include "sim/paging.hpp"
#include "sim/world.hpp"

// The methods of the Cloud TPU API, one function each.

namespace jobman::sim {

namespace {

std::string NameOf(const Route& route) {
  return ResourceName(route.key, route.collection);
}

Reply Missing(const Route& route) {
  return ToReply(NotFoundError(NameOf(route)));
}

/// The pattern of the API's definition; 63 because the id becomes part of host names.
bool IsId(const std::string& id) {
  return !id.empty() && id.size() <= 63 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.~+%-").find(c) != std::string_view::npos;
  });
}

bool InScope(const ResourceKey& key, const ResourceKey& asked) {
  return key.project == asked.project && (asked.zone == "-" || key.zone == asked.zone);
}

/// Fields a Node may have in a request. The service refuses unknown ones, and so does this.
std::optional<ApiError> UnknownField(const Json& object, std::initializer_list<const char*> known) {
  for (const auto& [field, value] : object.items()) {
    if (std::find(known.begin(), known.end(), field) == known.end()) {
      return ApiError{.code = base::Code::kInvalidArgument,
                      .message = fmt::format("Invalid JSON payload received. Unknown name \"{}\": "
                                             "Cannot find field.",
                                             field)};
    }
  }
  return std::nullopt;
}

std::optional<ApiError> UnknownNodeField(const Json& node) {
  return UnknownField(node, {"acceleratorConfig",
                             "acceleratorType",
                             "apiVersion",
                             "autocheckpointEnabled",
                             "bootDiskConfig",
                             "cidrBlock",
                             "createTime",
                             "dataDisks",
                             "description",
                             "health",
                             "healthDescription",
                             "id",
                             "labels",
                             "metadata",
                             "multisliceNode",
                             "name",
                             "networkConfig",
                             "networkConfigs",
                             "networkEndpoints",
                             "queuedResource",
                             "runtimeVersion",
                             "schedulingConfig",
                             "serviceAccount",
                             "shieldedInstanceConfig",
                             "state",
                             "symptoms",
                             "tags",
                             "upcomingMaintenance"});
}

std::optional<ApiError> UnknownQueuedField(const Json& body) {
  if (auto error = UnknownField(
          body, {"bestEffort", "createTime", "guaranteed", "name", "provisioningModel",
                 "queueingPolicy", "reservationName", "runDuration", "spot", "state", "tpu"})) {
    return error;
  }
  const Json& specs = Member(Member(body, "tpu"), "nodeSpec");
  if (!specs.is_array()) return std::nullopt;
  for (const Json& spec : specs) {
    if (!spec.is_object()) return BadRequestError("tpu.nodeSpec holds no objects.");
    if (auto error = UnknownField(
            spec, {"multiNodeParams", "multisliceParams", "node", "nodeId", "parent"})) {
      return error;
    }
    if (spec.contains("node") && spec["node"].is_object()) {
      if (auto error = UnknownNodeField(spec["node"])) return error;
    }
  }
  return std::nullopt;
}

Json Location(const std::string& project, const std::string& zone) {
  return {{"name", "projects/" + project + "/locations/" + zone}, {"locationId", zone}};
}

Json TypeBody(const ResourceKey& where, const std::string& type) {
  const auto shape = core::FindAccelerator(type);
  Json body = {{"name", ResourceName({where.project, where.zone, type}, "acceleratorTypes")},
               {"type", type}};
  if (shape.ok()) {
    const Json config = {{"type", ConfigType(shape->generation)}, {"topology", shape->topology}};
    body["acceleratorConfigs"] = Json::array({config});
  }
  return body;
}

Json RuntimeBody(const ResourceKey& where, const std::string& version) {
  return {{"name", ResourceName({where.project, where.zone, version}, "runtimeVersions")},
          {"version", version}};
}

}  // namespace

Reply World::ListLocations(const Call& call, TimePoint) {
  std::vector<Listed> entries;
  for (const std::string& zone : Zones()) {
    if (settings_.denied_zones.contains(zone)) continue;
    entries.push_back({zone, [&call, zone] { return Location(call.route.key.project, zone); }});
  }
  return Page(call.request, settings_, "locations", entries);
}

Reply World::GetLocation(const Call& call, TimePoint) {
  return {.body = Location(call.route.key.project, call.route.key.zone)};
}

Reply World::GenerateIdentity(const Call& call, TimePoint) {
  const std::string email =
      "service-" + ProjectNumber(call.route.key.project) + "@cloud-tpu.iam.gserviceaccount.com";
  return {.body = {{"identity", {{"email", email}}}}};
}

Reply World::ListTypes(const Call& call, TimePoint) {
  std::vector<Listed> entries;
  for (const std::string& zone : Zones()) {
    const ResourceKey where{call.route.key.project, zone, ""};
    if (!InScope(where, call.route.key)) continue;
    for (const std::string& type : TypesIn(zone)) {
      entries.push_back({zone + "/" + type, [where, type] { return TypeBody(where, type); }});
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Listed& a, const Listed& b) { return a.name < b.name; });
  return Page(call.request, settings_, "acceleratorTypes", entries);
}

Reply World::GetType(const Call& call, TimePoint) {
  if (!IsOffered(call.route.key.id, call.route.key.zone)) return Missing(call.route);
  return {.body = TypeBody(call.route.key, call.route.key.id)};
}

Reply World::ListRuntimes(const Call& call, TimePoint) {
  std::vector<Listed> entries;
  for (const std::string& version : RuntimeVersions()) {
    entries.push_back({version, [&call, version] { return RuntimeBody(call.route.key, version); }});
  }
  return Page(call.request, settings_, "runtimeVersions", entries);
}

Reply World::GetRuntime(const Call& call, TimePoint) {
  if (!IsRuntime(call.route.key.id)) return Missing(call.route);
  return {.body = RuntimeBody(call.route.key, call.route.key.id)};
}

Reply World::CreateNode(const Call& call, TimePoint now) {
  ResourceKey key = call.route.key;
  key.id = Query(call.request, "nodeId");
  const auto body = ParseBody(call.request.body);
  if (!body || !body->is_object()) return ToReply(BadRequestError("The body is no JSON object."));
  if (!IsId(key.id)) return ToReply(BadRequestError("nodeId \"" + key.id + "\" is not valid."));
  if (auto error = UnknownNodeField(*body)) return ToReply(*error);
  NodePlan plan{.key = key, .spec = UserFields(*body), .version = call.route.version};
  if (auto error = CheckNodeSpec(plan.spec, key.zone)) return ToReply(*error);
  if (call.Is(Fault::Kind::kTaken)) Occupy(plan, now);
  if (nodes_.Find(key) != nullptr) return ToReply(AlreadyExistsError(ResourceName(key, "nodes")));

  const core::Accelerator shape = *ShapeOf(plan.spec);
  plan.spot = IsSpot(plan.spec);
  if (auto error = QuotaRefusal(key, shape, plan.spot, 1)) return ToReply(*error);
  if (call.Is(Fault::Kind::kOperation) || call.Is(Fault::Kind::kGiveUp)) {
    plan.doom = call.fault->error;
  }
  plan.stalled = call.Is(Fault::Kind::kWait) || call.Is(Fault::Kind::kProvision);
  if (!nodes_.HasCapacity(shape, key.zone, 1)) plan.doom = StockoutError(key.zone);
  plan.spot = plan.spot && !Flag(Member(plan.spec, "schedulingConfig"), "preemptible");
  NoteOwner(ResourceName(key, "nodes"), plan.spec, now);
  return {.body = operations_.Render(nodes_.Create(plan, now))};
}

bool World::IsVisible(TimePoint created, TimePoint now) const {
  return now >= created + settings_.guesses.create_visible_after;
}

Reply World::ListNodes(const Call& call, TimePoint now) {
  std::vector<Listed> entries;
  for (const auto& [key, node] : nodes_.all()) {
    if (InScope(key, call.route.key) && IsVisible(node.created, now)) {
      entries.push_back({key.zone + "/" + key.id, [&node = node] { return RenderNode(node); }});
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Listed& a, const Listed& b) { return a.name < b.name; });
  return Page(call.request, settings_, "nodes", entries);
}

Reply World::GetNode(const Call& call, TimePoint now) {
  const Node* node = nodes_.Find(call.route.key);
  if (node == nullptr) return Missing(call.route);
  if (!IsVisible(node->created, now)) return Missing(call.route);
  return {.body = RenderNode(*node)};
}

Reply World::DeleteNode(const Call& call, TimePoint now) {
  Node* node = nodes_.Find(call.route.key);
  if (node == nullptr) return Missing(call.route);
  return {.body = operations_.Render(nodes_.Delete(*node, call.route.version, now))};
}

Reply World::PatchNode(const Call& call, TimePoint now) {
  Node* node = nodes_.Find(call.route.key);
  return node == nullptr ? Missing(call.route)
                         : nodes_.Patch(*node, call.request, call.route.version, now);
}

Reply World::StartNode(const Call& call, TimePoint now) {
  Node* node = nodes_.Find(call.route.key);
  return node == nullptr ? Missing(call.route)
                         : nodes_.StartOrStop(*node, true, call.route.version, now);
}

Reply World::StopNode(const Call& call, TimePoint now) {
  Node* node = nodes_.Find(call.route.key);
  return node == nullptr ? Missing(call.route)
                         : nodes_.StartOrStop(*node, false, call.route.version, now);
}

Reply World::GuestAttributes(const Call& call, TimePoint) {
  const Node* node = nodes_.Find(call.route.key);
  return node == nullptr ? Missing(call.route) : nodes_.GuestAttributes(*node, call.request);
}

Reply World::CreateQueued(const Call& call, TimePoint now) {
  QueuedResource queued;
  queued.key = call.route.key;
  queued.key.id = Query(call.request, "queuedResourceId");
  queued.version = call.route.version;
  const std::string request_id = Query(call.request, "requestId");
  if (const auto seen = requests_.find(request_id);
      settings_.guesses.request_id_deduplicates && seen != requests_.end()) {
    if (Json operation = operations_.Render(seen->second); !operation.is_null()) {
      return {.body = std::move(operation)};
    }
  }
  const auto body = ParseBody(call.request.body);
  if (!body || !body->is_object()) return ToReply(BadRequestError("The body is no JSON object."));
  if (!IsId(queued.key.id)) {
    return ToReply(BadRequestError("queuedResourceId \"" + queued.key.id + "\" is not valid."));
  }
  if (auto error = UnknownQueuedField(*body)) return ToReply(*error);
  if (auto error = QueuedResources::Parse(*body, queued)) return ToReply(*error);
  for (const NodePlan& plan : queued.nodes) {
    if (!IsId(plan.key.id))
      return ToReply(BadRequestError("nodeId \"" + plan.key.id + "\" is not valid."));
  }
  if (call.Is(Fault::Kind::kTaken)) Occupy(queued, now);
  if (queued_.Find(queued.key) != nullptr) {
    return ToReply(AlreadyExistsError(ResourceName(queued.key, "queuedResources")));
  }
  const int count = static_cast<int>(queued.nodes.size());
  if (auto error = QuotaRefusal(queued.key, queued.shape, queued.spot, count))
    return ToReply(*error);
  if (call.Is(Fault::Kind::kOperation)) queued.failure = call.fault->error;
  queued.stalled = call.Is(Fault::Kind::kWait);
  queued.gives_up = call.Is(Fault::Kind::kGiveUp);
  for (NodePlan& plan : queued.nodes) {
    plan.stalled = queued.gives_up || call.Is(Fault::Kind::kProvision);
  }
  NoteOwner(ResourceName(queued.key, "queuedResources"), queued.nodes.front().spec, now);
  const Operations::Key operation = queued_.Create(std::move(queued), now);
  if (!request_id.empty()) requests_[request_id] = operation;
  return {.body = operations_.Render(operation)};
}

Reply World::ListQueued(const Call& call, TimePoint now) {
  std::vector<Listed> entries;
  for (const auto& [key, queued] : queued_.all()) {
    if (InScope(key, call.route.key) && IsVisible(queued.created, now)) {
      entries.push_back(
          {key.zone + "/" + key.id, [this, &queued = queued] { return queued_.Render(queued); }});
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Listed& a, const Listed& b) { return a.name < b.name; });
  return Page(call.request, settings_, "queuedResources", entries);
}

Reply World::GetQueued(const Call& call, TimePoint now) {
  const QueuedResource* queued = queued_.Find(call.route.key);
  if (queued == nullptr) return Missing(call.route);
  if (!IsVisible(queued->created, now)) return Missing(call.route);
  return {.body = queued_.Render(*queued)};
}

Reply World::DeleteQueued(const Call& call, TimePoint now) {
  QueuedResource* queued = queued_.Find(call.route.key);
  if (queued == nullptr) return Missing(call.route);
  // gcloud writes the flag as Python does.
  const bool force = base::ToLower(Query(call.request, "force")) == "true";
  return queued_.Delete(*queued, force, call.route.version, now);
}

Reply World::ResetQueued(const Call& call, TimePoint now) {
  QueuedResource* queued = queued_.Find(call.route.key);
  return queued == nullptr ? Missing(call.route) : queued_.Reset(*queued, call.route.version, now);
}

Reply World::ListOperations(const Call& call, TimePoint) {
  std::vector<Listed> entries;
  for (const auto& [key, operation] : operations_.all()) {
    if (InScope(key, call.route.key)) {
      entries.push_back({key.zone + "/" + key.id, [&operation = operation] { return operation; }});
    }
  }
  return Page(call.request, settings_, "operations", entries);
}

Reply World::GetOperation(const Call& call, TimePoint) {
  Json operation = operations_.Render(call.route.key);
  if (operation.is_null()) return Missing(call.route);
  return {.body = std::move(operation)};
}

Reply World::DeleteOperation(const Call& call, TimePoint) {
  return operations_.Erase(call.route.key) ? Reply{} : Missing(call.route);
}

Reply World::CancelOperation(const Call& call, TimePoint) {
  return operations_.Cancel(call.route.key) ? Reply{} : Missing(call.route);
}

}  // namespace jobman::sim

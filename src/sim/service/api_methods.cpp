
#include <algorithm>

#include "jobman/base/strings.hpp"
#include "sim/cloud/catalogue.hpp"
#include "sim/service/tpu_service.hpp"
#include "sim/wire/paging.hpp"

// The methods of the Cloud TPU API, one function each; creates are in create_methods.cpp.

namespace jobman::sim {

namespace {

std::string NameOf(const Route& route) {
  return ResourceName(route.key, route.collection);
}

Reply Missing(const Route& route) {
  return ToReply(NotFoundError(NameOf(route)));
}

bool InScope(const ResourceKey& key, const ResourceKey& asked) {
  return key.project == asked.project && (asked.zone == "-" || key.zone == asked.zone);
}

Json Location(const std::string& project, const std::string& zone) {
  return {{"name", "projects/" + project + "/locations/" + zone}, {"locationId", zone}};
}

Json TypeBody(const ResourceKey& where, const std::string& type) {
  const auto shape = core::FindAccelerator(type);  // of others, no topology is known
  Json body = {{"name", ResourceName({where.project, where.zone, type}, "acceleratorTypes")},
               {"type", type}};
  if (shape.ok()) {
    const Json config = {{"type", ConfigType(shape->generation)}, {"topology", TopologyOf(*shape)}};
    body["acceleratorConfigs"] = Json::array({config});
  }
  return body;
}

Json TensorFlowBody(const ResourceKey& where, const std::string& version) {
  return {{"name", ResourceName({where.project, where.zone, version}, "tensorflowVersions")},
          {"version", version}};
}

Json RuntimeBody(const ResourceKey& where, const std::string& version) {
  return {{"name", ResourceName({where.project, where.zone, version}, "runtimeVersions")},
          {"version", version}};
}

}  // namespace

Reply TpuService::ListLocations(const Call& call, TimePoint) {
  std::vector<Listed> entries;
  for (const std::string& zone : Zones()) {
    if (settings_.denied_zones.contains(zone)) continue;
    entries.push_back({zone, [&call, zone] { return Location(call.route.key.project, zone); }});
  }
  return Page(call.request, settings_.pages, "locations", std::move(entries));
}

Reply TpuService::GetLocation(const Call& call, TimePoint) {
  return {.body = Location(call.route.key.project, call.route.key.zone)};
}

Reply TpuService::GenerateIdentity(const Call& call, TimePoint) {
  const std::string email =
      "service-" + ProjectNumber(call.route.key.project) + "@cloud-tpu.iam.gserviceaccount.com";
  return {.body = {{"identity", {{"email", email}}}}};
}

Reply TpuService::ListTypes(const Call& call, TimePoint) {
  std::vector<Listed> entries;
  for (const std::string& zone : Zones()) {
    const ResourceKey where{call.route.key.project, zone, ""};
    if (!InScope(where, call.route.key)) continue;
    for (const std::string& type : TypesIn(zone, settings_.types)) {
      entries.push_back({zone + "/" + type, [where, type] { return TypeBody(where, type); }});
    }
  }
  return Page(call.request, settings_.pages, "acceleratorTypes", std::move(entries));
}

Reply TpuService::GetType(const Call& call, TimePoint) {
  if (!IsOffered(call.route.key.id, call.route.key.zone, settings_.types))
    return Missing(call.route);
  return {.body = TypeBody(call.route.key, call.route.key.id)};
}

Reply TpuService::ListRuntimes(const Call& call, TimePoint) {
  std::vector<Listed> entries;
  for (const std::string& version : RuntimeVersions()) {
    entries.push_back({version, [&call, version] { return RuntimeBody(call.route.key, version); }});
  }
  return Page(call.request, settings_.pages, "runtimeVersions", std::move(entries));
}

Reply TpuService::GetRuntime(const Call& call, TimePoint) {
  if (!IsRuntime(call.route.key.id)) return Missing(call.route);
  return {.body = RuntimeBody(call.route.key, call.route.key.id)};
}

Reply TpuService::ListTensorFlow(const Call& call, TimePoint) {
  std::vector<Listed> entries;
  for (const std::string& version : TensorFlowVersions()) {
    entries.push_back(
        {version, [&call, version] { return TensorFlowBody(call.route.key, version); }});
  }
  return Page(call.request, settings_.pages, "tensorflowVersions", std::move(entries));
}

Reply TpuService::GetTensorFlow(const Call& call, TimePoint) {
  const std::string& version = call.route.key.id;
  const auto& known = TensorFlowVersions();
  if (std::find(known.begin(), known.end(), version) == known.end()) return Missing(call.route);
  return {.body = TensorFlowBody(call.route.key, version)};
}

bool TpuService::IsVisible(TimePoint created, TimePoint now) const {
  return now >= created + settings_.guesses.create_visible_after;
}

Reply TpuService::ListNodes(const Call& call, TimePoint now) {
  std::vector<Listed> entries;
  for (const auto& [key, node] : nodes_.all()) {
    if (InScope(key, call.route.key) && IsVisible(node.created, now)) {
      entries.push_back({key.zone + "/" + key.id, [&node = node] { return RenderNode(node); }});
    }
  }
  return Page(call.request, settings_.pages, "nodes", std::move(entries));
}

Reply TpuService::GetNode(const Call& call, TimePoint now) {
  const Node* node = nodes_.Find(call.route.key);
  if (node == nullptr || !IsVisible(node->created, now)) return Missing(call.route);
  return {.body = RenderNode(*node)};
}

Reply TpuService::DeleteNode(const Call& call, TimePoint now) {
  Node* node = nodes_.Find(call.route.key);
  if (node == nullptr) return Missing(call.route);
  return {.body = operations_.Render(nodes_.Delete(*node, call.route.version, now))};
}

Reply TpuService::PatchNode(const Call& call, TimePoint now) {
  Node* node = nodes_.Find(call.route.key);
  return node == nullptr ? Missing(call.route)
                         : nodes_.Patch(*node, Query(call.request, "updateMask"), call.body,
                                        call.route.version, now);
}

Reply TpuService::StartOrStopNode(const Call& call, TimePoint now) {
  Node* node = nodes_.Find(call.route.key);
  const bool start = call.route.verb == "start";
  return node == nullptr ? Missing(call.route)
                         : nodes_.StartOrStop(*node, start, call.route.version, now);
}

Reply TpuService::GuestAttributes(const Call& call, TimePoint) {
  const Node* node = nodes_.Find(call.route.key);
  return node == nullptr ? Missing(call.route) : nodes_.GuestAttributes(*node, call.body);
}

Reply TpuService::ListQueued(const Call& call, TimePoint now) {
  std::vector<Listed> entries;
  for (const auto& [key, queued] : queued_.all()) {
    if (InScope(key, call.route.key) && IsVisible(queued.created, now)) {
      entries.push_back(
          {key.zone + "/" + key.id, [this, &queued = queued] { return queued_.Render(queued); }});
    }
  }
  return Page(call.request, settings_.pages, "queuedResources", std::move(entries));
}

Reply TpuService::GetQueued(const Call& call, TimePoint now) {
  const QueuedResource* queued = queued_.Find(call.route.key);
  if (queued == nullptr || !IsVisible(queued->created, now)) return Missing(call.route);
  return {.body = queued_.Render(*queued)};
}

Reply TpuService::DeleteQueued(const Call& call, TimePoint now) {
  QueuedResource* queued = queued_.Find(call.route.key);
  if (queued == nullptr) return Missing(call.route);
  const bool force = Query(call.request, "force") == "true";
  return queued_.Delete(*queued, force, call.route.version, now);
}

Reply TpuService::ResetQueued(const Call& call, TimePoint now) {
  QueuedResource* queued = queued_.Find(call.route.key);
  return queued == nullptr ? Missing(call.route) : queued_.Reset(*queued, call.route.version, now);
}

Reply TpuService::ListOperations(const Call& call, TimePoint) {
  std::vector<Listed> entries;
  for (const auto& [key, operation] : operations_.all()) {
    if (InScope(key, call.route.key)) {
      entries.push_back({key.zone + "/" + key.id, [&operation = operation] { return operation; }});
    }
  }
  return Page(call.request, settings_.pages, "operations", std::move(entries));
}

Reply TpuService::GetOperation(const Call& call, TimePoint) {
  Json operation = operations_.Render(call.route.key);
  if (operation.is_null()) return Missing(call.route);
  return {.body = std::move(operation)};
}

Reply TpuService::DeleteOperation(const Call& call, TimePoint) {
  return operations_.Erase(call.route.key) ? Reply{} : Missing(call.route);
}

Reply TpuService::CancelOperation(const Call& call, TimePoint) {
  return operations_.Cancel(call.route.key) ? Reply{} : Missing(call.route);
}

}  // namespace jobman::sim

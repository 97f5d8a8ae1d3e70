#include "sim/cloud/node.hpp"

#include "sim/cloud/catalogue.hpp"

namespace jobman::sim {

std::string_view NodeStateName(NodeState state) {
  switch (state) {
    case NodeState::kCreating:
      return "CREATING";
    case NodeState::kReady:
      return "READY";
    case NodeState::kRestarting:
      return "RESTARTING";
    case NodeState::kRepairing:
      return "REPAIRING";
    case NodeState::kStopping:
      return "STOPPING";
    case NodeState::kStopped:
      return "STOPPED";
    case NodeState::kStarting:
      return "STARTING";
    case NodeState::kPreempted:
      return "PREEMPTED";
    case NodeState::kTerminated:
      return "TERMINATED";
    case NodeState::kDeleting:
      return "DELETING";
  }
  return "UNKNOWN";
}

bool HoldsChips(NodeState state) {
  switch (state) {
    case NodeState::kCreating:
    case NodeState::kReady:
    case NodeState::kRestarting:
    case NodeState::kRepairing:
    case NodeState::kStopping:
    case NodeState::kStarting:
    case NodeState::kDeleting:
      return true;
    case NodeState::kStopped:
    case NodeState::kPreempted:
    case NodeState::kTerminated:
      return false;
  }
  return true;
}

base::Result<core::Accelerator> ShapeOf(const Json& spec, const std::string& zone,
                                        const MoreTypes& more) {
  const Json& config = Member(spec, "acceleratorConfig");
  const std::string type = Text(spec, "acceleratorType");
  if (type.empty() && config.is_object()) {
    return FromConfig(Text(config, "type"), Text(config, "topology"));
  }
  return FindType(type, zone, more);
}

std::optional<ApiError> CheckNodeSpec(const Json& spec, const std::string& zone,
                                      const MoreTypes& more) {
  const auto shape = ShapeOf(spec, zone, more);
  std::string type = Text(spec, "acceleratorType");
  if (type.empty()) {
    const Json& config = Member(spec, "acceleratorConfig");
    if (!config.is_object())
      return BadRequestError("acceleratorType or acceleratorConfig is required.");
    type = Text(config, "type") + " " + Text(config, "topology");
  }
  if (!shape.ok() || !IsOffered(shape->type, zone, more)) return BadTypeError(type, zone);
  const std::string runtime = Text(spec, "runtimeVersion");
  if (runtime.empty()) return BadRequestError("runtimeVersion is required.");
  if (!IsRuntime(runtime)) return BadRuntimeError(runtime, zone);
  return std::nullopt;
}

bool IsSpot(const Json& spec) {
  const Json& scheduling = Member(spec, "schedulingConfig");
  return Flag(scheduling, "spot") || Flag(scheduling, "preemptible") ||
         Text(scheduling, "provisioningModel") == "SPOT";
}

Metadata MetadataOf(const Json& spec) {
  Metadata metadata;
  const Json& map = Member(spec, "metadata");
  if (!map.is_object()) return metadata;
  for (const auto& [key, value] : map.items()) {
    if (value.is_string()) metadata[key] = value.get<std::string>();
  }
  return metadata;
}

Json UpcomingMaintenance(const Node& node, TimePoint start) {
  // Cloud TPU documentation, "Manually start a host maintenance event": customers may on any v4 and
  // v5p, and on v5e and v6e from 2x4. Of older ones it says nothing.
  const std::string& generation = node.shape.generation;
  const bool lite = generation == "v5litepod" || generation == "v6e";
  const bool by_customer =
      generation == "v4" || generation == "v5p" || (lite && node.shape.chips >= 8);
  return {{"type", "SCHEDULED"},
          {"maintenanceStatus", "PENDING"},
          {"windowStartTime", Timestamp(start)},
          {"windowEndTime", Timestamp(start + std::chrono::hours(1))},
          {"latestWindowStartTime", Timestamp(start)},
          {"canReschedule", by_customer}};
}

namespace {

std::string Region(const std::string& zone) {
  return zone.substr(0, zone.rfind('-'));
}

/// Fills in missing fields, as the service does.
void AddNetwork(Json& body, const Node& node) {
  Json network = Member(body, "networkConfig");
  if (!network.is_object()) network = {{"enableExternalIps", true}};
  const auto full = [&](const char* key, const std::string& prefix) {
    std::string name = Text(network, key);
    if (name.empty()) name = "default";
    if (name.find('/') == std::string::npos) name = "projects/" + node.key.project + prefix + name;
    network[key] = name;
  };
  full("network", "/global/networks/");
  full("subnetwork", "/regions/" + Region(node.key.zone) + "/subnetworks/");
  body["networkConfig"] = std::move(network);
}

void AddServiceAccount(Json& body, const Node& node) {
  Json account = Member(body, "serviceAccount");
  if (!account.is_object()) account = Json::object();
  if (Text(account, "email").empty()) {
    account["email"] = ProjectNumber(node.key.project) + "-compute@developer.gserviceaccount.com";
  }
  if (Member(account, "scope").empty()) {
    const std::string auth = "https://www.googleapis.com/auth/";
    account["scope"] = {auth + "devstorage.read_write", auth + "logging.write",
                        auth + "service.management",    auth + "servicecontrol",
                        auth + "cloud-platform",        auth + "pubsub"};
  }
  body["serviceAccount"] = std::move(account);
}

void AddEndpoints(Json& body, const Node& node) {
  if (node.state == NodeState::kCreating || node.hosts.empty()) return;
  Json endpoints = Json::array();
  for (const NodeHost& host : node.hosts) {
    Json access = Json::object();
    if (!host.plan.external_ip.empty()) access["externalIp"] = host.plan.external_ip;
    endpoints.push_back({{"ipAddress", host.plan.internal_ip},
                         {"port", 8470},
                         {"accessConfig", std::move(access)}});
  }
  body["networkEndpoints"] = std::move(endpoints);
}

}  // namespace

Json RenderNode(const Node& node) {
  Json body = node.spec;
  body["acceleratorType"] = node.shape.type;
  const std::string topology = TopologyOf(node.shape);
  if (!topology.empty()) {
    body["acceleratorConfig"] = {{"type", ConfigType(node.shape.generation)},
                                 {"topology", topology}};
  }
  body["name"] = ResourceName(node.key, "nodes");
  body["id"] = node.uid;
  body["apiVersion"] = node.version == "v2alpha1" ? "V2_ALPHA1" : "V2";
  body["createTime"] = Timestamp(node.created);
  body["state"] = NodeStateName(node.state);
  if (node.state == NodeState::kReady) body["health"] = "HEALTHY";
  if (!node.health.empty()) body["health"] = node.health;
  if (!node.health_why.empty()) body["healthDescription"] = node.health_why;
  if (!node.upcoming.maintenance.is_null()) {
    body["upcomingMaintenance"] = node.upcoming.maintenance;
  }
  body["multisliceNode"] = node.multislice;
  if (node.queued) {
    ResourceKey queued = *node.queued;
    queued.project = ProjectNumber(queued.project);
    body["queuedResource"] = ResourceName(queued, "queuedResources");
  }
  for (const char* message : {"schedulingConfig", "shieldedInstanceConfig"}) {
    if (!body.contains(message)) body[message] = Json::object();
  }
  if (node.ends_at) {
    body["schedulingConfig"]["terminationTimestamp"] = Timestamp(*node.ends_at);
  }
  AddNetwork(body, node);
  AddServiceAccount(body, node);
  AddEndpoints(body, node);
  body.merge_patch(node.overlay);
  return WithoutDefaults(std::move(body));
}

Json NodeResponse(const Node& node) {
  Json response = RenderNode(node);
  response.erase("health");
  response["@type"] = "type.googleapis.com/google.cloud.tpu.v2.Node";
  return response;
}

}  // namespace jobman::sim

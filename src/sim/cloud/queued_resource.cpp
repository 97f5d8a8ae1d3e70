#include <fmt/format.h>

#include "jobman/base/strings.hpp"
#include "sim/cloud/resource_queue.hpp"

// A queued resource as JSON: parsing requests and rendering.

namespace jobman::sim {

namespace {

constexpr std::int64_t kMostNodes = 256;

/// The node ids of one nodeSpec: its nodeId, or PREFIX-0 to PREFIX-N-1.
std::optional<ApiError> NodeIds(const Json& spec, const std::string& queued_id,
                                std::vector<std::string>& ids) {
  Json slices = Member(spec, "multisliceParams");
  if (!slices.is_object()) slices = Member(spec, "multiNodeParams");  // v2alpha1's name for it
  const std::string id = Text(spec, "nodeId");
  if (!slices.is_object()) {
    if (id.empty()) return BadRequestError("nodeSpec.nodeId or multisliceParams is required.");
    ids.push_back(id);
    return std::nullopt;
  }
  const std::int64_t count = Number(slices, "nodeCount");
  if (count < 2 || count > kMostNodes) {
    return BadRequestError(fmt::format("multisliceParams.nodeCount must be 2 to {}.", kMostNodes));
  }
  std::string prefix = Text(slices, "nodeIdPrefix");
  if (prefix.empty()) prefix = queued_id;
  for (std::int64_t i = 0; i < count; ++i) ids.push_back(fmt::format("{}-{}", prefix, i));
  return std::nullopt;
}

/// nodeSpec.parent names the zone of the request, with the project's id or number.
std::optional<ApiError> CheckParent(const Json& spec, const ResourceKey& where) {
  const std::string parent = Text(spec, "parent");
  for (const std::string& project : {where.project, ProjectNumber(where.project)}) {
    if (parent == "projects/" + project + "/locations/" + where.zone) return std::nullopt;
  }
  return BadRequestError(
      fmt::format("tpu.nodeSpec.parent must be projects/{}/locations/{}, not \"{}\".",
                  where.project, where.zone, parent));
}

std::string DataField(const std::string& state) {
  if (state == "WAITING_FOR_RESOURCES") return "";  // has no data message
  return base::ToLower(state) + "Data";
}

}  // namespace

std::optional<ApiError> ResourceQueue::Parse(const Json& body, QueuedResource& into) const {
  const Json& specs = Member(Member(body, "tpu"), "nodeSpec");
  if (!specs.is_array() || specs.empty()) return BadRequestError("tpu.nodeSpec is required.");
  if (specs.size() > 1) {
    return BadRequestError("tpu.nodeSpec has more than one entry; use multisliceParams.");
  }
  const Json& spec = specs.front();
  if (auto error = CheckParent(spec, into.key)) return error;
  const Json& node = Member(spec, "node");
  if (auto error = CheckNodeSpec(node, into.key.zone, context_.settings.types)) return error;
  std::vector<std::string> ids;
  if (auto error = NodeIds(spec, into.key.id, ids)) return error;

  into.shape = *ShapeOf(node, into.key.zone, context_.settings.types);
  into.spot = body.contains("spot") || IsSpot(node);
  into.body = body;
  for (const std::string& id : ids) {
    into.nodes.push_back({.key = {into.key.project, into.key.zone, id},
                          .spec = node,
                          .version = into.version,
                          .spot = into.spot,
                          .queued = into.key,
                          .multislice = ids.size() > 1});
  }
  return std::nullopt;
}

std::string ResourceQueue::StateName(QueuedState state) const {
  switch (state) {
    case QueuedState::kCreating:
      return "CREATING";
    case QueuedState::kWaiting:
      return context_.settings.guesses.queue_state;
    case QueuedState::kProvisioning:
      return "PROVISIONING";
    case QueuedState::kActive:
      return "ACTIVE";
    case QueuedState::kSuspending:
      return "SUSPENDING";
    case QueuedState::kSuspended:
      return "SUSPENDED";
    case QueuedState::kFailed:
      return "FAILED";
    case QueuedState::kDeleting:
      return "DELETING";
  }
  return "STATE_UNSPECIFIED";
}

Json ResourceQueue::Render(const QueuedResource& queued) const {
  Json body = queued.body;
  ResourceKey numbered = queued.key;
  numbered.project = ProjectNumber(numbered.project);

  // The documentation's samples have fields here that are not in the discovery document.
  Json specs = Json::array();
  for (const NodePlan& plan : queued.nodes) {
    Json node = plan.spec;
    node["queuedResource"] = ResourceName(numbered, "queuedResources");
    node["useTpuVm"] = true;
    for (const char* message : {"bootDisk", "schedulingConfig", "shieldedInstanceConfig"}) {
      if (!node.contains(message)) node[message] = Json::object();
    }
    specs.push_back({{"nodeId", plan.key.id},
                     {"parent", "projects/" + numbered.project + "/locations/" + numbered.zone},
                     {"node", std::move(node)}});
  }
  body["tpu"]["nodeSpec"] = std::move(specs);
  body["name"] = ResourceName(queued.key, "queuedResources");
  body["createTime"] = Timestamp(queued.created);

  const std::string name = StateName(queued.state);
  Json state = {{"state", name}, {"stateInitiator", queued.initiator}};
  if (const std::string field = DataField(name); !field.empty()) state[field] = Json::object();
  if (queued.state == QueuedState::kFailed && queued.failure) {
    state["failedData"]["error"] = ToStatus(*queued.failure);
  }
  body["state"] = std::move(state);
  return WithoutDefaults(std::move(body));
}

Json ResourceQueue::Response(const QueuedResource& queued) const {
  Json response = Render(queued);
  response["@type"] = "type.googleapis.com/google.cloud.tpu.v2.QueuedResource";
  return response;
}

}  // namespace jobman::sim

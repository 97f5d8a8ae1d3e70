#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "sim/cloud/node_registry.hpp"

// Methods of the API on one node.

namespace jobman::sim {

namespace {

/// Applies one field of updateMask; false for a field that cannot be updated.
bool Update(Json& spec, const Json& body, const std::string& field) {
  const auto take = [&](const char* name) {
    if (body.contains(name)) {
      spec[name] = body[name];
    } else {
      spec.erase(name);
    }
    return true;
  };
  if (field == "labels") return take("labels");
  if (field == "tags") return take("tags");
  if (field == "metadata") return take("metadata");
  if (field == "description") return take("description");
  if (field == "data_disks" || field == "dataDisks") return take("dataDisks");
  if (field == "network_config.enable_external_ips" || field == "networkConfig.enableExternalIps") {
    spec["networkConfig"]["enableExternalIps"] =
        Flag(Member(body, "networkConfig"), "enableExternalIps");
    return true;
  }
  return false;
}

Json GuestItem(const char* space, const char* key, const std::string& value) {
  return {{"namespace", space}, {"key", key}, {"value", value}};
}

}  // namespace

Reply NodeRegistry::Patch(Node& node, const Request& request, const std::string& version,
                          TimePoint now) {
  const std::string mask = Query(request, "updateMask");
  const auto body = ParseObject(request.body);
  if (!body) return ToReply(BadBodyError());
  if (mask.empty()) return ToReply(BadRequestError("updateMask is required."));

  if (node.state != NodeState::kReady && node.state != NodeState::kStopped) {
    const Operations::Key failed = Begin(node, "update", version, now);
    context_.operations.Fail(
        failed,
        BadRequestError(
            fmt::format("update is not supported while in state {}", NodeStateName(node.state))),
        now);
    return {.body = context_.operations.Render(failed)};
  }
  Json spec = node.spec;
  for (const std::string& field : base::Split(mask, ',')) {
    if (!Update(spec, *body, field)) {
      return ToReply(BadRequestError("The field " + field + " in updateMask cannot be updated."));
    }
  }
  node.spec = std::move(spec);
  const Metadata metadata = MetadataOf(node.spec);
  for (NodeHost& host : node.hosts) {
    if (host.plan.metadata == metadata) continue;
    host.plan.metadata = metadata;
    context_.fleet.UpdateMetadata(host.plan.name, metadata);
  }
  guest_changed_();
  const Operations::Key operation = Begin(node, "update", version, now);
  context_.timeline.At(now + context_.settings.delays.update,
                       [this, operation, key = node.key](TimePoint due) {
                         Node* updated = Find(key);
                         Json response = updated ? NodeResponse(*updated) : EmptyResponse();
                         context_.operations.Succeed(operation, std::move(response), due);
                       });
  return {.body = context_.operations.Render(operation)};
}

Reply NodeRegistry::StartOrStop(Node& node, bool start, const std::string& version, TimePoint now) {
  const Guesses& guesses = context_.settings.guesses;
  if (node.hosts.size() > 1) return ToReply(PreconditionError(guesses.stop_refused));
  if (node.spot) return ToReply(PreconditionError(guesses.spot_stop_refused));
  const NodeState needed = start ? NodeState::kStopped : NodeState::kReady;
  if (node.state != needed) {
    return ToReply(
        BadRequestError(fmt::format("{} is not supported while in state {}",
                                    start ? "start" : "stop", NodeStateName(node.state))));
  }
  Abort(node, now);
  node.operation = Begin(node, start ? "start" : "stop", version, now);
  if (start) {
    Start(node, now);
  } else {
    PowerOff(node);
    SetState(node, NodeState::kStopping, now);
    Later(node, now + context_.settings.delays.stop, [this](Node& stopped, TimePoint due) {
      SetState(stopped, NodeState::kStopped, due);
      context_.operations.Succeed(stopped.operation, NodeResponse(stopped), due);
    });
  }
  return {.body = context_.operations.Render(node.operation)};
}

Reply NodeRegistry::GuestAttributes(const Node& node, const Request& request) const {
  const auto body = ParseObject(request.body.empty() ? "{}" : request.body);
  if (!body) return ToReply(BadBodyError());
  std::vector<std::string> wanted;
  if (const Json& ids = Member(*body, "workerIds"); ids.is_array()) {
    for (const Json& id : ids) {
      // gcloud asks for all workers by one empty id.
      if (id.is_string() && !id.get_ref<const std::string&>().empty()) wanted.push_back(id);
    }
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < node.hosts.size(); ++i) {
    const bool asked = wanted.empty() ||
                       std::find(wanted.begin(), wanted.end(), std::to_string(i)) != wanted.end();
    if (!asked || node.state == NodeState::kCreating) continue;
    const NodeHost& host = node.hosts[i];
    Json items = {GuestItem("hostkeys", "ssh-ed25519", host.public_key),
                  GuestItem("guestInventory", "Hostname", host.plan.name),
                  GuestItem("tpu", "hostname", host.plan.name)};
    list.push_back({{"queryPath", "/"}, {"queryValue", {{"items", std::move(items)}}}});
  }
  return {.body = WithoutDefaults({{"guestAttributes", std::move(list)}})};
}

}  // namespace jobman::sim

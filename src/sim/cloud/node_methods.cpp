#include <fmt/format.h>

#include <set>

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

/// Whether a guest attribute is at a path: "/", "/hostkeys/" or "hostkeys/ssh-ed25519".
bool IsAt(const std::string& path, const Json& item) {
  std::vector<std::string> parts;
  for (std::string& part : base::Split(path, '/')) {
    if (!part.empty()) parts.push_back(std::move(part));
  }
  if (parts.size() > 2) return false;
  return (parts.empty() || parts[0] == Text(item, "namespace")) &&
         (parts.size() < 2 || parts[1] == Text(item, "key"));
}

/// The workers that workerIds names; none for all, which gcloud asks for by one empty id.
std::optional<ApiError> WorkersIn(const Json& body, const Node& node, std::set<std::size_t>& into) {
  for (const Json& id : Member(body, "workerIds")) {
    const std::string text = id.get<std::string>();
    if (text.empty()) continue;
    const auto index = base::ParseNumber(text);
    if (!index || *index < 0 || *index >= static_cast<std::int64_t>(node.hosts.size())) {
      return BadRequestError(fmt::format("worker id \"{}\" is not one of node {}, which has {}.",
                                         text, node.key.id, node.hosts.size()));
    }
    into.insert(static_cast<std::size_t>(*index));
  }
  return std::nullopt;
}

}  // namespace

Reply NodeRegistry::Patch(Node& node, const std::string& mask, const Json& body,
                          const std::string& version, TimePoint now) {
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
    if (!Update(spec, body, field)) {
      return ToReply(BadRequestError("The field " + field + " in updateMask cannot be updated."));
    }
  }
  node.spec = std::move(spec);
  UpdateHosts(node);
  UpdateAddresses(node);
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

Reply NodeRegistry::GuestAttributes(const Node& node, const Json& body) const {
  std::set<std::size_t> wanted;
  if (auto error = WorkersIn(body, node, wanted)) return ToReply(*error);
  const std::string asked = Text(body, "queryPath");
  const std::string path = asked.empty() ? "/" : asked;
  Json list = Json::array();
  for (std::size_t i = 0; i < node.hosts.size(); ++i) {
    if ((!wanted.empty() && !wanted.contains(i)) || node.state == NodeState::kCreating) continue;
    const NodeHost& host = node.hosts[i];
    Json items = Json::array();
    for (const Json& item : {GuestItem("hostkeys", "ssh-ed25519", host.public_key),
                             GuestItem("guestInventory", "Hostname", host.plan.name),
                             GuestItem("tpu", "hostname", host.plan.name)}) {
      if (IsAt(path, item)) items.push_back(item);
    }
    list.push_back({{"queryPath", path}, {"queryValue", {{"items", std::move(items)}}}});
  }
  return {.body = WithoutDefaults({{"guestAttributes", std::move(list)}})};
}

Reply NodeRegistry::PerformMaintenance(Node& node, const std::string& version, TimePoint now) {
  if (!Flag(node.upcoming.maintenance, "canReschedule")) {
    return ToReply(
        PreconditionError("Node " + node.key.id + " has no maintenance that can be rescheduled."));
  }
  return SimulateMaintenance(node, Json::object(), version, now);
}

Reply NodeRegistry::SimulateMaintenance(Node& node, const Json& body, const std::string& version,
                                        TimePoint now) {
  std::set<std::size_t> workers;  // of a slice, all hosts move together
  if (auto error = WorkersIn(body, node, workers)) return ToReply(*error);
  if (node.state != NodeState::kReady) {
    return ToReply(BadRequestError(
        fmt::format("maintenance is not supported while in state {}", NodeStateName(node.state))));
  }
  const Operations::Key operation = Begin(node, "update", version, now);
  MaintainNow(node, now);
  node.operation = operation;
  return {.body = context_.operations.Render(operation)};
}

}  // namespace jobman::sim

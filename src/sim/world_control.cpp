#include <fmt/format.h>

#include "jobman/base/strings.hpp"
#include "sim/world.hpp"

// The simulator's own paths: what no cloud has.

namespace jobman::sim {

namespace {

Reply Bad(const base::Error& error) {
  return ToReply(
      {.code = base::Code::kInvalidArgument,
       .message = error.hint.empty() ? error.ToString() : error.ToString() + "; " + error.hint});
}

Reply NoSuch(const std::string& what, const std::string& name) {
  return ToReply({.code = base::Code::kNotFound,
                  .message = fmt::format("there is no {} {}, or several in different zones; "
                                         "`jobman-sim status` lists them",
                                         what, name)});
}

/// An entry by its full name, or by its id when only one has it.
template <class T>
T* Named(std::map<ResourceKey, T>& all, const std::string& collection, const std::string& name) {
  T* found = nullptr;
  for (auto& [key, entry] : all) {
    if (ResourceName(key, collection) == name) return &entry;
    if (key.id != name) continue;
    if (found != nullptr) return nullptr;
    found = &entry;
  }
  return found;
}

}  // namespace

Node* World::NodeNamed(const std::string& name) {
  return Named(nodes_.all(), "nodes", name);
}

QueuedResource* World::QueuedNamed(const std::string& name) {
  return Named(queued_.all(), "queuedResources", name);
}

Reply World::Control(const Request& request, TimePoint now) {
  const std::string what = request.method + " " + request.path.substr(std::string("/sim/").size());
  if (what == "GET status") return {.body = Status()};
  if (what == "GET settings") return {.body = ToJson(settings_)};
  if (what == "GET faults") return {.body = {{"faults", faults_.ToJson()}}};
  if (what == "GET requests") {
    const auto limit = base::ParseNumber(Query(request, "limit")).value_or(100);
    return {.body = log_.ToJson(static_cast<std::size_t>(limit))};
  }
  if (what == "DELETE faults") return faults_.Clear(), Reply{};

  const auto body = ParseBody(request.body.empty() ? "{}" : request.body);
  if (!body || !body->is_object()) return Bad(base::InvalidArgument("the body is no JSON object"));
  if (what == "POST preempt") return ControlPreempt(*body, now);
  if (what == "POST host") return ControlHost(*body);
  if (what == "POST node") return ControlNode(*body, now);
  if (what == "POST fail") return ControlFail(*body, now);
  if (what == "POST settings" || what == "PATCH settings") return ControlSettings(*body, now);
  if (what == "POST faults") {
    const auto added = faults_.Add(*body);
    return added.ok() ? Reply{.body = {{"faults", faults_.ToJson()}}} : Bad(added.error());
  }
  return NoSuch("control", what);
}

Reply World::ControlPreempt(const Json& body, TimePoint now) {
  const std::string name = Text(body, "node");
  if (Node* node = NodeNamed(name)) {
    if (!node->spot && !Flag(body, "force")) {
      return Bad(base::InvalidArgument("node " + name + " is on demand, which is never preempted",
                                       "--force does it all the same"));
    }
    if (node->state == NodeState::kDeleting || node->state == NodeState::kPreempted) {
      return Bad(base::InvalidArgument(
          fmt::format("node {} is {} already", name, NodeStateName(node->state))));
    }
    nodes_.Preempt(*node, now);
    return {.body = {{"preempted", ResourceName(node->key, "nodes")}}};
  }
  if (QueuedResource* queued = QueuedNamed(name)) {
    queued_.Preempt(*queued, now);
    return {.body = {{"preempted", ResourceName(queued->key, "queuedResources")}}};
  }
  return NoSuch("node", name);
}

Reply World::ControlHost(const Json& body) {
  Node* node = NodeNamed(Text(body, "node"));
  if (node == nullptr) return NoSuch("node", Text(body, "node"));
  const std::string action = Text(body, "action");
  if (action != "kill")
    return Bad(base::InvalidArgument("unknown action \"" + action + "\"", "known: kill"));
  const auto index = Number(body, "index");
  if (index < 0 || !nodes_.KillHost(*node, static_cast<std::size_t>(index))) {
    return Bad(base::InvalidArgument(
        fmt::format("node {} has {}, numbered from 0", node->key.id,
                    base::Plural(static_cast<std::int64_t>(node->hosts.size()), "host"))));
  }
  return {.body = {{"killed", node->hosts[static_cast<std::size_t>(index)].plan.name}}};
}

Reply World::ControlNode(const Json& body, TimePoint now) {
  Node* node = NodeNamed(Text(body, "node"));
  if (node == nullptr) return NoSuch("node", Text(body, "node"));
  // The fields in `set` are shown over the real ones; null takes one back.
  for (const auto& [field, value] : Member(body, "set").items()) {
    if (value.is_null()) {
      node->overlay.erase(field);
    } else {
      node->overlay[field] = value;
    }
  }
  if (Flag(body, "reboot")) nodes_.Restart(*node, now);
  return {.body = RenderNode(*node)};
}

Reply World::ControlFail(const Json& body, TimePoint now) {
  QueuedResource* queued = QueuedNamed(Text(body, "queuedResource"));
  if (queued == nullptr) return NoSuch("queued resource", Text(body, "queuedResource"));
  ApiError error = OpaqueError();
  if (const auto code = Number(body, "code"); code >= 1 && code <= 16) {
    error.code = static_cast<base::Code>(code);
  }
  if (const std::string message = Text(body, "message"); !message.empty()) error.message = message;
  queued_.Fail(*queued, error, now);
  return {.body = queued_.Render(*queued)};
}

Reply World::ControlSettings(const Json& patch, TimePoint now) {
  const auto applied = ApplySettings(settings_, patch);
  if (!applied.ok()) return Bad(applied.error());
  queued_.Review(now);  // new stock may end a wait
  return {.body = ToJson(settings_)};
}

Json World::Status() const {
  Json nodes = Json::array();
  for (const auto& [key, node] : nodes_.all()) {
    Json hosts = Json::array();
    for (const NodeHost& host : node.hosts) {
      hosts.push_back({{"name", host.plan.name},
                       {"internal_ip", host.plan.internal_ip},
                       {"external_ip", host.plan.external_ip},
                       {"running", host.running}});
    }
    nodes.push_back({{"name", ResourceName(key, "nodes")},
                     {"id", key.id},
                     {"zone", key.zone},
                     {"type", node.shape.type},
                     {"spot", node.spot},
                     {"state", NodeStateName(node.state)},
                     {"queued_resource", node.queued ? node.queued->id : ""},
                     {"hosts", std::move(hosts)}});
  }
  Json queued = Json::array();
  for (const auto& [key, entry] : queued_.all()) {
    queued.push_back({{"name", ResourceName(key, "queuedResources")},
                      {"id", key.id},
                      {"zone", key.zone},
                      {"type", entry.shape.type},
                      {"nodes", entry.nodes.size()},
                      {"spot", entry.spot},
                      {"state", Text(Member(queued_.Render(entry), "state"), "state")}});
  }
  return {{"nodes", std::move(nodes)}, {"queued_resources", std::move(queued)}};
}

}  // namespace jobman::sim

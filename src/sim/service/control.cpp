#include "jobman/base/strings.hpp"
#include "sim/service/tpu_service.hpp"

// The simulator's own paths, /sim/.., which no cloud has.

namespace jobman::sim {

namespace {

/// The verb of a request. Faults and settings are also resources and have a second path.
std::string VerbOf(const std::string& what, const std::string& name) {
  if (what == "POST faults") return "fault";
  if (what == "PATCH settings" || what == "POST settings") return "set";
  return what == "POST " + name ? name : "";
}

}  // namespace

Reply TpuService::Control(const Request& request, TimePoint now) {
  const std::string name = request.path.substr(std::string("/sim/").size());
  const std::string what = request.method + " " + name;
  if (what == "GET status") return {.body = Status(now)};
  if (what == "GET settings") return {.body = ToJson(settings_)};
  if (what == "GET faults") return {.body = {{"faults", faults_.ToJson()}}};
  if (what == "GET events") {
    return {.body = orders_.Events(base::ParseNumber(Query(request, "since")).value_or(0))};
  }
  if (what == "GET requests") {
    const auto limit = base::ParseNumber(Query(request, "limit")).value_or(100);
    return {.body = log_.ToJson(static_cast<std::size_t>(limit))};
  }
  if (what == "DELETE faults") return faults_.Clear(), Reply{};
  auto body = ParseObject(request.body.empty() ? "{}" : request.body);
  if (!body) return Refused(base::InvalidArgument("the body is not a JSON object"));
  if (what == "POST script") return orders_.Script(*body, now);
  if (what == "POST node") return ShowNode(std::move(*body), now);
  const std::string verb = VerbOf(what, name);
  if (verb.empty()) return Refused(base::NotFound("there is no " + what));
  return orders_.Obey({verb, *body}, "", now);
}

Reply TpuService::ShowNode(Json body, TimePoint now) {
  const bool reboot = Flag(body, "reboot");
  body.erase("reboot");
  const std::string node = Text(body, "node");
  Reply reply = orders_.Obey({"show", std::move(body)}, "", now);
  if (!reboot || reply.status != 200) return reply;
  return orders_.Obey({"reboot", {{"node", node}}}, "", now);
}

Json TpuService::Status(TimePoint now) const {
  Json nodes = Json::array();
  for (const auto& [key, node] : nodes_.all()) {
    Json hosts = Json::array();
    for (const NodeHost& host : node.hosts) {
      hosts.push_back({{"name", host.plan.name},
                       {"internal_ip", host.plan.internal_ip},
                       {"external_ip", host.plan.external_ip},
                       {"running", host.running},
                       {"cut", host.cut},
                       {"hung", host.hung},
                       {"fault", HostFaultName(host.fault)}});
    }
    nodes.push_back({{"name", ResourceName(key, "nodes")},
                     {"id", key.id},
                     {"zone", key.zone},
                     {"type", node.shape.type},
                     {"spot", node.spot},
                     {"state", NodeStateName(node.state)},
                     {"health", node.health},
                     {"foreign", node.foreign},
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
                      {"foreign", entry.foreign},
                      {"state", Text(Member(queued_.Render(entry), "state"), "state")}});
  }
  return {{"nodes", std::move(nodes)},  {"queued_resources", std::move(queued)},
          {"ownerless", ownerless_},    {"requests", log_.Rates(now)},
          {"faults", faults_.ToJson()}, {"script_lines_to_come", orders_.LinesToCome()}};
}

}  // namespace jobman::sim

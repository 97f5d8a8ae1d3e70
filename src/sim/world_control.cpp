#include "jobman/base/strings.hpp"
#include "sim/world.hpp"

// The simulator's own paths: what no cloud has.

namespace jobman::sim {

namespace {

constexpr std::size_t kOwnerlessKept = 200;

bool HasOwner(const Json& spec) {
  const Json& labels = Member(spec, "labels");
  if (!labels.is_object()) return false;
  for (const auto& [key, value] : labels.items()) {
    if (key.starts_with("jobman-")) return true;
  }
  return false;
}

/// What somebody else, who does not know us, would have asked for.
Json Anonymous(Json spec) {
  for (const char* field : {"labels", "metadata", "description", "tags"}) spec.erase(field);
  return spec;
}

}  // namespace

Reply World::Control(const Request& request, TimePoint now) {
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
  if (request.method != "POST" && what != "PATCH settings") return NoSuch("control", what);

  const auto body = ParseBody(request.body.empty() ? "{}" : request.body);
  if (!body || !body->is_object()) {
    return Refused(base::InvalidArgument("the body is no JSON object"));
  }
  return orders_.Obey(name, *body, "", now);
}

void World::Occupy(const NodePlan& plan, TimePoint now) {
  if (nodes_.Find(plan.key) != nullptr) return;
  nodes_.Add(
      {.key = plan.key, .spec = Anonymous(plan.spec), .version = plan.version, .foreign = true},
      settings_.delays.create, now);
}

void World::Occupy(const QueuedResource& wanted, TimePoint now) {
  if (queued_.Find(wanted.key) != nullptr) return;
  QueuedResource other = wanted;
  for (NodePlan& plan : other.nodes) plan.spec = Anonymous(plan.spec);
  other.stalled = true;
  other.foreign = true;
  queued_.Create(std::move(other), now);
}

void World::NoteOwner(const std::string& name, const Json& spec, TimePoint now) {
  if (HasOwner(spec) || ownerless_.size() >= kOwnerlessKept) return;
  ownerless_.push_back({{"name", name}, {"created", Timestamp(now)}});
}

Json World::Status(TimePoint now) const {
  Json nodes = Json::array();
  for (const auto& [key, node] : nodes_.all()) {
    Json hosts = Json::array();
    for (const NodeHost& host : node.hosts) {
      hosts.push_back({{"name", host.plan.name},
                       {"internal_ip", host.plan.internal_ip},
                       {"external_ip", host.plan.external_ip},
                       {"running", host.running},
                       {"cut", host.cut}});
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
          {"faults", faults_.ToJson()}, {"script_lines_to_come", orders_.ToCome()}};
}

}  // namespace jobman::sim

#include "sim/guest.hpp"

#include <fmt/format.h>

#include <set>

#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

constexpr std::string_view kRoot = "/computeMetadata/v1/";
constexpr int kTpuPort = 8470;

/// "unknown:8470:10.0.0.2,..": only the address is known to be read by anybody.
std::string WorkerEndpoints(const Node& node) {
  std::vector<std::string> workers;
  for (const NodeHost& host : node.hosts) {
    workers.push_back(fmt::format("unknown:{}:{}", kTpuPort, host.plan.internal_ip));
  }
  return base::Join(workers, ",");
}

GuestReply NoSuchKey(const std::string& path) {
  return {.status = 404, .body = "there is no " + path + "\n", .type = "text/plain"};
}

/// What lies directly in the folder, folders with a slash at the end, a line each.
std::string Listing(const GuestTree& tree, const std::string& folder) {
  std::set<std::string> names;
  for (auto entry = tree.lower_bound(folder); entry != tree.end(); ++entry) {
    if (!entry->first.starts_with(folder)) break;
    const std::string rest = entry->first.substr(folder.size());
    const auto slash = rest.find('/');
    names.insert(slash == std::string::npos ? rest : rest.substr(0, slash + 1));
  }
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

Json Nested(const GuestTree& tree, const std::string& folder) {
  Json json = Json::object();
  for (auto entry = tree.lower_bound(folder); entry != tree.end(); ++entry) {
    if (!entry->first.starts_with(folder)) break;
    Json* at = &json;
    for (const std::string& part : base::Split(entry->first.substr(folder.size()), '/')) {
      at = &(*at)[part];
    }
    *at = entry->second;
  }
  return json;
}

}  // namespace

std::string GuestReply::ETag() const {
  return base::Sha256Hex(body).substr(0, 16);
}

Json GuestMaintenance(const Json& upcoming) {
  Json words = Json::object();
  const auto text = [&](const char* from, const char* to) {
    if (const std::string value = Text(upcoming, from); !value.empty()) words[to] = value;
  };
  text("type", "type");
  text("maintenanceStatus", "maintenance_status");
  text("windowStartTime", "window_start_time");
  text("windowEndTime", "window_end_time");
  text("latestWindowStartTime", "latest_window_start_time");
  words["can_reschedule"] = Flag(upcoming, "canReschedule") ? "true" : "false";
  return words;
}

GuestTree GuestTreeOf(const Node& node, std::size_t index) {
  const NodeHost& host = node.hosts[index];
  GuestTree tree = {
      {"project/project-id", node.key.project},
      {"project/numeric-project-id", ProjectNumber(node.key.project)},
      {"instance/name", host.plan.name},
      {"instance/hostname", host.plan.name},
      {"instance/zone", "projects/" + ProjectNumber(node.key.project) + "/zones/" + node.key.zone},
      {"instance/preempted", node.notice.preempted ? "TRUE" : "FALSE"},
      {"instance/maintenance-event",
       node.notice.maintenance ? "TERMINATE_ON_HOST_MAINTENANCE" : "NONE"},
  };
  if (!node.notice.upcoming.is_null()) {
    tree["instance/upcoming-maintenance"] = GuestMaintenance(node.notice.upcoming).dump();
  }
  for (const auto& [key, value] : host.plan.metadata) tree["instance/attributes/" + key] = value;
  tree["instance/attributes/accelerator-type"] = node.shape.type;
  tree["instance/attributes/agent-worker-number"] = std::to_string(index);
  tree["instance/attributes/worker-network-endpoints"] = WorkerEndpoints(node);
  if (node.queued) {
    tree["instance/attributes/queued-resource-name"] =
        ResourceName(*node.queued, "queuedResources");
  }
  return tree;
}

GuestReply LookUp(const GuestTree& tree, const std::string& path, bool recursive) {
  if (path == "/") return {.body = "computeMetadata/\n"};
  std::string key = path + "/";
  if (!key.starts_with(kRoot)) return NoSuchKey(path);
  key = key.substr(kRoot.size());
  while (key.ends_with("/")) key.pop_back();
  if (const auto value = tree.find(key); value != tree.end()) {
    const bool json = key == "instance/upcoming-maintenance";
    return {.body = value->second, .type = json ? "application/json" : "application/text"};
  }
  const std::string folder = key.empty() ? "" : key + "/";
  const std::string names = Listing(tree, folder);
  if (names.empty()) return NoSuchKey(path);
  if (!recursive) return {.body = names};
  return {.body = Nested(tree, folder).dump(), .type = "application/json"};
}

}  // namespace jobman::sim

#include "sim/cloud/guest_tree.hpp"

#include <fmt/format.h>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

constexpr int kTpuPort = 8470;

/// "unknown:8470:10.0.0.2,..": clients are known to use the address only.
std::string WorkerEndpoints(const Node& node) {
  std::vector<std::string> workers;
  for (const NodeHost& host : node.hosts) {
    workers.push_back(fmt::format("unknown:{}:{}", kTpuPort, host.plan.internal_ip));
  }
  return base::Join(workers, ",");
}

}  // namespace

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
      {"instance/preempted", node.upcoming.preemption ? "TRUE" : "FALSE"},
      {"instance/maintenance-event",
       node.upcoming.maintenance.is_null() ? "NONE" : "TERMINATE_ON_HOST_MAINTENANCE"},
  };
  if (!node.upcoming.maintenance.is_null()) {
    tree["instance/upcoming-maintenance"] = GuestMaintenance(node.upcoming.maintenance).dump();
  }
  for (const auto& [key, value] : MetadataOf(node.spec)) tree["instance/attributes/" + key] = value;
  tree["instance/attributes/accelerator-type"] = node.shape.type;
  tree["instance/attributes/agent-worker-number"] = std::to_string(index);
  tree["instance/attributes/worker-network-endpoints"] = WorkerEndpoints(node);
  if (node.queued) {
    tree["instance/attributes/queued-resource-name"] =
        ResourceName(*node.queued, "queuedResources");
  }
  return tree;
}

}  // namespace jobman::sim

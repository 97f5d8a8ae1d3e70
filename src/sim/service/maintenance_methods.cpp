#include "sim/service/tpu_service.hpp"
#include "sim/wire/paging.hpp"

// Maintenance and reservations: methods that only v2alpha1 has.

namespace jobman::sim {

namespace {

/// Whether a resource says that it uses the reservation: "projects/P/locations/Z/reservations/R".
bool Uses(const Json& spec, const std::string& name) {
  return Text(spec, "reservationName") == name ||
         Text(Member(spec, "schedulingConfig"), "reservationName") == name;
}

}  // namespace

Reply TpuService::PerformMaintenance(const Call& call, TimePoint now) {
  Node* node = nodes_.Find(call.route.key);
  if (node == nullptr) return ToReply(NotFoundError(ResourceName(call.route.key, "nodes")));
  return nodes_.PerformMaintenance(*node, call.route.version, now);
}

Reply TpuService::SimulateMaintenance(const Call& call, TimePoint now) {
  Node* node = nodes_.Find(call.route.key);
  if (node == nullptr) return ToReply(NotFoundError(ResourceName(call.route.key, "nodes")));
  return nodes_.SimulateMaintenance(*node, call.body, call.route.version, now);
}

Reply TpuService::PerformQueuedMaintenance(const Call& call, TimePoint now) {
  QueuedResource* queued = queued_.Find(call.route.key);
  if (queued == nullptr) {
    return ToReply(NotFoundError(ResourceName(call.route.key, "queuedResources")));
  }
  return queued_.PerformMaintenance(*queued, call.body, call.route.version, now);
}

Reply TpuService::MaintenanceInfo(const Call& call, TimePoint) {
  const QueuedResource* queued = queued_.Find(call.route.key);
  if (queued == nullptr) {
    return ToReply(NotFoundError(ResourceName(call.route.key, "queuedResources")));
  }
  Json list = Json::array();
  for (const NodePlan& plan : queued->nodes) {
    const Node* node = nodes_.Find(plan.key);
    if (node == nullptr || node->upcoming.maintenance.is_null()) continue;
    list.push_back({{"nodeName", ResourceName(plan.key, "nodes")},
                    {"nodeUid", node->uid},
                    {"upcomingMaintenance", node->upcoming.maintenance}});
  }
  return {.body = WithoutDefaults({{"nodeUpcomingMaintenances", std::move(list)}})};
}

std::int64_t TpuService::ChipsUsedOf(const std::string& reservation) const {
  std::int64_t chips = 0;
  for (const auto& [key, node] : nodes_.all()) {
    const auto queued = node.queued ? queued_.all().find(*node.queued) : queued_.all().end();
    const bool through_queue =
        queued != queued_.all().end() && Uses(queued->second.body, reservation);
    if (HoldsChips(node.state) && (through_queue || Uses(node.spec, reservation))) {
      chips += node.shape.chips;
    }
  }
  return chips;
}

Reply TpuService::ListReservations(const Call& call, TimePoint) {
  std::vector<Listed> entries;
  for (const auto& [where, size] : settings_.reservations) {
    const auto slash = where.find('/');
    const ResourceKey key{call.route.key.project, where.substr(0, slash), where.substr(slash + 1)};
    if (call.route.key.zone != "-" && call.route.key.zone != key.zone) continue;
    entries.push_back(
        {where, [this, key, size = size] {
           const std::string name = ResourceName(key, "reservations");
           const std::int64_t chips = ChipsUsedOf(name);
           Json used = Json::object();
           if (chips > 0) used["total"] = std::to_string(chips);
           const Json standard = {{"size", size}, {"capacityUnits", "CHIPS"}, {"usage", used}};
           return WithoutDefaults({{"name", name}, {"standard", standard}, {"state", "ACTIVE"}});
         }});
  }
  return Page(call.request, settings_.pages, "reservations", std::move(entries));
}

}  // namespace jobman::sim

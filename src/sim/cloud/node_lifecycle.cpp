#include <algorithm>
#include <utility>

#include "sim/cloud/node_registry.hpp"

// How a node boots, ends, and is interrupted.

namespace jobman::sim {

namespace {

std::vector<HostPlan> Plans(const Node& node) {
  std::vector<HostPlan> plans;
  for (const NodeHost& host : node.hosts) plans.push_back(host.plan);
  return plans;
}

}  // namespace

void NodeRegistry::Boot(Node& node, Duration delay, TimePoint now) {
  ++node.change;
  node.booting = true;
  node.delay_over = false;
  node.booted = false;
  for (NodeHost& host : node.hosts) host.running = true;
  if (!node.stalled) {
    Later(node, now + delay, [this](Node& booting, TimePoint due) {
      booting.delay_over = true;
      Finish(booting, due);
    });
  }
  node.booted = context_.fleet.Boot(node.uid, node.change, Plans(node));
}

void NodeRegistry::Finish(Node& node, TimePoint now) {
  if (!node.booting || !node.delay_over || !node.booted) return;
  node.booting = false;
  node.health.clear();
  node.health_why.clear();
  Announce(node, {.preemption = node.upcoming.preemption});  // that event is still due
  SetState(node, NodeState::kReady, now);
  context_.operations.Succeed(node.operation, NodeResponse(node), now);
}

void NodeRegistry::HostsBooted(const std::string& uid, int boot, TimePoint now) {
  Node* node = FindByUid(uid);
  if (node == nullptr || node->change != boot) return;
  node->booted = true;
  Finish(*node, now);
}

void NodeRegistry::HostsFailed(const std::string& uid, int boot, const std::string& why,
                               TimePoint now) {
  Node* node = FindByUid(uid);
  if (node == nullptr || node->change != boot) return;
  context_.operations.Fail(node->operation, {.code = base::Code::kInternal, .message = why}, now);
  node->health_why = why;
  PowerOff(*node);
  SetState(*node, NodeState::kRepairing, now);
}

void NodeRegistry::Abort(Node& node, TimePoint now) {
  ++node.change;
  context_.operations.Fail(
      node.operation,
      {.code = base::Code::kAborted, .message = "another operation on the node took its place"},
      now);
}

void NodeRegistry::PowerOff(Node& node) {
  node.booting = false;
  for (std::size_t i = 0; i < node.hosts.size(); ++i) KillHost(node, i);
}

void NodeRegistry::Announce(Node& node, const UpcomingEvents& events) {
  if (node.upcoming == events) return;
  node.upcoming = events;
  guest_changed_();
}

void NodeRegistry::End(Node& node, NodeState state, TimePoint now) {
  Abort(node, now);
  PowerOff(node);
  SetState(node, state, now);
}

void NodeRegistry::End(Node& node, NodeState via, Duration time, NodeState state, TimePoint now) {
  Abort(node, now);
  PowerOff(node);
  // Before SetState calls back, which may remove the node.
  Later(node, now + time,
        [this, state](Node& ended, TimePoint due) { SetState(ended, state, due); });
  SetState(node, via, now);
}

void NodeRegistry::Preempt(Node& node, TimePoint now) {
  End(node, NodeState::kPreempted, now);
}

void NodeRegistry::PreemptSilently(Node& node, Duration time, TimePoint now) {
  Abort(node, now);
  for (std::size_t i = 0; i < node.hosts.size(); ++i) SetHostLink(node, i, Link::kCut);
  Later(node, now + time, [this](Node& dead, TimePoint) { PowerOff(dead); });
  SetState(node, NodeState::kPreempted, now);
}

void NodeRegistry::Restart(Node& node, TimePoint now) {
  Abort(node, now);
  PowerOff(node);
  SetState(node, NodeState::kRestarting, now);
  Boot(node, context_.settings.delays.reset, now);
}

void NodeRegistry::Repair(Node& node, Duration time, TimePoint now) {
  Abort(node, now);
  PowerOff(node);
  Later(node, now + time, [this](Node& repaired, TimePoint due) {
    Boot(repaired, context_.settings.delays.reset, due);
  });
  SetState(node, NodeState::kRepairing, now);
}

void NodeRegistry::NewExternalAddresses(Node& node) {
  for (NodeHost& host : node.hosts) {
    ++address_count_;
    if (!host.plan.external_ip.empty()) host.plan.external_ip = NextAddress(kExternalBlock);
  }
}

void NodeRegistry::Maintain(Node& node, Duration time, TimePoint now) {
  Abort(node, now);
  PowerOff(node);
  node.health = "UNHEALTHY_MAINTENANCE";
  node.health_why = "maintenance event at " + base::FormatRfc3339(now).substr(11, 8) + "Z";
  UpcomingEvents ongoing = node.upcoming;
  if (!ongoing.maintenance.is_null()) ongoing.maintenance["maintenanceStatus"] = "ONGOING";
  Announce(node, ongoing);
  // Same node, same disks, new external addresses.
  Later(node, now + time, [this](Node& moved, TimePoint due) {
    NewExternalAddresses(moved);
    Boot(moved, context_.settings.delays.reset, due);
  });
  changed_(now);
}

void NodeRegistry::MaintainNow(Node& node, TimePoint now) {
  if (node.upcoming.maintenance.is_null()) {
    Announce(node, {.preemption = node.upcoming.preemption,
                    .maintenance = UpcomingMaintenance(node, now)});
  }
  Maintain(node, context_.settings.delays.maintenance, now);
}

void NodeRegistry::Start(Node& node, TimePoint now) {
  // A stopped VM gets a new external address when it starts.
  NewExternalAddresses(node);
  SetState(node, NodeState::kStarting, now);
  Boot(node, context_.settings.delays.start, now);
}

void NodeRegistry::KillHost(Node& node, std::size_t index) {
  NodeHost& host = node.hosts[index];
  host.running = host.cut = host.hung = false;
  host.fault = HostFaultKind::kNone;
  context_.fleet.PowerOff(host.plan.name);
}

void NodeRegistry::BootHost(Node& node, std::size_t index) {
  if (node.hosts[index].running) return;
  node.hosts[index].running = true;
  context_.fleet.Boot(node.uid, node.change, {node.hosts[index].plan});
}

void NodeRegistry::SetHostLink(Node& node, std::size_t index, Link link) {
  NodeHost& host = node.hosts[index];
  if (!host.running) return;
  if (link == Link::kCut) host.cut = true;
  if (link == Link::kHung || link == Link::kTrickling) host.hung = true;
  if (link == Link::kMended) host.cut = host.hung = false;
  context_.fleet.SetLink(host.plan.name, link);
  if (link == Link::kMended && host.fault != HostFaultKind::kNone) SetHostFault(node, index, {});
}

base::Status NodeRegistry::MayFail(HostFaultKind kind) const {
  return context_.fleet.MayFail(kind);
}

void NodeRegistry::SetHostFault(Node& node, std::size_t index, const HostFault& fault) {
  NodeHost& host = node.hosts[index];
  if (!host.running) return;
  host.fault = fault.kind;
  context_.fleet.SetFault(host.plan.name, fault);
}

void NodeRegistry::AddStockout(const std::string& where, TimePoint until) {
  TimePoint& ends = stockouts_[where];
  ends = std::max(ends, until);
  context_.timeline.At(until, [this, where](TimePoint due) {
    const auto stockout = stockouts_.find(where);
    if (stockout == stockouts_.end() || stockout->second > due) return;
    stockouts_.erase(stockout);
    changed_(due);
  });
}

void NodeRegistry::CalmNode(Node& node, TimePoint now) {
  if (node.state == NodeState::kReady && node.health.empty()) {
    Announce(node, {});
    for (std::size_t i = 0; i < node.hosts.size(); ++i) {
      BootHost(node, i);
      const NodeHost& host = node.hosts[i];
      if (host.cut || host.hung || host.fault != HostFaultKind::kNone)
        SetHostLink(node, i, Link::kMended);
    }
  }
  if (!std::exchange(node.stalled, false) || !node.booting) return;
  node.delay_over = true;
  Finish(node, now);
}

void NodeRegistry::Calm(TimePoint now) {
  stockouts_.clear();
  std::vector<ResourceKey> keys;  // the callback may remove nodes
  for (const auto& [key, node] : nodes_) keys.push_back(key);
  for (const ResourceKey& key : keys) {
    if (Node* node = Find(key)) CalmNode(*node, now);
  }
  changed_(now);
}

}  // namespace jobman::sim

#include <algorithm>
#include <utility>

#include "sim/nodes.hpp"

// What happens to nodes and their machines without anybody asking for it.

namespace jobman::sim {

void Nodes::Announce(Node& node, const Notice& notice) {
  if (node.notice == notice) return;
  node.notice = notice;
  guest_changed_();
}

void Nodes::End(Node& node, NodeState state, TimePoint now) {
  Abort(node, now);
  PowerOff(node);
  SetState(node, state, now);
}

void Nodes::End(Node& node, NodeState via, Duration time, NodeState state, TimePoint now) {
  Abort(node, now);
  PowerOff(node);
  // Before anybody is called back, who may take the node away.
  Later(node, now + time,
        [this, state](Node& ended, TimePoint due) { SetState(ended, state, due); });
  SetState(node, via, now);
}

void Nodes::Preempt(Node& node, TimePoint now) {
  End(node, NodeState::kPreempted, now);
}

void Nodes::PreemptSilently(Node& node, Duration time, TimePoint now) {
  Abort(node, now);
  for (std::size_t i = 0; i < node.hosts.size(); ++i) LinkHost(node, i, Link::kCut);
  Later(node, now + time, [this](Node& dead, TimePoint) { PowerOff(dead); });
  SetState(node, NodeState::kPreempted, now);
}

void Nodes::Restart(Node& node, TimePoint now) {
  Abort(node, now);
  PowerOff(node);
  SetState(node, NodeState::kRestarting, now);
  Boot(node, context_.settings.delays.reset, now);
}

void Nodes::Repair(Node& node, Duration time, TimePoint now) {
  Abort(node, now);
  PowerOff(node);
  Later(node, now + time, [this](Node& repaired, TimePoint due) {
    Boot(repaired, context_.settings.delays.reset, due);
  });
  SetState(node, NodeState::kRepairing, now);
}

void Nodes::NewExternalAddresses(Node& node) {
  for (NodeHost& host : node.hosts) {
    ++address_count_;
    if (!host.plan.external_ip.empty()) host.plan.external_ip = NextAddress(kExternalBlock);
  }
}

void Nodes::Maintain(Node& node, Duration time, TimePoint now) {
  Abort(node, now);
  PowerOff(node);
  node.health = "UNHEALTHY_MAINTENANCE";
  node.health_why = "maintenance event at " + base::FormatRfc3339(now).substr(11, 8) + "Z";
  Notice ongoing = node.notice;
  ongoing.maintenance = true;
  if (!ongoing.upcoming.is_null()) ongoing.upcoming["maintenanceStatus"] = "ONGOING";
  Announce(node, ongoing);
  // The slice comes back on other machines: same node, same disks, other addresses outside.
  Later(node, now + time, [this](Node& moved, TimePoint due) {
    NewExternalAddresses(moved);
    Boot(moved, context_.settings.delays.reset, due);
  });
  changed_(now);
}

void Nodes::Start(Node& node, TimePoint now) {
  // A stopped VM gets another external address when it comes back.
  NewExternalAddresses(node);
  SetState(node, NodeState::kStarting, now);
  Boot(node, context_.settings.delays.start, now);
}

void Nodes::KillHost(Node& node, std::size_t index) {
  node.hosts[index].running = false;
  node.hosts[index].cut = false;
  context_.fleet.PowerOff(node.hosts[index].plan.name);
}

void Nodes::BootHost(Node& node, std::size_t index) {
  if (node.hosts[index].running) return;
  node.hosts[index].running = true;
  context_.fleet.Boot(node.uid, node.change, {node.hosts[index].plan});
}

void Nodes::LinkHost(Node& node, std::size_t index, Link link) {
  if (!node.hosts[index].running) return;
  if (link != Link::kBroken) node.hosts[index].cut = link == Link::kCut;
  context_.fleet.SetLink(node.hosts[index].plan.name, link);
}

void Nodes::DryUp(const std::string& where, TimePoint until) {
  TimePoint& ends = droughts_[where];
  ends = std::max(ends, until);
  context_.timeline.At(until, [this, where](TimePoint due) {
    const auto drought = droughts_.find(where);
    if (drought == droughts_.end() || drought->second > due) return;
    droughts_.erase(drought);
    changed_(due);
  });
}

void Nodes::CalmNode(Node& node, TimePoint now) {
  if (node.state == NodeState::kReady && node.health.empty()) {
    Announce(node, {});
    for (std::size_t i = 0; i < node.hosts.size(); ++i) {
      BootHost(node, i);
      if (node.hosts[i].cut) LinkHost(node, i, Link::kMended);
    }
  }
  if (!std::exchange(node.stalled, false) || !node.booting) return;
  node.delay_over = true;
  Finish(node, now);
}

void Nodes::Calm(TimePoint now) {
  droughts_.clear();
  std::vector<ResourceKey> keys;  // who is called back may take nodes away
  for (const auto& [key, node] : nodes_) keys.push_back(key);
  for (const ResourceKey& key : keys) {
    if (Node* node = Find(key)) CalmNode(*node, now);
  }
  changed_(now);
}

}  // namespace jobman::sim

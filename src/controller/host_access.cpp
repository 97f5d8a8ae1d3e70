#include "controller/host_access.hpp"

#include <algorithm>

#include "jobman/base/log.hpp"
#include "jobman/controller/host_target.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {
namespace {

constexpr int kTries = 5;  // guest attributes appear some seconds after READY

bool IsNoAnswer(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded;
}

}  // namespace

base::Task<ports::HostTarget> HostAccess::TargetOf(std::shared_ptr<const core::Job> job, int host) {
  ports::HostTarget target = controller::TargetOf(*job, host, ports_.ssh_port(job->spec.cloud));
  const core::HostPosition position = core::PositionOf(*job->slice, host);
  NodePtr& known = nodes_[job->id][position.node_uid];
  if (!known) known = std::make_shared<Node>();
  const NodePtr node = known;  // ForgetLostNodes() may drop it during a wait
  node->targets[position.host] = target;
  for (;;) {
    const auto found = node->keys.find(position.host);
    if (found != node->keys.end()) {
      target.vouched_keys = found->second;
      target.first_sight = true;
      co_return target;
    }
    if (node->asking) {
      co_await node->changed.Wait();
      continue;
    }
    // A host with a pinned key can be reached while the cloud is silent; a new host cannot.
    target.first_sight = ports_.clock->Now() >= node->silent_until;
    if (!target.first_sight || node->tries >= kTries) co_return target;
    co_await Ask(node, job, position);
  }
}

/// Asks once for all hosts of the node, then waits if the host's key is still missing.
base::Task<void> HostAccess::Ask(NodePtr node, std::shared_ptr<const core::Job> job,
                                 core::HostPosition position) {
  struct Turn {  // also when this coroutine is cancelled: another host asks then
    Node& node;
    explicit Turn(Node& of) : node(of) { node.asking = true; }
    ~Turn() {
      node.asking = false;
      node.changed.WakeAll();
    }
  };
  const Turn turn(*node);
  const auto silent = [&] { node->silent_until = ports_.clock->Now() + kCloudSilence; };
  const auto cloud = co_await clouds_.Get(job->spec.cloud);
  if (!cloud.ok()) co_return silent();
  const auto api = *cloud;  // NOLINT(performance-unnecessary-copy-initialization): outlives a wait
  const auto answer = co_await api->GetHostKeys(job->slice->ref.place, position.node_id);
  if (!answer.ok()) {
    base::Log(base::LogLevel::kDebug, "ssh", "no host keys of node {} yet: {}", position.node_id,
              answer.error().ToString());
    if (IsNoAnswer(answer.error())) co_return silent();
  } else {
    for (const core::HostKeys& keys : *answer) {
      if (!keys.keys.empty()) node->keys[keys.host] = keys.keys;
    }
  }
  ++node->tries;
  node->changed.WakeAll();
  const bool again = !node->keys.contains(position.host) && node->tries < kTries;
  if (again) co_await base::Sleep(kBetweenHostKeyTries);
}

void HostAccess::ForgetLostNodes(const core::Job& job) {
  const auto known = nodes_.find(job.id);
  if (known == nodes_.end()) return;
  const auto is_lost = [&job](const std::string& uid) {
    if (!job.slice) return true;
    const auto& nodes = job.slice->nodes;
    return std::none_of(nodes.begin(), nodes.end(),
                        [&](const core::SliceNode& one) { return one.uid == uid; });
  };
  for (auto node = known->second.begin(); node != known->second.end();) {
    if (!is_lost(node->first)) {
      ++node;
      continue;
    }
    for (const auto& [host, target] : node->second->targets) ports_.shell->Drop(target);
    node = known->second.erase(node);
  }
  if (known->second.empty()) nodes_.erase(known);
}

}  // namespace jobman::controller

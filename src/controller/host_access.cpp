#include "controller/host_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "jobman/base/log.hpp"
#include "jobman/controller/host_target.hpp"
#include "jobman/controller/times.hpp"
#include "jobman/core/ssh_way.hpp"
#include "jobman/remote/setup_script.hpp"

namespace jobman::controller {
namespace {

/// A job that was refused for missing keys may be resumed on the same node.
constexpr base::Duration kAskStrictAgain = std::chrono::minutes{1};
/// Some 300 hosts. All hosts get it at the same time; those that do not fit are believed at first
/// sight.
constexpr std::size_t kLongestKnownHosts = std::size_t{32} * 1024;
constexpr const char* kReportedNone = "the node reported none";

/// How many answers without the key make it first use, or refuse the host: guest attributes appear
/// some seconds after READY.
int MostTries(const ports::HostTarget& target) {
  constexpr int kFirstUse = 5;
  constexpr int kStrict = 30;
  return target.strict ? kStrict : kFirstUse;
}

/// A line of a known_hosts file (sshd(8)); of several keys the one that ssh prefers.
std::string KnownHostLine(const std::string& address, int port,
                          const std::map<std::string, std::string>& keys) {
  const auto preferred = keys.find("ssh-ed25519");
  const auto& [type, key] = preferred == keys.end() ? *keys.begin() : *preferred;
  const bool usual = port == remote::kUsualSshPort;
  return (usual ? address : fmt::format("[{}]:{}", address, port)) + " " + type + " " + key + "\n";
}

}  // namespace

/// The one that was handed out before, if it is the same: all calls of a host share it.
ports::SharedTarget HostAccess::HandOut(Node& node, int host, ports::HostTarget target) {
  ports::SharedTarget& known = node.targets.at(host);
  if (*known != target) known = std::move(target);
  return known;
}

base::Task<ports::SharedTarget> HostAccess::TargetOf(std::shared_ptr<const core::Job> job,
                                                     int host) {
  ports::HostTarget target = controller::TargetOf(*job, host, ports_.ssh_port(job->spec.cloud));
  const core::HostPosition position = core::PositionOf(*job->slice, host);
  NodePtr& known = nodes_[job->id][position.node_uid];
  if (!known) known = std::make_shared<Node>();
  const NodePtr node = known;  // ForgetLostNodes() may drop it during a wait
  node->targets.try_emplace(position.host, target);
  if (core::NamesVm(target.proxy_command)) target.vm_name = co_await vms_.Of(job, position);
  for (;;) {
    const auto found = node->keys.find(position.host);
    if (found != node->keys.end()) {
      target.vouched_keys = found->second;
      target.unvouched.clear();
      target.first_sight = true;
      co_return HandOut(*node, position.host, std::move(target));
    }
    if (node->asking) {
      co_await node->changed.Wait();
      continue;
    }
    // A host with a pinned key can be reached while the cloud is silent; a new host cannot.
    target.first_sight = ports_.clock->Now() >= node->silent_until;
    target.unvouched = node->why;
    const bool long_ago = ports_.clock->Now() - node->asked_at > kAskStrictAgain;
    if (target.strict && long_ago) node->tries = 0;
    const bool enough = node->tries >= MostTries(target);
    if (!target.first_sight || enough) co_return HandOut(*node, position.host, std::move(target));
    co_await Ask(node, job, position, MostTries(target));
  }
}

/// Asks once for all hosts of the node, then waits if the host's key is still missing.
base::Task<void> HostAccess::Ask(NodePtr node, std::shared_ptr<const core::Job> job,
                                 core::HostPosition position, int most) {
  struct Turn {  // also when this coroutine is cancelled: another host asks then
    Node& node;
    explicit Turn(Node& of) : node(of) { node.asking = true; }
    ~Turn() {
      node.asking = false;
      node.changed.WakeAll();
    }
  };
  const Turn turn(*node);
  const auto silent = [&](const base::Error& error) {
    node->why = error.message;
    node->silent_until = ports_.clock->Now() + kCloudSilence;
  };
  const auto cloud = co_await clouds_.Get(job->spec.cloud);
  if (!cloud.ok()) co_return silent(cloud.error());
  const auto api = *cloud;  // NOLINT(performance-unnecessary-copy-initialization): outlives a wait
  const auto answer = co_await api->GetHostKeys(job->slice->ref.place, position.node_id);
  if (!answer.ok()) {
    base::Log(base::LogLevel::kDebug, "ssh", "no host keys of node {} yet: {}", position.node_id,
              answer.error().ToString());
    if (SaysNothingOfKeys(answer.error())) co_return silent(answer.error());
    node->why = "the cloud refused to tell it: " + answer.error().message;
  } else {
    node->why = kReportedNone;
    for (const core::HostKeys& keys : *answer) {
      if (!keys.keys.empty()) node->keys[keys.host] = keys.keys;
    }
  }
  ++node->tries;
  node->asked_at = ports_.clock->Now();
  node->changed.WakeAll();
  const bool again = !node->keys.contains(position.host) && node->tries < most;
  if (again) co_await base::Sleep(kBetweenHostKeyTries);
}

base::Task<std::string> HostAccess::KnownHosts(std::shared_ptr<const core::Job> job) {
  std::string lines;
  const int port = controller::TargetOf(*job, 0, ports_.ssh_port(job->spec.cloud)).port;
  for (int host = 0; host < static_cast<int>(job->slice->hosts.size()); ++host) {
    const core::HostPosition position = core::PositionOf(*job->slice, host);
    // One request tells the keys of a whole node.
    if (position.host == 0) co_await TargetOf(job, host);
    const auto node = nodes_[job->id].find(position.node_uid);
    if (node == nodes_[job->id].end()) continue;
    const auto keys = node->second->keys.find(position.host);
    if (keys == node->second->keys.end()) continue;
    const auto at = static_cast<std::size_t>(host);
    const std::string line = KnownHostLine(job->slice->hosts[at].internal, port, keys->second);
    if (lines.size() + line.size() > kLongestKnownHosts) break;
    lines += line;
  }
  co_return lines;
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
    for (const auto& [host, target] : node->second->targets) ports_.shell->Drop(*target);
    vms_.Forget(node->first);
    node = known->second.erase(node);
  }
  if (known->second.empty()) nodes_.erase(known);
}

}  // namespace jobman::controller

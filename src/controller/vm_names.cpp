#include "controller/vm_names.hpp"

#include "jobman/base/log.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {

base::Task<std::string> VmNames::Of(std::shared_ptr<const core::Job> job,
                                    core::HostPosition position) {
  NodePtr& known = nodes_[position.node_uid];
  if (!known) known = std::make_shared<Node>();
  const NodePtr node = known;  // Forget() may drop it during a wait
  while (node->asking) co_await node->changed.Wait();
  const bool missing = !node->names.contains(position.host);
  if (missing && ports_.clock->Now() >= node->ask_again) {
    co_await Ask(node, job, position.node_id);
  }
  const auto found = node->names.find(position.host);
  co_return found == node->names.end() ? "" : found->second;
}

base::Task<void> VmNames::Ask(NodePtr node, std::shared_ptr<const core::Job> job,
                              std::string node_id) {
  struct Turn {  // also when this coroutine is cancelled: another host asks then
    Node& node;
    explicit Turn(Node& of) : node(of) { node.asking = true; }
    ~Turn() {
      node.asking = false;
      node.changed.WakeAll();
    }
  };
  const Turn turn(*node);
  node->ask_again = ports_.clock->Now() + kCloudSilence;
  const auto cloud = co_await clouds_.Get(job->spec.cloud);
  if (!cloud.ok()) co_return;
  const auto api = *cloud;  // NOLINT(performance-unnecessary-copy-initialization): outlives a wait
  auto names = co_await api->GetVmNames(job->slice->ref.place, node_id);
  if (names.ok()) {
    node->names = std::move(*names);
  } else {
    base::Log(base::LogLevel::kDebug, "ssh", "no VM names of node {} yet: {}", node_id,
              names.error().ToString());
  }
}

}  // namespace jobman::controller

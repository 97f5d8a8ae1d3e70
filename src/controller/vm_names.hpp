#pragma once

#include <map>
#include <memory>
#include <string>

#include "controller/clouds.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/core/held_slice.hpp"

namespace jobman::controller {

/// Knows what the VMs of hosts are called, for proxy commands that ask for it: guest attributes,
/// asked for once per node.
class VmNames {
 public:
  VmNames(const Ports& ports, Clouds& clouds) : ports_(ports), clouds_(clouds) {}

  /// Empty while the cloud has not told it; the next call after kCloudSilence asks again. All hosts
  /// of a node wait for one answer.
  base::Task<std::string> Of(std::shared_ptr<const core::Job> job, core::HostPosition position);
  void Forget(const std::string& node_uid) { nodes_.erase(node_uid); }

 private:
  struct Node {
    std::map<int, std::string> names = {};  ///< by host
    core::TimePoint ask_again = {};         ///< not before
    bool asking = false;
    base::Waiters changed = {};
  };
  using NodePtr = std::shared_ptr<Node>;

  base::Task<void> Ask(NodePtr node, std::shared_ptr<const core::Job> job, std::string node_id);

  const Ports& ports_;
  Clouds& clouds_;
  std::map<std::string, NodePtr> nodes_ = {};  ///< by Node.uid
};

}  // namespace jobman::controller

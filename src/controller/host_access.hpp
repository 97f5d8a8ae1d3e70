#pragma once

#include <map>
#include <memory>
#include <string>

#include "controller/clouds.hpp"

namespace jobman::controller {

/// Knows how to reach the hosts of a slice: address, port, user, key, and the host keys that the
/// cloud vouches for (guest attributes), asked once per node.
class HostAccess {
 public:
  HostAccess(const World& world, Clouds& clouds) : world_(world), clouds_(clouds) {}

  /// The target of one host. Never fails: without vouched keys the first key seen is pinned, unless
  /// the cloud could not be asked (HostTarget::first_sight).
  /// The job is shared: a slice has many hosts, and all of them ask at the same time.
  base::Task<ports::HostTarget> TargetOf(std::shared_ptr<const core::Job> job, int host);
  /// The target without asking the cloud for keys.
  ports::HostTarget PlainTarget(const core::Job& job, int host) const;
  void Forget(const std::string& node_uid) { keys_.erase(node_uid); }

 private:
  using Keys = std::map<int, std::map<std::string, std::string>>;
  struct Known {
    Keys keys = {};
    int tries = 0;                      ///< answers of the cloud, without the keys
    core::TimePoint silent_until = {};  ///< the cloud did not answer: not asked before then
    std::weak_ptr<int> turn = {};       ///< alive while somebody asks, who may be cancelled
  };
  base::Task<void> Ask(std::shared_ptr<const core::Job> job, core::HostPosition position);

  const World& world_;
  Clouds& clouds_;
  std::map<std::string, Known> keys_ = {};
};

}  // namespace jobman::controller

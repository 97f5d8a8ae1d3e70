#pragma once

#include <map>
#include <memory>
#include <string>

#include "controller/clouds.hpp"
#include "controller/vm_names.hpp"
#include "jobman/base/waiters.hpp"

namespace jobman::controller {

/// Knows how to reach the hosts of a slice: address, port, user, key, and the host keys that the
/// cloud vouches for (guest attributes), asked once per node.
class HostAccess {
 public:
  HostAccess(const Ports& ports, Clouds& clouds)
      : ports_(ports), clouds_(clouds), vms_(ports, clouds) {}

  /// The target of one host. Never fails: without vouched keys the first key seen is pinned, unless
  /// the cloud could not be asked (HostTarget::first_sight) or the job forbids it (strict). The job
  /// is shared because all hosts of a slice ask at the same time.
  base::Task<ports::SharedTarget> TargetOf(std::shared_ptr<const core::Job> job, int host);
  /// Lines of a known_hosts file: the internal addresses of the slice's hosts, each with the key
  /// that the cloud vouches for. Hosts without one are left out.
  base::Task<std::string> KnownHosts(std::shared_ptr<const core::Job> job);
  /// Forgets nodes that the job no longer has, and closes the connections to their hosts.
  void ForgetLostNodes(const core::Job& job);

 private:
  struct Node {
    std::map<int, std::map<std::string, std::string>> keys = {};  ///< by host, type -> base64
    std::string why = {};                                         ///< why a key is missing
    int tries = 0;                      ///< answers of the cloud without the keys
    core::TimePoint asked_at = {};      ///< the last of them
    core::TimePoint silent_until = {};  ///< the cloud did not answer; do not ask before
    bool asking = false;                ///< a request for all its hosts is in progress
    base::Waiters changed = {};         ///< wait for that request
    std::map<int, ports::SharedTarget> targets = {};  ///< asked for, by host
  };
  using NodePtr = std::shared_ptr<Node>;

  static ports::SharedTarget HandOut(Node& node, int host, ports::HostTarget target);
  base::Task<void> Ask(NodePtr node, std::shared_ptr<const core::Job> job,
                       core::HostPosition position, int most);

  const Ports& ports_;
  Clouds& clouds_;
  VmNames vms_;
  std::map<core::JobId, std::map<std::string, NodePtr>> nodes_ = {};  ///< by job and Node.uid
};

}  // namespace jobman::controller

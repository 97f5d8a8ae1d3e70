#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::client {

/// Knows which host keys the cloud vouches for, as the controller does: asks once per node, and
/// only for hosts without a pinned key. The object must outlive its coroutines.
class Vouching {
 public:
  explicit Vouching(Context context) : context_(std::move(context)) {}

  /// The target with the name of its VM, if its proxy command asks for that, and the vouched keys
  /// of that host, or without them and why: then only its pinned key is accepted or, if the cloud
  /// answered and the job allows it, the first one seen.
  base::Task<ports::HostTarget> Complete(core::Job job, int host, ports::HostTarget target);
  /// The name of a host's VM, for a proxy command that asks for it; empty if it is not known.
  base::Task<std::string> NameOf(core::Job job, core::HostPosition position);
  /// What to tell the user of the keys that were pinned on first use since, in the order of hosts.
  base::Task<std::vector<std::string>> FirstUses();
  /// Complete() for all of them. Not from a coroutine.
  void CompleteAll(const core::Job& job, std::vector<ssh::FanOutHost>& hosts);

 private:
  /// What the cloud said of a node.
  struct Node {
    bool answered = false;
    std::string why = {};                                         ///< why a key is missing
    std::map<int, std::map<std::string, std::string>> keys = {};  ///< by host, type -> base64
  };
  /// A host whose key may be pinned on first use.
  struct Unknown {
    std::string identity = {};
    std::string why = {};
  };

  base::Task<Node> Ask(core::Job job, core::HostPosition position);

  Context context_;
  std::map<std::string, Node> nodes_ = {};                        ///< by uid
  std::map<std::string, std::map<int, std::string>> names_ = {};  ///< of VMs, by uid and host
  std::map<int, Unknown> unknown_ = {};
};

}  // namespace jobman::client

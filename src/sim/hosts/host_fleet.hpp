#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/hosts/host_fault.hpp"

namespace jobman::sim {

using Metadata = std::map<std::string, std::string>;

/// A TPU VM to be created: its name and its addresses.
struct HostPlan {
  std::string name = {};         ///< host name, never reused: "t1v-n-train-w-0"
  std::string internal_ip = {};  ///< 127.x.y.z
  std::string external_ip = {};  ///< 127.x.y.z, empty without an external address
  Metadata metadata = {};        ///< the node's, with `ssh-keys` and `startup-script`
};

/// How a running host can be reached.
enum class Link {
  kCut,        ///< every packet is lost: connections hang, and new ones do too
  kHung,       ///< logins work, but new commands do not begin; those that run go on
  kTrickling,  ///< like kHung, but such commands print a line now and then
  kMended,     ///< as before the cut or the hang; commands that were waiting begin
  kBroken,     ///< open connections end; new ones work
};

/// The hosts behind the nodes. A fleet never calls back from within these calls.
class HostFleet {
 public:
  virtual ~HostFleet() = default;

  /// Creates a new host (disk, host key) without switching it on. Returns its public host key: the
  /// base64 part of an "ssh-ed25519 AAAA.." line. If its disk cannot be created, its boot fails.
  virtual std::string Create(const HostPlan& plan) = 0;
  /// Switches on the hosts of one node, with a new boot id and the addresses in `plans`. True if
  /// they are reachable at once; otherwise the fleet reports (node uid, boot) when they are.
  virtual bool Boot(const std::string& uid, int boot, const std::vector<HostPlan>& plans) = 0;
  /// Kills everything that runs on the host. The disk stays.
  virtual void PowerOff(const std::string& name) = 0;
  /// Does nothing to a host that is off; PowerOff ends a cut and a hang.
  virtual void SetLink(const std::string& name, Link link) = 0;
  /// Why the hosts of this fleet cannot have such a fault, if so.
  virtual base::Status MayFail(HostFaultKind kind) const = 0;
  /// In place of the fault that the host has; kNone ends that. Does nothing to a host that is off;
  /// PowerOff ends a fault. Only what MayFail allows.
  virtual void SetFault(const std::string& name, const HostFault& fault) = 0;
  /// PowerOff, and deletes the disk.
  virtual void Destroy(const std::string& name) = 0;
  /// The metadata of the node changed: its keys can log in from now on.
  virtual void UpdateMetadata(const std::string& name, const Metadata& metadata) = 0;
};

}  // namespace jobman::sim

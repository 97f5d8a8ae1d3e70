#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/wire.hpp"

namespace jobman::sim {

using Metadata = std::map<std::string, std::string>;

/// One TPU VM to be: what it is called and where it answers.
struct HostPlan {
  std::string name = {};         ///< host name, never used again: "t1v-n-train-w-0"
  std::string internal_ip = {};  ///< 127.x.y.z
  std::string external_ip = {};  ///< 127.x.y.z, empty without an external address
  Metadata metadata = {};        ///< the node's, with `ssh-keys` and `startup-script`
};

/// What can happen to the network of a machine that runs on.
enum class Link {
  kCut,     ///< every packet is lost: connections hang, and new ones do too
  kMended,  ///< as before the cut
  kBroken,  ///< the connections that there are end; new ones work
};

/// The machines behind the nodes. The world orders, the fleet does; it never calls back into the
/// world from inside one of these calls.
class HostFleet {
 public:
  virtual ~HostFleet() = default;

  /// Orders a new machine (disk, host key) without switching it on. Gives back its public host
  /// key: the base64 part of an "ssh-ed25519 AAAA.." line. A disk that cannot be made shows at the
  /// boot.
  virtual std::string Create(const HostPlan& plan) = 0;
  /// Switches the machines of one node on, with a new boot id each, addresses as in `plans`. True
  /// when they can be reached already; else the fleet reports (node uid, boot) when they can.
  virtual bool Boot(const std::string& uid, int boot, const std::vector<HostPlan>& plans) = 0;
  /// Ends everything that runs on the machine, at once. The disk stays.
  virtual void PowerOff(const std::string& name) = 0;
  /// Nothing for a machine that is off; PowerOff takes a cut back.
  virtual void SetLink(const std::string& name, Link link) = 0;
  /// PowerOff, and the disk is gone.
  virtual void Destroy(const std::string& name) = 0;
  /// The node's metadata changed: new keys can log in from now on.
  virtual void UpdateMetadata(const std::string& name, const Metadata& metadata) = 0;
};

}  // namespace jobman::sim

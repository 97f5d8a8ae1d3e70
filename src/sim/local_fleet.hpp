#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"
#include "sim/fleet.hpp"

namespace jobman::sim {

/// What hosts are made of on this machine.
enum class Sandbox {
  kBubblewrap,  ///< own home, /tmp, host name and process tree each
  kNone,        ///< own home each; bubblewrap is refused here, or was not wanted
  kLight,       ///< as kNone, chosen for many hosts: an idle host is no process
};
std::string SandboxName(Sandbox sandbox);

struct FleetOptions {
  base::Path dir = {};  ///< hosts/ and logs/ are made in it
  int ssh_port = 0;
  int metadata_port = 0;  ///< of the metadata server; 0: there is none
  Sandbox sandbox = Sandbox::kBubblewrap;
  base::Path self = {};                 ///< the jobman-sim program, started as a helper
  std::vector<base::Path> shared = {};  ///< folders every host sees and may write to
};

/// A fleet of OpenSSH servers on loopback addresses. Everything it starts dies with it, also when
/// it is killed itself.
class LocalFleet : public HostFleet {
 public:
  /// Called from the fleet's own thread: the hosts of a boot can be reached, or `error` says why
  /// they never will be.
  using Report = std::function<void(const std::string& uid, int boot, const std::string& error)>;

  /// Kills every host and waits for the ends. Gives back processes that are left all the same.
  virtual std::vector<std::string> Shutdown() = 0;

  static base::Result<std::unique_ptr<LocalFleet>> Start(FleetOptions options, Report report);
};

/// Whether bubblewrap can make a sandbox for us here; the error says what it said.
base::Status TryBubblewrap();

}  // namespace jobman::sim

#include "sim/local_fleet.hpp"

#include "sim/bubblewrap_fleet.hpp"
#include "sim/plain_fleet.hpp"
#include "sim/spawn.hpp"

namespace jobman::sim {

std::string SandboxName(Sandbox sandbox) {
  switch (sandbox) {
    case Sandbox::kBubblewrap:
      return "bubblewrap";
    case Sandbox::kNone:
      return "none";
    case Sandbox::kLight:
      return "light";
  }
  return "none";
}

base::Result<std::unique_ptr<LocalFleet>> LocalFleet::Start(FleetOptions options, Report report) {
  if (FindProgram("sshd").empty()) {
    return base::NotFound("the OpenSSH server (sshd) is not installed",
                          "apt-get install openssh-server");
  }
  JM_TRY(base::EnsureDir(options.dir / "hosts"));
  JM_TRY(base::EnsureDir(options.dir / "logs"));
  std::unique_ptr<LocalFleet> fleet;
  if (options.sandbox == Sandbox::kBubblewrap) {
    fleet = std::make_unique<BubblewrapFleet>(std::move(options), std::move(report));
  } else {
    fleet = std::make_unique<PlainFleet>(std::move(options), std::move(report));
  }
  return fleet;
}

}  // namespace jobman::sim

#include "sim/hosts/fuse.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include "jobman/base/handle.hpp"
#include "sim/hosts/local_fleet.hpp"
#include "sim/hosts/processes.hpp"

namespace jobman::sim {

base::Status CheckFuse() {
  // Opened, since its mode is not enough: in a container it may be forbidden all the same.
  const base::UniqueFd device(open(kFuseDevice, O_RDWR | O_CLOEXEC));
  if (!device) {
    return base::Error{.code = base::Code::kFailedPrecondition,
                       .message = std::string("--fuse: cannot open ") + kFuseDevice + ": " +
                                  std::generic_category().message(errno),
                       .hint = "modprobe fuse; every user may use the device: chmod 666 /dev/fuse"};
  }
  if (FindProgram("unshare").empty())
    return base::NotFound("--fuse: unshare is not installed", "apt-get install util-linux");
  return TryBubblewrap();
}

}  // namespace jobman::sim

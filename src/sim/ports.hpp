#pragma once

#include "jobman/base/handle.hpp"
#include "jobman/base/result.hpp"

namespace jobman::sim {

/// The port of all hosts, held against other simulators by a socket on 127.0.0.1, which no host
/// uses.
struct HeldPort {
  base::UniqueFd socket = {};
  int port = 0;
};

/// Port 0 takes a free one outside the range that outgoing connections use.
base::Result<HeldPort> HoldPort(int port);

}  // namespace jobman::sim

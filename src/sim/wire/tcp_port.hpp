#pragma once

#include <string>

#include "jobman/base/handle.hpp"
#include "jobman/base/result.hpp"

namespace jobman::sim {

/// The port of all hosts. A socket on 127.0.0.1, which no host uses, keeps other simulators from
/// taking the same port.
struct HeldPort {
  base::UniqueFd socket = {};
  int port = 0;
};

/// Whether recently closed connections (TIME_WAIT) keep a port taken.
enum class OldConnections { kKeepThePort, kDoNotMatter };

/// A TCP socket bound to a port of a local IPv4 address, not listening yet. Empty, with errno, if
/// the port is taken.
base::UniqueFd BindTcp(const std::string& address, int port, OldConnections old);

/// Port 0 takes any free one outside the range of outgoing connections.
base::Result<HeldPort> HoldPort(int port);

}  // namespace jobman::sim

#pragma once

#include <string>

#include "jobman/base/handle.hpp"
#include "jobman/base/result.hpp"

namespace jobman::sim {

/// The port of all hosts, held against other simulators by a socket on 127.0.0.1, which no host
/// uses.
struct HeldPort {
  base::UniqueFd socket = {};
  int port = 0;
};

/// Whether connections that ended a moment ago, on the same port, forbid to take it (TIME_WAIT).
enum class OldConnections { kKeepThePort, kDoNotMatter };

/// A TCP socket that has the port of a local IPv4 address, not listening yet; empty, with errno,
/// when it is taken.
base::UniqueFd BindTcp(const std::string& address, int port, OldConnections old);

/// Port 0 takes a free one outside the range that outgoing connections use.
base::Result<HeldPort> HoldPort(int port);

}  // namespace jobman::sim

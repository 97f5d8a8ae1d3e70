#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace jobman::sim {

/// The socket at the other end of a TCP connection within this machine.
struct Peer {
  uid_t user = 0;
  std::uint64_t inode = 0;  ///< names the socket in /proc/PID/fd
};

/// Reads it from the kernel's tables (proc(5), /proc/net/tcp). Empty if it is closed already.
std::optional<Peer> PeerOf(int socket);
/// Whether one of these processes has the socket open.
bool HaveOpen(const std::vector<pid_t>& processes, const Peer& peer);

}  // namespace jobman::sim

#include "sim/hosts/peer.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace jobman::sim {

namespace {

/// "0100007F:1F90": the address as a number of this machine's byte order, and the port.
std::string InTable(const sockaddr_in& name) {
  return fmt::format("{:08X}:{:04X}", name.sin_addr.s_addr, ntohs(name.sin_port));
}

/// The row of the socket that is `local` and is connected to `remote`. In the table of IPv6 the
/// addresses have a prefix: "0000000000000000FFFF00000100007F:1F90".
std::optional<Peer> RowOf(const char* table, const std::string& local, const std::string& remote) {
  std::ifstream file(table);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string number, from, to, state, queues, timer, retries, user, timeout, inode;
    words >> number >> from >> to >> state >> queues >> timer >> retries >> user >> timeout >>
        inode;
    if (!from.ends_with(local) || !to.ends_with(remote)) continue;
    const std::uint64_t id = std::strtoull(inode.c_str(), nullptr, 10);
    if (id == 0) return std::nullopt;  // no process has it any more
    return Peer{.user = static_cast<uid_t>(std::strtoul(user.c_str(), nullptr, 10)), .inode = id};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Peer> PeerOf(int socket) {
  sockaddr_in here{};
  sockaddr_in there{};
  socklen_t size = sizeof here;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&here), &size) != 0) return std::nullopt;
  size = sizeof there;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&there), &size) != 0) return std::nullopt;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    if (const auto peer = RowOf(table, InTable(there), InTable(here))) return peer;
  }
  return std::nullopt;
}

bool HaveOpen(const std::vector<pid_t>& processes, const Peer& peer) {
  const std::string wanted = fmt::format("socket:[{}]", peer.inode);
  return std::any_of(processes.begin(), processes.end(), [&](pid_t pid) {
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid), ignored)) {
      if (std::filesystem::read_symlink(entry.path(), ignored) == wanted) return true;
    }
    return false;
  });
}

}  // namespace jobman::sim

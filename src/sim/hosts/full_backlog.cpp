#include "sim/hosts/full_backlog.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace jobman::sim {

namespace {

constexpr int kMostConnections = 1024;
constexpr int kPatienceMs = 20;  ///< a loopback connection is never slower

/// A connection; empty if the backlog is full.
base::UniqueFd ConnectAtOnce(const std::string& address, int port) {
  base::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, address.c_str(), &name.sin_addr);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0) return fd;
  pollfd ready{.fd = fd.get(), .events = POLLOUT, .revents = 0};
  if (poll(&ready, 1, kPatienceMs) != 1 || (ready.revents & (POLLERR | POLLHUP)) != 0) fd.Reset();
  return fd;
}

}  // namespace

FullBacklog FillBacklog(const std::vector<std::string>& addresses, int port) {
  FullBacklog backlog;
  for (const std::string& address : addresses) {
    for (int i = 0; i < kMostConnections; ++i) {
      base::UniqueFd fd = ConnectAtOnce(address, port);
      if (!fd) break;
      backlog.push_back(std::move(fd));
    }
  }
  return backlog;
}

}  // namespace jobman::sim

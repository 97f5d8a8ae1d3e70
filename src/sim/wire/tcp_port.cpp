#include "sim/wire/tcp_port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace jobman::sim {

namespace {

constexpr int kFirst = 20022;
constexpr int kLast = 29999;

base::UniqueFd Hold(int port) {
  return BindTcp("127.0.0.1", port, OldConnections::kKeepThePort);
}

}  // namespace

base::UniqueFd BindTcp(const std::string& address, int port, OldConnections old) {
  base::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int reuse = old == OldConnections::kDoNotMatter ? 1 : 0;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, address.c_str(), &name.sin_addr);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) fd.Reset();
  return fd;
}

base::Result<HeldPort> HoldPort(int port) {
  if (port != 0) {
    HeldPort held{.socket = Hold(port), .port = port};
    if (held.socket) return held;
    return base::FromErrno(errno, "taking port " + std::to_string(port) + " for the hosts");
  }
  // Simulators that start at the same time search from different ports.
  const int start = getpid() % (kLast - kFirst);
  for (int i = 0; i < kLast - kFirst; ++i) {
    HeldPort held{.port = kFirst + (start + i) % (kLast - kFirst)};
    held.socket = Hold(held.port);
    if (held.socket) return held;
  }
  return base::Error{.code = base::Code::kUnavailable, .message = "no port is free for the hosts"};
}

}  // namespace jobman::sim

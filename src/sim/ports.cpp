#include "sim/ports.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace jobman::sim {

namespace {

constexpr int kFirst = 20022;
constexpr int kLast = 29999;

base::UniqueFd Bind(int port) {
  base::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) fd.Reset();
  return fd;
}

}  // namespace

base::Result<HeldPort> HoldPort(int port) {
  if (port != 0) {
    HeldPort held{.socket = Bind(port), .port = port};
    if (held.socket) return held;
    return base::FromErrno(errno, "taking port " + std::to_string(port) + " for the hosts");
  }
  // Simulators that start at the same time begin at different places.
  const int start = getpid() % (kLast - kFirst);
  for (int i = 0; i < kLast - kFirst; ++i) {
    HeldPort held{.port = kFirst + (start + i) % (kLast - kFirst)};
    held.socket = Bind(held.port);
    if (held.socket) return held;
  }
  return base::Error{.code = base::Code::kUnavailable, .message = "no port is free for the hosts"};
}

}  // namespace jobman::sim

#include "jobman/controller/local_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "jobman/base/state_paths.hpp"

namespace jobman::controller {
namespace {

/// A socket address. Its folder must stay open until the address was used.
struct Address {
  base::UniqueFd folder = {};
  sockaddr_un name = {};
};

base::Result<Address> AddressOf(const base::Path& path) {
  Address address;
  address.name.sun_family = AF_UNIX;
  std::string text = path.string();
  if (!base::SocketPathFits(path)) {
    address.folder =
        base::UniqueFd(open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!address.folder) return base::FromErrno(errno, "opening " + path.parent_path().string());
    text = "/proc/self/fd/" + std::to_string(address.folder.get()) + "/" + path.filename().string();
  }
  std::memcpy(address.name.sun_path, text.c_str(), text.size() + 1);
  return address;
}

const sockaddr* Raw(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.name);
}

base::Result<base::UniqueFd> OpenStream() {
  base::UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return base::FromErrno(errno, "opening a Unix socket");
  return fd;
}

}  // namespace

base::Status BindPrivately(int socket, const base::Path& path) {
  JM_ASSIGN_OR_RETURN(const auto address, AddressOf(path));
  unlink(path.c_str());
  const auto mask = umask(0177);
  const int bound = bind(socket, Raw(address), sizeof(address.name));
  const int error = errno;
  umask(mask);
  if (bound != 0) return base::FromErrno(error, "binding " + path.string());
  return base::Ok();
}

base::Result<int> SendDatagram(int socket, const base::Path& path, const std::string& message) {
  JM_ASSIGN_OR_RETURN(const auto address, AddressOf(path));
  const auto sent =
      sendto(socket, message.data(), message.size(), 0, Raw(address), sizeof(address.name));
  return sent >= 0 ? 0 : errno;
}

base::Result<base::UniqueFd> ListenAt(const base::Path& path) {
  JM_ASSIGN_OR_RETURN(auto fd, OpenStream());
  JM_TRY(BindPrivately(fd.get(), path));
  if (listen(fd.get(), SOMAXCONN) != 0)
    return base::FromErrno(errno, "listening at " + path.string());
  return fd;
}

base::Result<base::UniqueFd> ConnectTo(const base::Path& path) {
  JM_ASSIGN_OR_RETURN(auto fd, OpenStream());
  JM_ASSIGN_OR_RETURN(const auto address, AddressOf(path));
  if (connect(fd.get(), Raw(address), sizeof(address.name)) == 0) return fd;
  const bool full = errno == EAGAIN;
  return base::Error{
      .code = full ? base::Code::kResourceExhausted : base::Code::kUnavailable,
      .message = "no controller answers at " + path.string() + ": " + std::strerror(errno)};
}

base::Result<pid_t> PeerOfSameUser(int socket) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return base::FromErrno(errno, "asking who is at the other end of a socket");
  if (peer.uid == geteuid()) return peer.pid;
  return base::Error{
      .code = base::Code::kPermissionDenied,
      .message = "the other end of the socket belongs to user " + std::to_string(peer.uid)};
}

}  // namespace jobman::controller

#include "jobman/controller/nudge.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>

#include "jobman/base/json.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/state_paths.hpp"

namespace jobman::controller {
namespace {

constexpr std::size_t kLargestNudge = 128 * 1024;

/// A socket address for `path`. sun_path holds 107 bytes; a longer path is reached through the
/// folder's descriptor, which is why that must stay open until the address was used.
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

base::Result<base::UniqueFd> OpenSocket() {
  base::UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return base::FromErrno(errno, "opening a Unix socket");
  return fd;
}

std::string Encode(const Nudge& nudge) {
  base::Json json = base::Json::object();
  for (const auto& [job, values] : nudge.secrets) json["secrets"][std::to_string(job)] = values;
  return json.dump(-1, ' ', false, base::Json::error_handler_t::replace);
}

Nudge Decode(std::string_view text) {
  Nudge nudge;
  const auto json = base::ParseJson(text);
  if (!json.ok()) return nudge;
  for (const auto& [job, values] : base::GetMember(*json, "secrets").items()) {
    if (!values.is_object()) continue;
    for (const auto& [name, value] : values.items()) {
      if (value.is_string()) {
        nudge.secrets[std::strtoll(job.c_str(), nullptr, 10)][name] = value.get<std::string>();
      }
    }
  }
  return nudge;
}

}  // namespace

base::Status SendNudge(const base::Path& path, const Nudge& nudge) {
  JM_ASSIGN_OR_RETURN(const auto fd, OpenSocket());
  JM_ASSIGN_OR_RETURN(const auto address, AddressOf(path));
  const std::string message = Encode(nudge);
  const auto sent =
      sendto(fd.get(), message.data(), message.size(), 0, Raw(address), sizeof(address.name));
  if (sent >= 0) return base::Ok();
  return base::Error{
      .code = base::Code::kUnavailable,
      .message = "no controller listens at " + path.string() + ": " + std::strerror(errno)};
}

base::Task<base::Status> ListenForNudges(base::Path path, std::function<void(Nudge)> on_nudge) {
  JM_CO_ASSIGN_OR_RETURN(auto fd, OpenSocket());
  JM_CO_ASSIGN_OR_RETURN(const auto address, AddressOf(path));
  unlink(path.c_str());  // whoever bound it held the lease before us
  const auto mask = umask(0177);
  const int bound = bind(fd.get(), Raw(address), sizeof(address.name));
  umask(mask);
  if (bound != 0) co_return base::FromErrno(errno, "binding " + path.string());
  asio::posix::stream_descriptor descriptor(co_await asio::this_coro::executor, fd.Release());
  std::string buffer(kLargestNudge, '\0');
  for (;;) {
    co_await descriptor.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    const auto got = recv(descriptor.native_handle(), buffer.data(), buffer.size(), 0);
    if (got >= 0)
      on_nudge(Decode(std::string_view(buffer).substr(0, static_cast<std::size_t>(got))));
  }
}

}  // namespace jobman::controller

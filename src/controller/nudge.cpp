#include "jobman/controller/nudge.hpp"

#include <sys/socket.h>
#include <sys/time.h>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/controller/local_socket.hpp"

namespace jobman::controller {
namespace {

/// A nudge is split at this size: a datagram must fit the send buffer, 208 KiB by default.
constexpr std::size_t kFullNudge = std::size_t{64} * 1024;
/// A full one plus one more value: an environment string has at most 128 KiB.
constexpr std::size_t kLargestNudge = std::size_t{256} * 1024;

base::Result<base::UniqueFd> OpenSocket() {
  base::UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return base::FromErrno(errno, "opening a Unix socket");
  return fd;
}

/// A hanging controller must not block the command.
base::Status PrepareToSend(int fd) {
  const timeval limit{.tv_sec = 1, .tv_usec = 0};
  const int size = kLargestNudge;
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));  // the default mostly suffices
  if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0) return base::Ok();
  return base::FromErrno(errno, "preparing a Unix socket");
}

using Bytes = base::Json::binary_t;

/// CBOR, since values may be any bytes, which JSON cannot hold.
std::string Encode(const Nudge& nudge) {
  base::Json json = base::Json::object();
  for (const auto& [job, values] : nudge.secrets) {
    for (const auto& [name, value] : values) {
      json["secrets"][std::to_string(job)][name] = Bytes({value.begin(), value.end()});
    }
  }
  std::string text;
  base::Json::to_cbor(json, text);
  return text;
}

Nudge Decode(std::string_view text) {
  Nudge nudge;
  const auto json = base::Json::from_cbor(text, true, false);
  for (const auto& [job, values] : base::GetMember(json, "secrets").items()) {
    if (!values.is_object()) continue;
    for (const auto& [name, value] : values.items()) {
      if (!value.is_binary()) continue;
      const Bytes& bytes = value.get_binary();
      nudge.secrets[std::strtoll(job.c_str(), nullptr, 10)][name].assign(bytes.begin(),
                                                                         bytes.end());
    }
  }
  return nudge;
}

/// Splits it into nudges that each fit into a datagram; at least one.
std::vector<Nudge> Split(const Nudge& nudge) {
  std::vector<Nudge> pieces(1);
  std::size_t size = 0;
  for (const auto& [job, values] : nudge.secrets) {
    for (const auto& [name, value] : values) {
      const std::size_t more = name.size() + value.size();
      if (size > 0 && size + more > kFullNudge) {
        pieces.emplace_back();
        size = 0;
      }
      size += more;
      pieces.back().secrets[job][name] = value;
    }
  }
  return pieces;
}

base::Status SendOne(int fd, const base::Path& path, const Nudge& nudge) {
  const std::string message = Encode(nudge);
  JM_ASSIGN_OR_RETURN(const int failed, SendDatagram(fd, path, message));
  if (failed == 0) return base::Ok();
  const bool too_large = failed == EMSGSIZE;
  return base::Error{
      .code = base::Code::kUnavailable,
      .message = (too_large ? "secrets of " + std::to_string(message.size()) + " bytes for "
                            : "no controller listens at ") +
                 path.string() + ": " + std::strerror(failed)};
}

}  // namespace

base::Status SendNudge(const base::Path& path, const Nudge& nudge) {
  JM_ASSIGN_OR_RETURN(const auto fd, OpenSocket());
  JM_TRY(PrepareToSend(fd.get()));
  for (const Nudge& piece : Split(nudge)) JM_TRY(SendOne(fd.get(), path, piece));
  return base::Ok();
}

base::Task<base::Status> ListenForNudges(base::Path path, std::function<void(Nudge)> on_nudge) {
  JM_CO_ASSIGN_OR_RETURN(auto fd, OpenSocket());
  JM_CO_TRY(BindPrivately(fd.get(), path));
  asio::posix::stream_descriptor descriptor(co_await asio::this_coro::executor, fd.Release());
  // Not filled with zeros: most are short, and what is not touched takes no memory.
  const auto buffer = std::make_unique_for_overwrite<char[]>(kLargestNudge);
  for (;;) {
    co_await descriptor.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    co_await base::EndIfCancelled();
    const auto got = recv(descriptor.native_handle(), buffer.get(), kLargestNudge, MSG_DONTWAIT);
    if (got >= 0) on_nudge(Decode({buffer.get(), static_cast<std::size_t>(got)}));
  }
}

}  // namespace jobman::controller

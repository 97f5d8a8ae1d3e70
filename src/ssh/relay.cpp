#include "ssh/relay.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/redirect_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <system_error>

#include "jobman/base/strings.hpp"

namespace jobman::ssh {
namespace {

using RelaySocket = asio::generic::stream_protocol::socket;

constexpr std::size_t kRelayBlock = 16 * 1024;
/// As `ssh -L PORT:localhost:PORT`: the host tries its IPv4 and IPv6 loopback address.
constexpr const char* kRelayTo = "localhost";

/// A channel to a port of the host, and the socket here that it is joined to.
struct Joint {
  Joint(std::shared_ptr<Session> on, asio::any_io_executor executor)
      : session(std::move(on)), channel(ssh_channel_new(session->raw())), local(executor) {
    JM_CHECK(channel != nullptr, "libssh has no memory");
  }
  ~Joint() {
    // libssh breaks the session if an open request is answered after its channel was freed.
    if (!answered) session->Retire();
    ssh_channel_free(channel);
    session->After();
  }
  Joint(const Joint&) = delete;
  Joint& operator=(const Joint&) = delete;

  bool closed() const { return ended || !session->alive() || ssh_channel_is_closed(channel) != 0; }
  /// The other direction ends too.
  void End() {
    ended = true;
    std::error_code ignored;
    local.close(ignored);
    session->Nudge();
  }

  std::shared_ptr<Session> session;
  ssh_channel channel;
  RelaySocket local;
  bool answered = false;
  bool ended = false;
  std::array<char, kRelayBlock> to_local = {};
  std::array<char, kRelayBlock> to_host = {};
};
using JointPtr = std::shared_ptr<Joint>;

base::Error NoChannel(const Session& session, int port) {
  const std::string why = SessionError(session.raw());
  // Reasons of RFC 4254, section 5.1; libssh has them in its text only.
  if (base::Contains(why, "error (1)")) {
    return {.code = base::Code::kPermissionDenied,
            .message = session.endpoint() + ": its sshd does not allow ports to be forwarded",
            .hint = "set AllowTcpForwarding yes in the host's sshd_config"};
  }
  if (base::Contains(why, "error (2)")) {
    return base::NotFound(
        fmt::format("{}: nothing listens on its port {}", session.endpoint(), port));
  }
  return {
      .code = base::Code::kUnavailable,
      .message = fmt::format("{}: no channel to its port {}: {}", session.endpoint(), port, why)};
}

Task<base::Status> OpenJoint(JointPtr joint, int port, Deadline deadline) {
  while (true) {
    const int code = ssh_channel_open_forward(joint->channel, kRelayTo, port, "127.0.0.1", 0);
    joint->session->After();
    joint->answered = code != SSH_AGAIN;
    if (code == SSH_OK) co_return base::Ok();
    if (!joint->session->alive()) co_return joint->session->BrokenError();
    if (code != SSH_AGAIN) co_return NoChannel(*joint->session, port);
    if (std::chrono::steady_clock::now() >= deadline)
      co_return Broken(joint->session->endpoint(), "it no longer answers");
    co_await joint->session->Changed(deadline);
  }
}

/// Until the host's side has ended; false if the socket failed.
Task<bool> MoveFromHost(JointPtr joint) {
  while (!joint->closed()) {
    const auto seen = joint->session->packets();
    const int count =
        ssh_channel_read_nonblocking(joint->channel, joint->to_local.data(), kRelayBlock, 0);
    joint->session->After();
    if (count < 0 && count != SSH_AGAIN) co_return true;  // also at the end
    if (count > 0) {
      const auto bytes = asio::buffer(joint->to_local.data(), static_cast<std::size_t>(count));
      std::error_code failed;
      co_await asio::async_write(joint->local, bytes,
                                 asio::redirect_error(asio::use_awaitable, failed));
      if (failed) co_return false;
    } else if (joint->session->packets() != seen) {
      co_await base::Yield();  // they may be for this channel
    } else {
      co_await joint->session->Changed();
    }
  }
  co_return true;
}

/// Sends the first `size` bytes of `to_host`; false if the channel is closed before.
Task<bool> SendBlock(JointPtr joint, std::size_t size) {
  std::size_t sent = 0;
  while (sent < size) {
    if (joint->closed()) co_return false;
    const std::size_t room = ssh_channel_window_size(joint->channel);
    const auto some = static_cast<std::uint32_t>(std::min(room, size - sent));
    const int count =
        some == 0 ? 0 : ssh_channel_write(joint->channel, joint->to_host.data() + sent, some);
    joint->session->After();
    if (count < 0 && count != SSH_AGAIN) co_return false;
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
    } else {
      co_await joint->session->Changed();
    }
  }
  co_return true;
}

/// Until this side has ended, which the host is told.
Task<void> MoveFromHere(JointPtr joint) {
  while (!joint->closed()) {
    std::error_code failed;
    const auto room = asio::buffer(joint->to_host);
    const std::size_t count = co_await joint->local.async_read_some(
        room, asio::redirect_error(asio::use_awaitable, failed));
    if (failed == asio::error::eof) {
      if (joint->closed()) co_return;
      ssh_channel_send_eof(joint->channel);
      joint->session->After();
      co_return;
    }
    bool sent = false;
    if (!failed) sent = co_await SendBlock(joint, count);
    if (sent) continue;
    joint->End();
    co_return;
  }
}

Task<void> MoveUntilHostEnds(JointPtr joint) {
  const bool whole = co_await MoveFromHost(joint);
  // A channel that was closed, not only its host's direction, takes nothing any more.
  if (!whole || joint->closed()) {
    joint->End();
  } else {
    ::shutdown(joint->local.native_handle(), SHUT_WR);
  }
}

}  // namespace

Task<base::Status> RelayOn(std::shared_ptr<Session> session, int port,
                           std::shared_ptr<base::UniqueFd> local, base::Duration open_timeout,
                           bool* answered) {
  using namespace asio::experimental::awaitable_operators;
  const auto executor = co_await asio::this_coro::executor;
  const auto joint = std::make_shared<Joint>(session, executor);
  const Deadline deadline = std::chrono::steady_clock::now() + open_timeout;
  const base::Status opened = co_await OpenJoint(joint, port, deadline);
  *answered = joint->answered && session->alive();
  if (!opened.ok()) co_return opened;
  int family = AF_INET;
  socklen_t size = sizeof family;
  ::getsockopt(local->get(), SOL_SOCKET, SO_DOMAIN, &family, &size);
  std::error_code failed;
  joint->local.assign(asio::generic::stream_protocol(family, 0), local->get(), failed);
  if (failed) co_return base::FromErrno(failed.value(), "watching a connection");
  local->Release();
  co_await (MoveUntilHostEnds(joint) && MoveFromHere(joint));
  if (!session->alive()) {
    base::Error broke = session->BrokenError();
    broke.reason = base::Reason::kConnectionBroke;
    co_return broke;
  }
  co_return base::Ok();
}

}  // namespace jobman::ssh

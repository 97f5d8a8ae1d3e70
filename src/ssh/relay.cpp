#include "ssh/relay.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/redirect_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <span>
#include <system_error>

#include "jobman/base/strings.hpp"
#include "ssh/channel_bytes.hpp"

namespace jobman::ssh {
namespace {

using RelaySocket = asio::generic::stream_protocol::socket;

constexpr std::size_t kRelayBlock = std::size_t{16} * 1024;
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

  /// The other direction ends too.
  void End() {
    std::error_code ignored;
    local.close(ignored);
    if (session->alive()) ssh_channel_close(channel);
    session->After();
    session->Nudge();
  }

  std::shared_ptr<Session> session;
  ssh_channel channel;
  RelaySocket local;
  bool answered = false;
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

/// The session is fine, if packets came meanwhile: what does not answer is the port.
base::Error NoAnswerOf(const Session& session, int port, bool port_alone) {
  if (!port_alone) return Broken(session.endpoint(), "it no longer answers");
  return {.code = base::Code::kUnavailable,
          .message = fmt::format("{}: nothing accepts connections on its port {}",
                                 session.endpoint(), port)};
}

/// `*answered` as in RelayOn().
Task<base::Status> OpenJoint(JointPtr joint, int port, Deadline deadline, bool* answered) {
  const auto before = joint->session->packets();
  while (true) {
    const int code = ssh_channel_open_forward(joint->channel, kRelayTo, port, "127.0.0.1", 0);
    joint->session->After();
    joint->answered = code != SSH_AGAIN;
    *answered = joint->answered && joint->session->alive();
    if (code == SSH_OK) co_return base::Ok();
    if (!joint->session->alive()) co_return joint->session->BrokenError();
    if (code != SSH_AGAIN) co_return NoChannel(*joint->session, port);
    if (std::chrono::steady_clock::now() >= deadline) {
      *answered = joint->session->packets() != before;
      co_return NoAnswerOf(*joint->session, port, *answered);
    }
    co_await joint->session->Changed(deadline);
  }
}

/// Keeps a channel that nobody waits for until it is answered, for the sake of others on the
/// session.
Task<void> AwaitAnswer(JointPtr joint, int port) {
  bool answered = false;
  static_cast<void>(co_await OpenJoint(joint, port, kNever, &answered));
}

/// Until the host's side has ended; false if the socket failed.
Task<bool> MoveFromHost(JointPtr joint) {
  while (true) {
    const std::size_t count = co_await ReceiveSome(joint->session, joint->channel, joint->to_local);
    if (count == 0) co_return true;
    std::error_code failed;
    co_await asio::async_write(joint->local, asio::buffer(joint->to_local.data(), count),
                               asio::redirect_error(asio::use_awaitable, failed));
    if (failed) co_return false;
  }
}

/// Until this side has ended, which the host is told.
Task<void> MoveFromHere(JointPtr joint) {
  while (true) {
    std::error_code failed;
    const auto room = asio::buffer(joint->to_host);
    const std::size_t count = co_await joint->local.async_read_some(
        room, asio::redirect_error(asio::use_awaitable, failed));
    if (failed == asio::error::eof) {
      if (IsClosed(*joint->session, joint->channel)) co_return;
      ssh_channel_send_eof(joint->channel);
      joint->session->After();
      co_return;
    }
    const std::span<const char> block(joint->to_host.data(), count);
    bool sent = false;
    if (!failed) sent = co_await SendAll(joint->session, joint->channel, block);
    if (sent) continue;
    joint->End();
    co_return;
  }
}

Task<void> MoveUntilHostEnds(JointPtr joint) {
  const bool whole = co_await MoveFromHost(joint);
  // A channel that was closed, not only its host's direction, takes nothing any more.
  if (!whole || IsClosed(*joint->session, joint->channel)) {
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
  const base::Status opened = co_await OpenJoint(joint, port, deadline, answered);
  if (!joint->answered && *answered) base::Spawn(executor, AwaitAnswer(joint, port));
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

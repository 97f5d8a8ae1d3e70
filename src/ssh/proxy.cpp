#include "ssh/proxy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <libssh/server.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <cerrno>

#include "jobman/base/readiness.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ssh/try_proxy.hpp"
#include "ssh/way.hpp"

namespace jobman::ssh {
namespace {

using base::Result;
using ProxyPtr = std::shared_ptr<ProxyProcess>;

constexpr std::string_view kGreeting = "SSH-";  // RFC 4253, section 4.2
constexpr std::size_t kMostShown = 60;
constexpr int kAsksPerSilence = 6;

/// The first bytes of the other side, which stay in the socket; none if it has hung up.
Task<Result<std::string>> FirstBytes(ProxyPtr proxy) {
  base::UniqueFd watched(fcntl(proxy->socket(), F_DUPFD_CLOEXEC, 3));
  if (!watched) co_return base::FromErrno(errno, "watching a proxy command");
  const auto executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor answer(executor, watched.Release());
  co_await base::AwaitReady(&answer, asio::posix::stream_descriptor::wait_read);
  std::array<char, 256> bytes = {};
  const ssize_t count = recv(proxy->socket(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  co_return std::string(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
}

/// One line that a terminal can show.
std::string Shown(const std::string& bytes) {
  std::string line = bytes.substr(0, bytes.find_first_of("\r\n"));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return base::Shorten(line, kMostShown);
}

std::string Cure(const ports::HostTarget& target) {
  if (!target.proxy_jump.empty()) {
    return "ssh to the jump host must work from here without a question (its host key is in your "
           "known_hosts, its key in your agent), and it must reach the address: " +
           ProxyCommandOf(target).value_or("");
  }
  return "run it by hand; jobman starts it with the PATH of the controller: " +
         ProxyCommandOf(target).value_or("");
}

Error WithCure(Error error, const ports::HostTarget& target) {
  error.hint = Cure(target);
  return error;
}

Error Garbage(const ports::HostTarget& target, const std::string& bytes) {
  Error error = Refused(EndpointOf(target), "the proxy command printed \"" + Shown(bytes) +
                                                "\" in place of an SSH server's greeting");
  error.hint =
      "its output must carry nothing but the connection, and the port must be that of an SSH "
      "server; messages belong on its standard error";
  return error;
}

/// Leaves a request that waits for its answer. Source: libssh 0.10, ssh_global_request() in
/// src/channels.c: without blocking, a call after an answer only takes that one, and sends nothing.
void AskWhetherItLives(ssh_session session) {
  ssh_send_keepalive(session);
  ssh_send_keepalive(session);
}

}  // namespace

Task<Result<ProxyPtr>> OpenProxy(ports::SharedTarget target, base::Duration limit) {
  const std::string endpoint = EndpointOf(target);
  JM_CO_ASSIGN_OR_RETURN(const std::string command, ProxyCommandOf(target));
  const auto executor = co_await asio::this_coro::executor;
  JM_CO_ASSIGN_OR_RETURN(const ProxyPtr proxy, ProxyProcess::Start(executor, command));
  const auto first = co_await base::WithTimeout(FirstBytes(proxy), limit, endpoint);
  if (!first.ok() && first.error().code != base::Code::kDeadlineExceeded) co_return first.error();
  if (!first.ok()) {
    const std::string words = co_await proxy->LastWords();
    co_return WithCure(TimedOut(endpoint, fmt::format("no answer within {} ({})",
                                                      base::FormatDuration(limit), words)),
                       target);
  }
  if (first->empty()) {
    const std::string words = co_await proxy->LastWords();
    co_return WithCure(
        Refused(endpoint, "the proxy command ended before a host answered (" + words + ")"),
        target);
  }
  if (!kGreeting.starts_with(first->substr(0, kGreeting.size()))) {
    co_return Garbage(target, *first);
  }
  co_return proxy;
}

Task<base::Status> TryProxy(ports::HostTarget target, base::Duration limit) {
  JM_CO_TRY(co_await OpenProxy(target, limit));
  co_return base::Ok();
}

Task<void> KeepAlive(std::weak_ptr<Session> session, base::Duration silence) {
  std::uint64_t seen = 0;
  int unanswered = 0;  // counted, not timed: this program may have been held up itself
  while (true) {
    co_await base::Sleep(silence / kAsksPerSilence);
    const auto self = session.lock();
    if (!self || !self->alive()) co_return;
    unanswered = self->packets() == seen ? unanswered + 1 : 0;
    seen = self->packets();
    if (unanswered >= kAsksPerSilence) {
      self->Break("no answer within " + base::FormatDuration(silence));
      co_return;
    }
    AskWhetherItLives(self->raw());
    self->After();
  }
}

}  // namespace jobman::ssh

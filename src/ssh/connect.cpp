#include "ssh/connect.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "jobman/base/env.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ssh/ssh_library.hpp"
#include "ssh/agent.hpp"
#include "ssh/agent_forwarding.hpp"
#include "ssh/host_keys.hpp"
#include "ssh/proxy.hpp"
#include "ssh/way.hpp"

namespace jobman::ssh {
namespace {

using asio::ip::tcp;
using base::Result;
using base::Status;
using SessionPtr = std::shared_ptr<Session>;

/// A silent peer, busy or idle, is given up after about 30 seconds: TCP_USER_TIMEOUT bounds what is
/// sent and not acknowledged, keepalives included (tcp(7)), which are sent when it is idle; so
/// their number, TCP_KEEPCNT, does not count. Each is a system call for each of a thousand hosts.
void SetSocketOptions(int fd) {
  const auto set = [fd](int level, int name, int value) {
    setsockopt(fd, level, name, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30000);
  fcntl(fd, F_SETFL, O_NONBLOCK);  // a new socket has no other flag that this could take away
  fcntl(fd, F_SETFD, FD_CLOEXEC);
}

Task<Result<tcp::resolver::results_type>> Resolve(ports::SharedTarget target) {
  std::error_code failed;
  const auto address = asio::ip::make_address(target->address, failed);
  if (!failed) {
    const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(target->port));
    co_return tcp::resolver::results_type::create(endpoint, "", "");
  }
  tcp::resolver resolver(co_await asio::this_coro::executor);
  const std::string port = std::to_string(target->port);
  auto found = co_await resolver.async_resolve(target->address, port,
                                               asio::redirect_error(asio::use_awaitable, failed));
  if (failed)
    co_return Refused(Endpoint(target->address, target->port), "no such host: " + failed.message());
  co_return found;
}

/// asio::async_connect() would tell a socket for which there is no descriptor as a canceled one.
Task<Result<std::shared_ptr<base::UniqueFd>>> OpenSocket(ports::SharedTarget target) {
  JM_CO_ASSIGN_OR_RETURN(const auto places, co_await Resolve(target));
  tcp::socket socket(co_await asio::this_coro::executor);
  std::error_code failed;
  for (const auto& place : places) {
    const tcp::endpoint endpoint = place.endpoint();
    socket = tcp::socket(socket.get_executor());
    socket.open(endpoint.protocol(), failed);
    if (failed) continue;
    co_await socket.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, failed));
    if (!failed) break;
  }
  if (failed) co_return FromConnect(Endpoint(target->address, target->port), failed.value());
  auto fd = std::make_shared<base::UniqueFd>(socket.release(failed));
  if (failed) co_return FromConnect(Endpoint(target->address, target->port), failed.value());
  SetSocketOptions(fd->get());
  co_return fd;
}

/// An open connection, and the child process that carries it, if any.
struct Line {
  std::shared_ptr<base::UniqueFd> socket = {};
  std::shared_ptr<ProxyProcess> proxy = {};
};

Task<Result<Line>> OpenLine(ports::SharedTarget target, SshOptions options) {
  Line line;
  if (HasProxy(target)) {
    JM_CO_ASSIGN_OR_RETURN(line.proxy, co_await OpenProxy(target, options.proxy_timeout));
    line.socket = std::make_shared<base::UniqueFd>(line.proxy->TakeSocket());
    co_return line;
  }
  const std::string endpoint = EndpointOf(target);
  const auto limit = options.connect_timeout;
  auto socket = co_await base::WithTimeout(OpenSocket(target), limit, endpoint);
  if (!socket.ok() && socket.error().code == base::Code::kDeadlineExceeded)
    co_return TimedOut(endpoint, "no answer within " + base::FormatDuration(limit));
  if (!socket.ok()) co_return std::move(socket).error();
  line.socket = *socket;
  co_return line;
}

// AES-GCM first: it is the cheapest with the processor's AES instructions.
constexpr const char* kCiphers =
    "aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,"
    "aes256-ctr,aes192-ctr,aes128-ctr";

// ECDH on P-256 before X25519, which is as strong: OpenSSL has it in faster code, and OpenSSH's own
// X25519, on the hosts, is plain C. The others are in the order of libssh 0.10.
constexpr const char* kKeyExchanges =
    "ecdh-sha2-nistp256,curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp384,"
    "ecdh-sha2-nistp521,diffie-hellman-group18-sha512,diffie-hellman-group16-sha512,"
    "diffie-hellman-group-exchange-sha256,diffie-hellman-group14-sha256";

// libssh looks for known hosts in each connection. A file that is missing is none, as an empty one
// is, and need not be opened and read.
constexpr const char* kNowhere = "/nonexistent";

/// Reads none of the user's files: the connection depends on our own settings only.
Status Configure(ssh_session session, const ports::HostTarget& target,
                 const std::optional<std::string>& pinned) {
  const std::string algorithms = HostKeyAlgorithms(target, pinned);
  const int no = 0;
  const auto set = [session](ssh_options_e option, const char* value) {
    return ssh_options_set(session, option, value) == SSH_OK;
  };
  bool good = ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &no) == SSH_OK;
  good &= set(SSH_OPTIONS_HOST, target.address.c_str());
  good &= set(SSH_OPTIONS_USER, target.user.c_str());
  good &= set(SSH_OPTIONS_SSH_DIR, kNowhere);
  good &= set(SSH_OPTIONS_KNOWNHOSTS, kNowhere);
  good &= set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, kNowhere);
  good &= set(SSH_OPTIONS_HOSTKEYS, algorithms.c_str());
  set(SSH_OPTIONS_KEY_EXCHANGE, kKeyExchanges);
  set(SSH_OPTIONS_CIPHERS_C_S, kCiphers);
  set(SSH_OPTIONS_CIPHERS_S_C, kCiphers);
  if (!good) return base::InvalidArgument("cannot log in: " + SessionError(session));
  return base::Ok();
}

bool IsOver(Deadline deadline) {
  return std::chrono::steady_clock::now() >= deadline;
}

Task<Status> ExchangeKeys(SessionPtr session, Deadline deadline) {
  while (true) {
    const int code = ssh_connect(session->raw());
    if (code == SSH_OK) co_return base::Ok();
    if (code != SSH_AGAIN) co_return Refused(session->endpoint(), SessionError(session->raw()));
    session->After();
    if (!session->alive()) co_return session->BrokenError();
    if (IsOver(deadline))
      co_return TimedOut(session->endpoint(), "connected, but no SSH handshake in time");
    co_await session->Changed(deadline);
  }
}

/// A step of a login method, repeated until it stops returning SSH_AUTH_AGAIN.
using AuthCall = std::function<Task<Result<int>>()>;

Task<Result<int>> OfferKey(SessionPtr session, PrivateKeys::Key key) {
  co_return ssh_userauth_publickey(session->raw(), nullptr, key.get());
}

Task<Result<bool>> TryLogin(SessionPtr session, AuthCall call, Deadline deadline) {
  while (true) {
    JM_CO_ASSIGN_OR_RETURN(const int code, co_await call());
    session->After();
    if (code == SSH_AUTH_SUCCESS) co_return true;
    if (code == SSH_AUTH_DENIED || code == SSH_AUTH_PARTIAL) co_return false;
    if (code != SSH_AUTH_AGAIN) {
      Error failed = LoginFailed(session->endpoint(), session->raw());
      if (failed.reason == base::Reason::kHostAuth) co_return false;
      co_return failed;
    }
    if (!session->alive()) co_return session->BrokenError();
    if (IsOver(deadline)) co_return TimedOut(session->endpoint(), "the login got no answer");
    co_await session->Changed(deadline);
  }
}

Task<Result<bool>> TryAgent(SessionPtr session, std::string socket, Deadline deadline) {
  JM_CO_ASSIGN_OR_RETURN(const auto agent, ConnectToAgent(*session, socket));
  if (!agent) co_return false;
  const AuthCall with_agent = [session, agent, deadline] {
    return AskAgent(session, agent, deadline);
  };
  co_return co_await TryLogin(session, with_agent, deadline);
}

Task<Status> LogIn(SessionPtr session, ports::SharedTarget target,
                   std::shared_ptr<Connector> connector, Deadline deadline) {
  std::vector<std::string> tried;
  const auto key = connector->keys.Load(target->private_key);
  if (key.ok()) {
    const AuthCall with_key = [session, key = *key] { return OfferKey(session, key); };
    JM_CO_ASSIGN_OR_RETURN(const bool done, co_await TryLogin(session, with_key, deadline));
    if (done) co_return base::Ok();
    tried.push_back(target->private_key);
  }
  const auto socket = base::GetEnv("SSH_AUTH_SOCK");
  if (connector->options.use_agent && socket) {
    JM_CO_ASSIGN_OR_RETURN(const bool done, co_await TryAgent(session, *socket, deadline));
    if (done) co_return base::Ok();
    tried.push_back("ssh-agent");
  }
  if (!key.ok()) co_return key.error();
  co_return AuthDenied(session->endpoint(), target->user, base::Join(tried, ", "));
}

/// `known`: the pinned key as it was read before the key exchange. Before anything is pinned it is
/// read again: another program may have pinned one meanwhile.
Task<Status> CheckAndPin(SessionPtr session, ports::SharedTarget target,
                         ports::HostKeyStore* host_keys, std::optional<std::string> known) {
  const auto accepted = CheckHostKey(session->raw(), target, known);
  if (accepted.ok() && known == *accepted) co_return base::Ok();
  JM_CO_ASSIGN_OR_RETURN(const auto pinned, co_await host_keys->PinnedKey(target->identity));
  JM_CO_ASSIGN_OR_RETURN(const std::string shown, CheckHostKey(session->raw(), target, pinned));
  if (pinned == shown) co_return base::Ok();
  if (!pinned && target->vouched_keys.empty()) {
    base::Log(base::LogLevel::kWarn, "ssh", "{} at {}: pinned key {} on first use, as {}",
              target->identity, session->endpoint(), base::KeyFingerprint(shown),
              target->unvouched.empty() ? "nobody was asked for it" : target->unvouched);
  }
  co_return co_await host_keys->PinKey(target->identity, shown);
}

}  // namespace

Task<Result<SessionPtr>> Connect(ports::SharedTarget target, std::shared_ptr<Connector> connector) {
  ports::HostKeyStore* const host_keys = connector->host_keys;
  const std::string endpoint = EndpointOf(target);
  JM_CO_TRY(OpenSshLibrary());
  Counted counted(connector->connections);
  JM_CO_ASSIGN_OR_RETURN(Line line, co_await OpenLine(target, connector->options));
  const auto executor = co_await asio::this_coro::executor;
  auto session =
      std::make_shared<Session>(executor, endpoint, std::move(*line.socket), std::move(counted));
  if (!session->alive()) co_return session->BrokenError();  // no descriptor was free for it
  const std::weak_ptr<ProxyProcess> proxy = line.proxy;
  session->Carry(std::move(line.proxy));
  JM_CO_ASSIGN_OR_RETURN(const auto known, co_await host_keys->PinnedKey(target->identity));
  JM_CO_TRY(Configure(session->raw(), target, known));
  session->LendSocket();
  const Deadline deadline = std::chrono::steady_clock::now() + connector->options.login_timeout;
  JM_CO_TRY(co_await ExchangeKeys(session, deadline));
  JM_CO_TRY(co_await CheckAndPin(session, target, host_keys, known));
  JM_CO_TRY(co_await LogIn(session, target, connector, deadline));
  const auto agent = base::GetEnv("SSH_AUTH_SOCK");
  if (target->forward_agent && agent) ForwardAgent(executor, session, *agent);
  session->StartServing();
  if (const auto carrier = proxy.lock()) {
    const std::weak_ptr<Session> watched = session;
    base::Spawn(executor, carrier->scope(), KeepAlive(watched, connector->options.proxy_silence));
  }
  if (!session->alive()) co_return session->BrokenError();  // it hung up right after the login
  base::Log(base::LogLevel::kDebug, "ssh", "connected to {}", endpoint);
  co_return session;
}

}  // namespace jobman::ssh

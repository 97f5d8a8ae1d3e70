#include "jobman/client/forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <map>
#include <system_error>

#include "client/interrupts.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/client/host_target.hpp"
#include "jobman/client/vouching.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::client {
namespace {

using asio::ip::tcp;
using base::Result;
using base::Status;
using base::Task;
using Clock = std::chrono::steady_clock;

constexpr base::Duration kAcceptPause = std::chrono::milliseconds{200};
constexpr std::chrono::seconds kRepeatAfter{10};

struct Listener {
  Listener(const asio::any_io_executor& executor, int to) : acceptor(executor), remote(to) {}
  tcp::acceptor acceptor;
  int remote;
};

base::Error CannotListen(const ForwardedPort& port, const std::error_code& why) {
  base::Error error =
      base::FromErrno(why.value(), fmt::format("listening on 127.0.0.1:{}", port.local));
  const int free_one = port.local < 1024 ? port.local + 8000 : port.local + 10000;
  error.hint = fmt::format("choose another: {}:{}, or 0:{} for any that is free",
                           free_one > 65535 ? 0 : free_one, port.remote, port.remote);
  if (why.value() == EADDRINUSE) {  // Asio's category does not know std::errc
    error.code = base::Code::kAlreadyExists;
    error.message = fmt::format("port {} of this machine is in use", port.local);
  } else if (why.value() == EACCES) {
    error.code = base::Code::kFailedPrecondition;
    error.reason = base::Reason::kNone;
    error.message = fmt::format("port {} of this machine is reserved for root", port.local);
  }
  return error;
}

/// Listens before anything is accepted, on the loopback address only.
Status Open(tcp::acceptor& acceptor, const ForwardedPort& port) {
  const tcp::endpoint at(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port.local));
  std::error_code failed;
  acceptor.open(at.protocol(), failed);
  if (!failed) acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) acceptor.bind(at, failed);
  if (!failed) acceptor.listen(tcp::acceptor::max_listen_connections, failed);
  if (failed) return CannotListen(port, failed);
  return base::Ok();
}

}  // namespace

struct Forwarding::State {
  State(Context with, core::JobId of, int on, std::function<void(const std::string&)> to)
      : context(std::move(with)), job(of), host(on), say(std::move(to)) {}

  Context context;
  core::JobId job;
  int host;
  std::function<void(const std::string&)> say;
  std::unique_ptr<ports::HostShell> shell = {};  ///< opened when the job has hosts
  std::vector<std::unique_ptr<Listener>> listeners = {};
  base::Gate gate{kMostForwarded};
  std::map<std::string, Clock::time_point> said = {};

  /// A browser tries again and again: the same thing is said from time to time only.
  void Say(const std::string& what) {
    const auto now = Clock::now();
    std::erase_if(said, [now](const auto& one) { return now - one.second >= kRepeatAfter; });
    if (said.emplace(what, now).second) say(what);
  }
};

namespace {

using StatePtr = std::shared_ptr<Forwarding::State>;

/// Where the job's host is now.
Task<Result<ports::HostTarget>> FindTarget(StatePtr state, Vouching* vouching) {
  JM_CO_ASSIGN_OR_RETURN(const core::Job job, co_await state->context.stores.jobs->Get(state->job));
  JM_CO_ASSIGN_OR_RETURN(const ports::HostTarget target,
                         TargetOf(state->context.paths, job, state->host));
  if (!state->shell) {
    state->shell = state->context.open_shell(state->context.loop->get_executor(),
                                             *state->context.stores.host_keys);
  }
  co_return co_await vouching->Complete(job, state->host, target);
}

Task<Status> Relay(StatePtr state, int remote, std::shared_ptr<base::UniqueFd> connection) {
  Vouching vouching(state->context);  // of this connection: others go on meanwhile
  JM_CO_ASSIGN_OR_RETURN(const ports::HostTarget target, co_await FindTarget(state, &vouching));
  const Status ended = co_await state->shell->Relay(target, remote, std::move(*connection));
  const auto lines = co_await vouching.FirstUses();
  for (const std::string& line : lines) state->say(line);
  co_return ended;
}

Task<void> Attend(StatePtr state, int remote, std::shared_ptr<base::UniqueFd> connection) {
  const auto pass = co_await state->gate.Enter();
  const Status ended = co_await Relay(state, remote, std::move(connection));
  if (ended.ok()) co_return;
  std::string text = fmt::format("a connection to port {}: host {}: {}", remote, state->host,
                                 ended.error().ToString());
  if (ended.error().reason == base::Reason::kConnectionBroke)
    text += "; the next one connects again";
  state->Say(text);
}

Task<void> Accept(StatePtr state, Listener* from) {
  const auto executor = state->context.loop->get_executor();
  const base::CancelScope scope;
  while (true) {
    tcp::socket socket(executor);
    std::error_code failed;
    co_await from->acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, failed));
    co_await base::EndIfCancelled();
    if (failed) {  // no descriptor is free, or the client has gone already
      co_await base::Sleep(kAcceptPause);
      continue;
    }
    const auto connection = std::make_shared<base::UniqueFd>(socket.release(failed));
    if (failed) continue;
    base::Spawn(executor, scope, Attend(state, from->remote, connection));
  }
}

Task<Status> LogIn(StatePtr state) {
  Vouching vouching(state->context);
  JM_CO_ASSIGN_OR_RETURN(const ports::HostTarget target, co_await FindTarget(state, &vouching));
  const ports::RemoteCommand nothing{.command = "true", .limit = remote::kCallLimit};
  const ports::ByteSink unread;
  JM_CO_TRY(co_await state->shell->Run(target, nothing, unread, unread));
  const auto lines = co_await vouching.FirstUses();
  for (const std::string& line : lines) state->say(line);
  co_return base::Ok();
}

std::optional<int> ParsePort(const std::string& word) {
  const auto number = base::ParseNumber(word);
  if (!number || *number > 65535) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

Result<ForwardedPort> ParseForwardedPort(const std::string& word) {
  const std::size_t colon = word.find(':');
  const bool two = colon != std::string::npos;
  const auto remote = ParsePort(two ? word.substr(colon + 1) : word);
  const auto local = two ? ParsePort(word.substr(0, colon)) : remote;
  if (!local || !remote || *remote == 0) {
    return base::InvalidArgument(
        "\"" + word + "\" is not a port",
        "write 6006, or 8080:6006 for port 8080 here and 6006 on the host");
  }
  return ForwardedPort{.local = *local, .remote = *remote};
}

Forwarding::Forwarding(Context context, core::JobId job, int host,
                       std::function<void(const std::string&)> say)
    : state_(std::make_shared<State>(std::move(context), job, host, std::move(say))) {}

Forwarding::~Forwarding() = default;

Result<std::vector<ForwardedPort>> Forwarding::Listen(std::vector<ForwardedPort> ports) {
  for (ForwardedPort& port : ports) {
    auto one = std::make_unique<Listener>(state_->context.loop->get_executor(), port.remote);
    JM_TRY(Open(one->acceptor, port));
    port.local = one->acceptor.local_endpoint().port();
    state_->listeners.push_back(std::move(one));
  }
  return ports;
}

Status Forwarding::Check() {
  Interrupts interrupts(*state_->context.loop);
  auto ended = state_->context.Await(UnlessInterrupted(&interrupts, LogIn(state_)));
  if (ended) return std::move(*ended);
  return base::Error{.code = base::Code::kCancelled, .message = "interrupted"};
}

void Forwarding::Run() {
  asio::io_context& loop = *state_->context.loop;
  Interrupts interrupts(loop);
  for (const auto& one : state_->listeners)
    base::Spawn(loop.get_executor(), scope_, Accept(state_, one.get()));
  base::RunTask(loop, interrupts.Wait());
  scope_.Cancel();
  loop.restart();
  loop.poll();
}

}  // namespace jobman::client

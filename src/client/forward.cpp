#include "jobman/client/forward.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>
#include <system_error>

#include "client/copy_parts.hpp"
#include "client/interrupts.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/client/host_target.hpp"
#include "jobman/client/job_hosts.hpp"
#include "jobman/client/times.hpp"
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
  int open = 0;                                  ///< connections that are past the gate
  base::Waiters news = {};                       ///< the job was read again
  std::optional<ports::HostTarget> target = {};  ///< where the host was last seen
  std::string seen = {};                         ///< of the job, what was told last
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

/// A connection to a port of this machine, with its place among those that are served.
struct Connection {
  Connection(StatePtr of, int to, base::UniqueFd from, base::Gate::Pass admitted)
      : state(std::move(of)),
        remote(to),
        socket(std::make_shared<base::UniqueFd>(std::move(from))),
        place(std::move(admitted)) {
    ++state->open;
  }
  ~Connection() { --state->open; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Nothing was sent, and nothing will be: nobody waits on the other side any more.
  bool HasGone() const {
    char first = 0;
    const ssize_t count = ::recv(socket->get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
  }

  StatePtr state;
  int remote;
  std::shared_ptr<base::UniqueFd> socket;  ///< taken by the relay when the host has answered
  base::Gate::Pass place;                  ///< in the state's gate: goes before the state does
};
using ConnectionPtr = std::shared_ptr<Connection>;

std::string PatienceText() {
  return base::FormatDuration(kForwardPatience);
}

bool SamePlace(const ports::HostTarget& one, const ports::HostTarget& other) {
  return one.identity == other.identity && one.address == other.address && one.port == other.port;
}

/// Where the host is from now on. Connections to where it was lead to a machine of others, or none.
std::string MoveTo(Forwarding::State& state, ports::HostTarget target) {
  const bool moved = state.target && !SamePlace(*state.target, target);
  if (moved && state.shell) state.shell->Drop(*state.target);
  const std::string at = fmt::format("{}:{}", target.address, target.port);
  state.target = std::move(target);
  return fmt::format("host {} of job {} is there, at {}: connections go to it", state.host,
                     core::FormatJobId(state.job), at);
}

/// Says what has changed for connections, once: they wait, or go elsewhere.
void Look(Forwarding::State& state, const core::Job& job) {
  const bool first = state.seen.empty();
  const bool has_hosts = HasHosts(job);
  std::string now(core::StateName(job.state));
  std::string line = WaitsFor(job) + "; connections wait for it, " + PatienceText() + " at most";
  if (has_hosts) {
    auto target = TargetOf(state.context.paths, job, state.host);
    now = target.ok() ? fmt::format("{} {}:{}", target->identity, target->address, target->port)
                      : target.error().ToString();
    line = target.ok() ? MoveTo(state, *std::move(target)) : now;
  }
  if (now == state.seen) return;
  state.seen = std::move(now);
  if (!first || !has_hosts) state.say(line);
}

/// Reads the job, and says what has changed: why it is over for good; nothing if it is not.
Task<Result<std::optional<std::string>>> Read(StatePtr state) {
  const auto job = co_await state->context.stores.jobs->Get(state->job);
  const bool erased = !job.ok() && job.error().code == base::Code::kNotFound;
  if (erased) co_return "job " + core::FormatJobId(state->job) + " is gone from the store";
  if (!job.ok()) co_return job.error();
  auto over = WhyOver(*job);
  if (!over) Look(*state, *job);
  state->news.WakeAll();
  co_return over;
}

/// Follows the job in the store, until it is over for good: why; or until nobody wants that.
Task<std::optional<std::string>> Watch(StatePtr state, std::function<bool()> wanted) {
  std::optional<std::int64_t> read;  // the store as it was when the job was read
  while (!wanted || wanted()) {
    const auto changes = co_await state->context.stores.jobs->ChangeCounter();
    if (!changes.ok() || read != *changes) {
      auto over = co_await Read(state);
      if (over.ok() && *over) co_return *std::move(over);
      if (over.ok() && changes.ok()) read = *changes;
      if (!over.ok()) state->Say("reading the job: " + over.error().ToString());
    }
    co_await base::Sleep(kLookAtForwarded);
  }
  co_return std::nullopt;
}

/// Where the host of a job with hosts is now.
Task<Result<ports::HostTarget>> FindTarget(StatePtr state, core::Job job, Vouching* vouching) {
  JM_CO_ASSIGN_OR_RETURN(const ports::HostTarget target,
                         TargetOf(state->context.paths, job, state->host));
  if (!state->shell) {
    state->shell = state->context.open_own_shell(state->context.loop->get_executor(),
                                                 *state->context.stores.host_keys);
  }
  co_return co_await vouching->Complete(job, state->host, target);
}

/// Until the connection has ended. False if there are no hosts now to join it to.
Task<Result<bool>> Relay(ConnectionPtr one) {
  const StatePtr state = one->state;
  JM_CO_ASSIGN_OR_RETURN(const core::Job job, co_await state->context.stores.jobs->Get(state->job));
  if (!HasHosts(job)) co_return false;
  Vouching vouching(state->context);  // of this connection: others go on meanwhile
  JM_CO_ASSIGN_OR_RETURN(const ports::HostTarget target,
                         co_await FindTarget(state, job, &vouching));
  const Status ended = co_await state->shell->Relay(target, one->remote, one->socket);
  const auto lines = co_await vouching.FirstUses();
  for (const std::string& line : lines) state->say(line);
  if (!ended.ok()) co_return ended.error();
  co_return true;
}

/// The host may answer later: it starts, or its slice is replaced by another one.
bool MayAnswerLater(const base::Error& error) {
  // kHostAuth: a new machine knows the job's key some seconds after it is READY.
  return MayPass(error) || error.reason == base::Reason::kHostAuth;
}

std::string WhatFailed(const Connection& one, const Result<bool>& tried) {
  if (tried.ok()) return "job " + core::FormatJobId(one.state->job) + " has no hosts now";
  return fmt::format("host {}: {}", one.state->host, tried.error().ToString());
}

Task<void> Attend(ConnectionPtr one) {
  const StatePtr state = one->state;
  const auto deadline = Clock::now() + kForwardPatience;
  while (true) {
    const Result<bool> tried = co_await Relay(one);
    if (tried.ok() && *tried) co_return;
    const std::string failed = WhatFailed(*one, tried);
    const bool later = *one->socket && (tried.ok() || MayAnswerLater(tried.error()));
    if (later && one->HasGone()) co_return;
    if (!later || Clock::now() >= deadline) {
      const bool broke = !*one->socket;
      state->Say(fmt::format("a connection to port {}: {}{}", one->remote, failed,
                             broke ? "; the next one connects again" : ""));
      co_return;
    }
    if (!tried.ok())
      state->Say(failed + "; connections wait for it, " + PatienceText() + " at most");
    const auto again = std::min(deadline, Clock::now() + kForwardRetry);
    co_await state->news.Wait(again);
  }
}

/// One connection at a time waits for its place, and the next ones wait in the kernel's queue: so
/// no port has more than its share of places that become free, and nothing grows.
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
    base::UniqueFd taken(socket.release(failed));
    if (failed) continue;
    if (state->open >= kMostForwarded)
      state->Say(fmt::format("{} connections are open, the most; others wait", state->open));
    base::Gate::Pass place = co_await state->gate.Enter();
    base::Spawn(executor, scope,
                Attend(std::make_shared<Connection>(state, from->remote, std::move(taken),
                                                    std::move(place))));
  }
}

Task<Status> LogIn(StatePtr state) {
  JM_CO_ASSIGN_OR_RETURN(const core::Job job, co_await state->context.stores.jobs->Get(state->job));
  const bool waits = !HasHosts(job) && !WhyOver(job);
  if (waits) co_return base::Ok();
  Vouching vouching(state->context);
  JM_CO_ASSIGN_OR_RETURN(const ports::HostTarget target,
                         co_await FindTarget(state, job, &vouching));
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

std::optional<std::string> Forwarding::Run(std::function<bool()> wanted) {
  asio::io_context& loop = *state_->context.loop;
  Interrupts interrupts(loop);
  for (const auto& one : state_->listeners)
    base::Spawn(loop.get_executor(), scope_, Accept(state_, one.get()));
  auto watched =
      base::RunTask(loop, UnlessInterrupted(&interrupts, Watch(state_, std::move(wanted))));
  scope_.Cancel();
  loop.restart();
  loop.poll();
  return watched ? *std::move(watched) : std::nullopt;
}

}  // namespace jobman::client

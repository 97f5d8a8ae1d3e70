#include "jobman/client/run_on_hosts.hpp"

#include <signal.h>

#include <asio/experimental/awaitable_operators.hpp>
#include <asio/signal_set.hpp>
#include <asio/use_awaitable.hpp>

#include "jobman/client/host_target.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {
namespace {

using Ended = std::optional<ssh::FanOutResult>;

/// While `signals` exists, no interrupt ends the process: `timeout` and impatient users send a
/// second one while TERM is on its way.
void CatchSignals(asio::signal_set& signals) {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction before = {};
    // An ignored signal stays ignored: whoever started this process wants it so.
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    signals.add(signal);
  }
}

base::Task<void> UntilOneOf(asio::signal_set& signals) {
  co_await signals.async_wait(asio::use_awaitable);
}

base::Task<Ended> UnlessInterrupted(asio::signal_set& signals, base::Task<ssh::FanOutResult> task) {
  using namespace asio::experimental::awaitable_operators;
  auto first = co_await (std::move(task) || UntilOneOf(signals));
  if (first.index() == 0) co_return std::move(std::get<0>(first));
  co_return std::nullopt;
}

/// A cancelled command sends TERM to its host as it ends, and it ends on the loop.
void SendFarewell(asio::io_context& loop) {
  loop.restart();
  loop.run_for(kFarewell);
}

}  // namespace

base::Result<std::vector<ssh::FanOutHost>> ChooseHosts(const base::StatePaths& paths,
                                                       const core::Job& job,
                                                       const std::string& numbers) {
  JM_ASSIGN_OR_RETURN(const core::HostSet wanted, core::ParseHostSet(numbers));
  JM_TRY(TargetOf(paths, job, wanted.all || wanted.numbers.empty() ? 0 : wanted.numbers.back()));
  std::vector<ssh::FanOutHost> hosts;
  for (int host = 0; host < static_cast<int>(job.slice->hosts.size()); ++host) {
    if (!wanted.Contains(host)) continue;
    JM_ASSIGN_OR_RETURN(ports::HostTarget target, TargetOf(paths, job, host));
    hosts.push_back({.host = host, .target = std::move(target)});
  }
  return hosts;
}

Ended RunOnHosts(const Context& context, std::vector<ssh::FanOutHost> hosts, std::string command,
                 ssh::FanOutOptions options) {
  asio::signal_set signals(*context.loop);
  CatchSignals(signals);
  const auto shell = context.open_shell(context.loop->get_executor(), *context.stores.host_keys);
  const ports::RemoteCommand same{.command = std::move(command)};
  Ended ended = context.Await(UnlessInterrupted(
      signals, ssh::FanOut(shell.get(), std::move(hosts), same, std::move(options))));
  if (!ended) SendFarewell(*context.loop);
  return ended;
}

}  // namespace jobman::client

#include "jobman/client/run_on_hosts.hpp"

#include "client/interrupts.hpp"
#include "jobman/client/host_target.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {
namespace {

using Ended = std::optional<ssh::FanOutResult>;

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
  const auto shell = context.open_shell(context.loop->get_executor(), *context.stores.host_keys);
  ports::RemoteCommand same{.command = std::move(command)};
  // No interrupt ends the process while TERM is on its way: `timeout` and impatient users send a
  // second one.
  Interrupts interrupts(*context.loop);
  return RunOnHosts(context, &interrupts, shell.get(), std::move(hosts), std::move(same),
                    std::move(options));
}

Ended RunOnHosts(const Context& context, Interrupts* interrupts, ports::HostShell* shell,
                 std::vector<ssh::FanOutHost> hosts, ports::RemoteCommand command,
                 ssh::FanOutOptions options) {
  Ended ended = context.Await(UnlessInterrupted(
      interrupts, ssh::FanOut(shell, std::move(hosts), std::move(command), std::move(options))));
  if (!ended) SendFarewell(*context.loop);
  return ended;
}

}  // namespace jobman::client

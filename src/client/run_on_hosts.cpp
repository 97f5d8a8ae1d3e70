#include "jobman/client/run_on_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "client/interrupts.hpp"
#include "jobman/client/host_target.hpp"
#include "jobman/controller/host_target.hpp"
#include "jobman/ssh/file_limit.hpp"

namespace jobman::client {
namespace {

using Ended = std::optional<ssh::FanOutResult>;

bool SomeTimedOut(const ssh::FanOutResult& result) {
  return std::any_of(result.hosts.begin(), result.hosts.end(),
                     [](const ssh::HostOutcome& host) { return host.timed_out; });
}

/// The set, once it is known that the job has its hosts.
base::Result<core::HostSet> KnownHosts(const base::StatePaths& paths, const core::Job& job,
                                       const std::string& numbers) {
  JM_ASSIGN_OR_RETURN(core::HostSet hosts, core::ParseHostSet(numbers));
  JM_TRY(TargetOf(paths, job, hosts.all || hosts.numbers.empty() ? 0 : hosts.numbers.back()));
  return hosts;
}

base::Status CheckSliceNumber(const core::Job& job, int slice) {
  const int last = core::PositionOf(*job.slice, static_cast<int>(job.slice->hosts.size()) - 1).node;
  if (slice >= 0 && slice <= last) return base::Ok();
  const std::string has = last == 0 ? "only slice 0" : fmt::format("slices 0-{}", last);
  return base::NotFound(
      fmt::format("job {} has {}, not {}", core::FormatJobId(job.id), has, slice));
}

base::Error NoHostLeft(const core::Job& job) {
  const int count = static_cast<int>(job.slice->hosts.size());
  return base::InvalidArgument(fmt::format("no host is left: job {} has {}",
                                           core::FormatJobId(job.id), core::HostsText(count)),
                               "--host, --exclude and --slice together leave none");
}

}  // namespace

base::Result<std::vector<ssh::FanOutHost>> ChooseHosts(const base::StatePaths& paths,
                                                       const core::Job& job,
                                                       const HostChoice& choice) {
  JM_ASSIGN_OR_RETURN(const core::HostSet wanted, KnownHosts(paths, job, choice.numbers));
  core::HostSet excluded{.all = false};
  if (!choice.excluded.empty()) {
    JM_ASSIGN_OR_RETURN(excluded, KnownHosts(paths, job, choice.excluded));
  }
  if (choice.slice) JM_TRY(CheckSliceNumber(job, *choice.slice));
  const int port = SshPort(paths, job.spec.cloud);  // of all: looking for it reads files
  std::vector<ssh::FanOutHost> hosts;
  for (int host = 0; host < static_cast<int>(job.slice->hosts.size()); ++host) {
    if (!wanted.Contains(host) || excluded.Contains(host)) continue;
    if (choice.slice && core::PositionOf(*job.slice, host).node != *choice.slice) continue;
    hosts.push_back({.host = host, .target = controller::TargetOf(job, host, port)});
  }
  if (hosts.empty()) return NoHostLeft(job);
  return hosts;
}

base::Result<std::vector<ssh::FanOutHost>> ChooseHosts(const base::StatePaths& paths,
                                                       const core::Job& job,
                                                       const std::string& numbers) {
  return ChooseHosts(paths, job, HostChoice{.numbers = numbers});
}

Ended RunOnHosts(const Context& context, Interrupts* interrupts, ports::HostShell* shell,
                 std::vector<ssh::FanOutHost> hosts, ports::RemoteCommand command,
                 ssh::FanOutOptions options) {
  options.window = ssh::HostsAtOnce(options.window);
  Ended ended = context.Await(UnlessInterrupted(
      interrupts, ssh::FanOut(shell, std::move(hosts), std::move(command), std::move(options))));
  if (!ended || SomeTimedOut(*ended)) SendFarewell(*context.loop);
  return ended;
}

}  // namespace jobman::client

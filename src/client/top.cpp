#include "jobman/client/top.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/this_coro.hpp>
#include <memory>
#include <random>
#include <utility>

#include "client/interrupts.hpp"
#include "jobman/client/run_on_hosts.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Task;

constexpr base::Duration kShowEvery = std::chrono::seconds{1};
/// A requeued job has other hosts.
constexpr int kShowsPerLookAtJob = 5;
constexpr base::Backoff kTryAgain{.cap = std::chrono::seconds{30}};

/// What a host says, and what it said last.
struct Heard {
  remote::HostLookReader reader = {};
  std::optional<remote::HostLook> look = {};

  /// True if these bytes complete a look.
  Result<bool> Take(std::string_view bytes) {
    JM_ASSIGN_OR_RETURN(auto next, reader.Take(bytes));
    const bool complete = next.has_value();
    if (complete) look = std::move(next);
    return complete;
  }
};

base::Error NoLook(const remote::HostLookReader& reader, int exit_code) {
  const std::string& stray = reader.stray();
  return {.code = base::Code::kDataLoss,
          .message = stray.empty()
                         ? fmt::format("the host says nothing of itself (exit code {})", exit_code)
                         : fmt::format("the host says '{}' (exit code {})", stray, exit_code),
          .hint = "check what the host's login shell prints"};
}

TopHost StateOf(const ssh::HostOutcome& outcome, Heard& heard) {
  TopHost state{.host = outcome.host};
  if (!outcome.result.ok()) {
    state.trouble = outcome.result.error();
  } else if (heard.look) {
    state.look = std::move(heard.look);
  } else {
    state.trouble = NoLook(heard.reader, *outcome.result);
  }
  return state;
}

/// What the coroutines of a watch share.
struct Watched {
  std::vector<ssh::FanOutHost> hosts = {};
  std::chrono::seconds every = {};
  std::vector<TopHost> states = {};  ///< of the host at the same place
  std::vector<int> failures = {};    ///< in a row, likewise
  bool changed = true;
  std::minstd_rand random{std::random_device{}()};

  void Seen(std::size_t row, remote::HostLook look) {
    states[row].look = std::move(look);
    states[row].trouble.reset();
    failures[row] = 0;
    changed = true;
  }
  /// The command ended; returns how long to wait before the next one.
  base::Duration Ended(std::size_t row, const Result<int>& ended, const Heard& heard) {
    // The script does not go on for ever.
    if (ended.ok() && *ended == 0 && heard.look) return every;
    TopHost& state = states[row];
    state.look.reset();
    state.trouble = ended.ok() ? NoLook(heard.reader, *ended) : ended.error();
    changed = true;
    const double jitter = std::uniform_real_distribution<>(0, 1)(random);
    return kTryAgain.FullJitter(++failures[row], jitter);
  }
};

Task<void> WatchOne(ports::HostShell* shell, std::shared_ptr<Watched> all, std::size_t row) {
  const ports::ByteSink nobody;
  while (true) {
    const auto heard = std::make_shared<Heard>();
    ports::RemoteCommand command{.command = remote::TopCommand(all->every),
                                 .silence = kLookLimit + all->every};
    ports::ByteSink out = [all, row, heard](std::string_view bytes) -> base::Status {
      JM_ASSIGN_OR_RETURN(const bool complete, heard->Take(bytes));
      if (complete) all->Seen(row, *heard->look);
      return base::Ok();
    };
    ports::HostTarget target = all->hosts[row].target;
    const auto ended =
        co_await shell->Run(std::move(target), std::move(command), std::move(out), nobody);
    const base::Duration wait = all->Ended(row, ended, *heard);
    co_await base::Sleep(wait);
  }
}

std::vector<std::string> MachinesOf(const core::Job& job) {
  std::vector<std::string> machines;
  if (!job.slice) return machines;
  for (const auto& node : job.slice->nodes) machines.push_back(node.uid);
  for (const auto& host : job.slice->hosts) machines.push_back(host.internal + "," + host.external);
  return machines;
}

Task<WatchEnd> Watch(ports::HostShell* shell, ports::JobStore* jobs, core::Job job,
                     std::shared_ptr<Watched> all, ShowHosts show) {
  const auto executor = co_await asio::this_coro::executor;
  const base::CancelScope scope;
  for (std::size_t row = 0; row < all->hosts.size(); ++row)
    base::Spawn(executor, scope, WatchOne(shell, all, row));
  for (int shown = 1;; ++shown) {
    co_await base::Sleep(kShowEvery);
    const bool changed = std::exchange(all->changed, false);
    if (!show(all->states, changed)) co_return WatchEnd::kEnough;
    if (shown % kShowsPerLookAtJob != 0) continue;
    const auto now = co_await jobs->Get(job.id);
    if (now.ok() && MachinesOf(*now) != MachinesOf(job)) co_return WatchEnd::kMoved;
  }
}

}  // namespace

std::optional<std::vector<TopHost>> LookAtHosts(const Context& context,
                                                std::vector<ssh::FanOutHost> hosts,
                                                ssh::FanOutOptions options) {
  std::vector<std::shared_ptr<Heard>> heard;
  for (ssh::FanOutHost& host : hosts) {
    heard.push_back(std::make_shared<Heard>());
    host.out = [one = heard.back()](std::string_view bytes) -> base::Status {
      JM_TRY(one->Take(bytes));
      return base::Ok();
    };
  }
  const auto shell = context.open_shell(context.loop->get_executor(), *context.stores.host_keys);
  Interrupts interrupts(*context.loop);
  ports::RemoteCommand command{.command = remote::TopCommand({}), .limit = kLookLimit};
  const auto ended = RunOnHosts(context, &interrupts, shell.get(), std::move(hosts),
                                std::move(command), std::move(options));
  if (!ended) return std::nullopt;
  std::vector<TopHost> states;
  for (std::size_t row = 0; row < heard.size(); ++row)
    states.push_back(StateOf(ended->hosts[row], *heard[row]));
  return states;
}

WatchEnd WatchHosts(const Context& context, const core::Job& job,
                    std::vector<ssh::FanOutHost> hosts, std::chrono::seconds every,
                    ShowHosts show) {
  auto all = std::make_shared<Watched>();
  for (const ssh::FanOutHost& host : hosts) all->states.push_back({.host = host.host});
  all->failures.resize(hosts.size(), 0);
  all->hosts = std::move(hosts);
  all->every = std::max(every, std::chrono::seconds{1});  // a script that looks once would end
  const auto shell = context.open_shell(context.loop->get_executor(), *context.stores.host_keys);
  Interrupts interrupts(*context.loop);
  const auto ended = context.Await(UnlessInterrupted(
      &interrupts, Watch(shell.get(), context.stores.jobs, job, all, std::move(show))));
  SendFarewell(*context.loop);
  return ended.value_or(WatchEnd::kInterrupted);
}

}  // namespace jobman::client

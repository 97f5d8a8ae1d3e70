#include "jobman/client/run_until_stopped.hpp"

#include <algorithm>
#include <asio/this_coro.hpp>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "client/interrupts.hpp"
#include "jobman/client/times.hpp"
#include "jobman/ssh/file_limit.hpp"

namespace jobman::client {
namespace {

using RunningCommands = std::vector<ssh::FanOutControl::Running>;

/// What the coroutines of one run share.
struct Stopping {
  explicit Stopping(asio::io_context& loop) : interrupts(loop) {}
  Interrupts interrupts;
  std::unique_ptr<ports::HostShell> shell;
  std::shared_ptr<ssh::FanOutControl> control = std::make_shared<ssh::FanOutControl>();
  OnStop on_stop = {};
  std::map<int, ports::HostTarget> targets = {};
  int interrupted = 0;
  std::string signal = {};  ///< the last that was sent
};

using StoppingPtr = std::shared_ptr<Stopping>;

base::Task<bool> AwaitInterrupt(StoppingPtr stopping) {
  co_await stopping->interrupts.Wait();
  co_return true;
}

base::Task<bool> Passed(base::Duration time) {
  co_await base::Sleep(time);
  co_return false;
}

/// Whether an interrupt comes within `time`.
base::Task<bool> InterruptedWithin(StoppingPtr stopping, base::Duration time) {
  using namespace asio::experimental::awaitable_operators;
  const auto first = co_await (AwaitInterrupt(stopping) || Passed(time));
  co_await base::EndIfCancelled();
  co_return first.index() == 0;
}

/// Lets the rest of an interrupt pass.
base::Task<void> PassSameInterrupt(StoppingPtr stopping) {
  const auto end = std::chrono::steady_clock::now() + kSameInterrupt;
  while (true) {
    const auto left =
        std::chrono::duration_cast<base::Duration>(end - std::chrono::steady_clock::now());
    if (left <= base::Duration{0}) co_return;
    const bool again = co_await InterruptedWithin(stopping, left);
    if (!again) co_return;
  }
}

std::vector<int> NumbersOf(const RunningCommands& running) {
  std::vector<int> numbers;
  for (const auto& one : running) numbers.push_back(one.host);
  return numbers;
}

std::vector<ssh::FanOutHost> EndersOf(const RunningCommands& running, const std::string& signal,
                                      base::Duration wait) {
  std::vector<ssh::FanOutHost> hosts;
  for (const auto& one : running) {
    if (!one.group.known()) continue;
    hosts.push_back(
        {.host = one.host, .target = one.target, .command = ssh::EndLine(one.group, signal, wait)});
  }
  return hosts;
}

/// The signal once more, to the groups that it may not have reached.
base::Task<ssh::FanOutResult> EndGroups(StoppingPtr stopping, std::vector<ssh::FanOutHost> hosts) {
  ssh::FanOutOptions options{.limit = kStopWait};
  ports::RemoteCommand none;  // each host has its own
  co_return co_await ssh::FanOut(stopping->shell.get(), std::move(hosts), std::move(none),
                                 std::move(options));
}

base::Task<void> EndRunning(StoppingPtr stopping, std::string signal) {
  auto hosts = EndersOf(stopping->control->running(), signal, base::Duration{0});
  if (!hosts.empty()) co_await EndGroups(stopping, std::move(hosts));
}

/// Sends the signal and waits; whether an interrupt ended the wait.
base::Task<bool> Send(StoppingPtr stopping, std::string signal) {
  stopping->signal = signal;
  ++stopping->interrupted;
  if (stopping->on_stop) stopping->on_stop(signal, NumbersOf(stopping->control->running()));
  stopping->control->Signal(signal);
  co_await PassSameInterrupt(stopping);
  const auto executor = co_await asio::this_coro::executor;
  const base::CancelScope scope;
  base::Spawn(executor, scope, EndRunning(stopping, signal));
  const bool again = co_await InterruptedWithin(stopping, kStopWait);
  co_return again;
}

/// Never ends by itself: the run does.
base::Task<void> HeedInterrupts(StoppingPtr stopping) {
  co_await stopping->interrupts.Wait();
  bool again = co_await Send(stopping, "TERM");
  if (again) again = co_await Send(stopping, "KILL");
  if (again) ++stopping->interrupted;
  stopping->control->GiveUp();
  while (true) co_await base::Sleep(std::chrono::hours{1});
}

base::Task<ssh::FanOutResult> RunAll(StoppingPtr stopping, std::vector<ssh::FanOutHost> hosts,
                                     ports::RemoteCommand command, ssh::FanOutOptions options) {
  using namespace asio::experimental::awaitable_operators;
  auto first = co_await (HeedInterrupts(stopping) ||
                         AfterOthers(ssh::FanOut(stopping->shell.get(), std::move(hosts),
                                                 std::move(command), std::move(options))));
  co_await base::EndIfCancelled();
  co_return std::move(std::get<1>(first));
}

/// Hosts whose connection broke, and that were given up.
RunningCommands LeftRunning(const Stopping& stopping, const ssh::FanOutResult& result) {
  RunningCommands left;
  for (const ssh::HostOutcome& host : result.hosts) {
    if (host.result.ok() || !host.begun || !host.group.known()) continue;
    left.push_back(
        {.host = host.host, .target = stopping.targets.at(host.host), .group = host.group});
  }
  return left;
}

/// Writes down where the command has ended after all.
void NoteEnds(const ssh::FanOutResult& ends, const std::string& signal, ssh::FanOutResult* result) {
  for (const ssh::HostOutcome& end : ends.hosts) {
    if (!end.result.ok() || *end.result != 0) continue;
    for (ssh::HostOutcome& host : result->hosts)
      if (host.host == end.host) host.result = 128 + (signal == "KILL" ? SIGKILL : SIGTERM);
  }
}

void EndLeft(const Context& context, const StoppingPtr& stopping, ssh::FanOutResult* result) {
  auto hosts = EndersOf(LeftRunning(*stopping, *result), stopping->signal, kEndWait);
  if (hosts.empty()) return;
  const auto ends = context.Await(
      UnlessInterrupted(&stopping->interrupts, EndGroups(stopping, std::move(hosts))));
  if (ends) NoteEnds(*ends, stopping->signal, result);
}

bool SomeHaveTimedOut(const ssh::FanOutResult& result) {
  return std::any_of(result.hosts.begin(), result.hosts.end(),
                     [](const ssh::HostOutcome& host) { return host.timed_out; });
}

}  // namespace

StoppableRun RunUntilStopped(const Context& context, std::vector<ssh::FanOutHost> hosts,
                             std::string command, ssh::FanOutOptions options, OnStop on_stop) {
  const auto stopping = std::make_shared<Stopping>(*context.loop);
  stopping->shell = context.open_shell(context.loop->get_executor(), *context.stores.host_keys);
  stopping->on_stop = std::move(on_stop);
  for (const ssh::FanOutHost& host : hosts) stopping->targets[host.host] = host.target;
  options.control = stopping->control;
  options.window = ssh::HostsAtOnce(options.window);
  ports::RemoteCommand same{.command = std::move(command)};
  StoppableRun run{.result = context.Await(
                       RunAll(stopping, std::move(hosts), std::move(same), std::move(options)))};
  run.interrupted = stopping->interrupted > 0;
  // A third interrupt is somebody who will not wait.
  if (run.interrupted && stopping->interrupted < 3) EndLeft(context, stopping, &run.result);
  if (SomeHaveTimedOut(run.result)) SendFarewell(*context.loop);
  return run;
}

}  // namespace jobman::client

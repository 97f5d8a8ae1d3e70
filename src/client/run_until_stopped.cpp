#include "jobman/client/run_until_stopped.hpp"

#include <algorithm>
#include <asio/this_coro.hpp>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "client/interrupts.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/client/times.hpp"
#include "jobman/ssh/file_limit.hpp"

namespace jobman::client {
namespace {

using Begun = ssh::FanOutControl::Begun;
using Clock = std::chrono::steady_clock;

base::Duration Since(Clock::time_point start) {
  return std::chrono::duration_cast<base::Duration>(Clock::now() - start);
}

/// What the command's group was told, on a host where the command ran at the first interrupt.
struct Told {
  std::string signal = {};                ///< empty: nothing yet, over a call of its own
  std::optional<ssh::GroupEnd> end = {};  ///< what came of it; nothing: no answer yet
  bool gone() const { return end == ssh::GroupEnd::kGone; }
};

/// What the coroutines of one run share.
struct Stopping {
  explicit Stopping(asio::io_context& loop) : interrupts(loop) {}
  /// The commands that have begun.
  std::vector<Begun> Commands() const { return ended ? *ended : control->begun(); }
  /// What the group of a command was told; null: nothing, nor will it be.
  const Told* ToldOf(const Begun& one) const {
    const auto found = told.find(one.host);
    return found == told.end() || !one.group.known() ? nullptr : &found->second;
  }

  Interrupts interrupts;
  std::unique_ptr<ports::HostShell> shell;
  std::shared_ptr<ssh::FanOutControl> control = std::make_shared<ssh::FanOutControl>();
  OnStop on_stop = {};
  std::map<int, ports::HostTarget> targets = {};
  int interrupted = 0;
  std::string signal = {};  ///< the last that was sent
  std::map<int, Told> told = {};
  std::optional<std::vector<Begun>> ended = {};  ///< once all calls are over
  bool enough = false;                           ///< nobody waits for answers any more
  base::Waiters changed = {};
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

/// Whether the group is to be sent the signal over a call of its own now. Where the command runs,
/// sshd may have passed the signal on.
bool IsDue(const Stopping& stopping, const Begun& one, base::Duration passed) {
  const Told* told = stopping.ToldOf(one);
  if (told == nullptr || told->gone() || told->signal == stopping.signal) return false;
  return one.ended || passed >= kSameInterrupt;
}

/// Whether an answer is still to come.
bool AwaitsAnswer(const Stopping& stopping, const std::vector<Begun>& commands) {
  return std::any_of(commands.begin(), commands.end(), [&stopping](const Begun& one) {
    const Told* told = stopping.ToldOf(one);
    if (told == nullptr || told->gone()) return false;
    return told->signal != stopping.signal || !told->end;
  });
}

base::Task<void> EndGroup(StoppingPtr stopping, Begun one, base::Duration wait) {
  ports::RemoteCommand command{.command = ssh::EndLine(one.group, stopping->signal, wait),
                               .limit = wait + kStopWait};
  const ports::ByteSink nobody;
  ports::HostTarget target = stopping->targets.at(one.host);
  const auto end =
      co_await stopping->shell->Run(std::move(target), std::move(command), nobody, nobody);
  stopping->told[one.host].end = ssh::GroupEndOf(end);
  stopping->changed.WakeAll();
}

/// The last signal once more, to each group that is left, as soon as it is known: a login shell may
/// be slow to say it. Never ends by itself.
base::Task<void> EndGroups(StoppingPtr stopping) {
  const auto executor = co_await asio::this_coro::executor;
  const base::CancelScope scope;
  const auto start = Clock::now();
  while (true) {
    const base::Duration passed = Since(start);
    for (const Begun& one : stopping->Commands()) {
      if (!IsDue(*stopping, one, passed)) continue;
      stopping->told[one.host] = {.signal = stopping->signal};
      const base::Duration wait = std::max(kStopWait - passed, base::Duration{0});
      base::Spawn(executor, scope, EndGroup(stopping, one, wait));
    }
    co_await base::Sleep(kGroupLook);
  }
}

/// Sends the signal to the commands that run.
void Send(Stopping& stopping, const std::string& signal) {
  ++stopping.interrupted;
  stopping.signal = signal;
  std::vector<int> hosts;
  for (const Begun& one : stopping.Commands()) {
    if (stopping.interrupted == 1 && (!one.ended || one.lost)) stopping.told[one.host] = {};
    const Told* told = stopping.ToldOf(one);
    const bool left = told != nullptr && !told->gone();
    if (left || !one.ended) hosts.push_back(one.host);
  }
  if (stopping.on_stop) stopping.on_stop(signal, hosts);
  stopping.control->Signal(signal);
}

/// Sends the signal and waits; whether an interrupt ended the wait.
base::Task<bool> Stop(StoppingPtr stopping, std::string signal) {
  Send(*stopping, signal);
  const auto executor = co_await asio::this_coro::executor;
  const base::CancelScope scope;
  base::Spawn(executor, scope, EndGroups(stopping));
  co_await PassSameInterrupt(stopping);
  bool again = co_await InterruptedWithin(stopping, kStopWait);
  if (again) co_return true;
  stopping->control->GiveUp();
  again = co_await InterruptedWithin(stopping, kLastWordsWait);
  co_return again;
}

/// Never ends by itself: the run does.
base::Task<void> HeedInterrupts(StoppingPtr stopping) {
  co_await stopping->interrupts.Wait();
  bool again = co_await Stop(stopping, "TERM");
  if (again) again = co_await Stop(stopping, "KILL");
  if (again) ++stopping->interrupted;
  stopping->control->GiveUp();
  stopping->enough = true;
  stopping->changed.WakeAll();
  while (true) co_await base::Sleep(std::chrono::hours{1});
}

std::vector<Begun> BegunIn(const ssh::FanOutResult& result) {
  std::vector<Begun> begun;
  for (const ssh::HostOutcome& host : result.hosts) {
    if (!host.begun) continue;
    begun.push_back(
        {.host = host.host, .group = host.group, .ended = true, .lost = !host.result.ok()});
  }
  return begun;
}

/// Until what was interrupted has ended with its children, which may outlive the login shell.
base::Task<ssh::FanOutResult> RunToTheEnd(StoppingPtr stopping, std::vector<ssh::FanOutHost> hosts,
                                          ports::RemoteCommand command,
                                          ssh::FanOutOptions options) {
  auto result = co_await ssh::FanOut(stopping->shell.get(), std::move(hosts), std::move(command),
                                     std::move(options));
  stopping->ended = BegunIn(result);
  while (!stopping->enough && AwaitsAnswer(*stopping, *stopping->ended))
    co_await stopping->changed.Wait();
  co_return result;
}

base::Task<ssh::FanOutResult> RunAll(StoppingPtr stopping, std::vector<ssh::FanOutHost> hosts,
                                     ports::RemoteCommand command, ssh::FanOutOptions options) {
  using namespace asio::experimental::awaitable_operators;
  auto first = co_await (
      HeedInterrupts(stopping) ||
      AfterOthers(RunToTheEnd(stopping, std::move(hosts), std::move(command), std::move(options))));
  co_await base::EndIfCancelled();
  co_return std::move(std::get<1>(first));
}

/// Writes down what the groups answered: a command has ended when nothing of its group is left.
void NoteEnds(const Stopping& stopping, StoppableRun* run) {
  for (ssh::HostOutcome& host : run->result.hosts) {
    const Told* told = stopping.ToldOf({.host = host.host, .group = host.group});
    if (told == nullptr) continue;
    if (told->end == ssh::GroupEnd::kNotOurs) run->not_ours.push_back(host.host);
    if (told->gone() && !host.result.ok())
      host.result = 128 + (told->signal == "KILL" ? SIGKILL : SIGTERM);
    if (!told->gone() && host.result.ok())
      host.result = base::Error{.code = base::Code::kCancelled,
                                .message = "interrupted; processes of the command may go on"};
  }
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
  NoteEnds(*stopping, &run);
  // A third interrupt is somebody who will not wait.
  const bool left = stopping->control->given_up() && stopping->interrupted < 3;
  if (left || SomeHaveTimedOut(run.result)) SendFarewell(*context.loop);
  base::RunTask(*context.loop, base::Yield());  // what was cancelled ends
  return run;
}

}  // namespace jobman::client

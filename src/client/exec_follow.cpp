#include "client/exec_follow.hpp"

#include <asio/this_coro.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "jobman/base/waiters.hpp"
#include "jobman/client/times.hpp"
#include "jobman/controller/host_calls.hpp"

namespace jobman::client {
namespace {

using remote::RunStatus;

constexpr std::size_t kMostTalk = std::size_t{64} * 1024;

struct HostFollowed {
  ssh::FanOutHost host = {};
  std::int64_t offset = 0;
  /// Since when calls have failed without a byte from the host.
  std::optional<base::Deadline> trouble = {};
};

/// What the coroutines of the hosts share.
struct Following {
  Following(ports::HostShell* where, RunToFollow what)
      : shell(where), run(std::move(what)), gate(run.window) {}
  ports::HostShell* shell;
  RunToFollow run;
  base::Gate gate;
  std::vector<HostFollowed> hosts = {};
  ssh::FanOutResult result = {};
  std::size_t left = 0;
  base::Waiters done = {};
};
using FollowingPtr = std::shared_ptr<Following>;

bool MayComeBack(const base::Error& error) {
  return error.reason == base::Reason::kHostRefused || error.reason == base::Reason::kHostTimeout ||
         error.reason == base::Reason::kHostHangs || error.reason == base::Reason::kConnectionBroke;
}

/// Whether the host is called again after the error.
bool HasPatience(const RunToFollow& run, HostFollowed* one, const base::Error& error) {
  if (!MayComeBack(error)) return false;
  const auto now = std::chrono::steady_clock::now();
  if (!one->trouble) one->trouble = now;
  return now < *one->trouble + run.patience;
}

ports::ByteSink SinkOf(const FollowingPtr& all, std::size_t row) {
  return [all, row](std::string_view bytes) -> base::Status {
    HostFollowed& one = all->hosts[row];
    one.trouble.reset();
    one.offset += std::ssize(bytes);
    return one.host.out ? one.host.out(bytes) : base::Ok();
  };
}

/// The script says now and then that it is alive, also when the run prints nothing.
std::function<void(std::string_view)> HeardOf(const FollowingPtr& all, std::size_t row) {
  return [all, row](std::string_view) { all->hosts[row].trouble.reset(); };
}

/// One call of the host: the exit code of the run; nothing if the next call is to come at once.
base::Task<base::Result<std::optional<int>>> FollowOnce(FollowingPtr all, std::size_t row) {
  HostFollowed& one = all->hosts[row];
  const int host = one.host.host;
  const remote::Call call = remote::FollowCall(all->run.id_on(host), one.offset);
  const ports::ByteSink out = SinkOf(all, row);
  const controller::HostCall following{.shell = all->shell,
                                       .target = one.host.target,
                                       .call = &call,
                                       .out = &out,
                                       .heard = HeardOf(all, row),
                                       .now = all->run.now};
  const auto status = co_await controller::CallHost(&following);
  std::optional<int> ended;
  if (status.ok() && status->kind == RunStatus::Kind::kGap) {
    if (all->run.missing) all->run.missing(host, status->gap);
    one.offset = status->gap.end;
    co_return ended;
  }
  JM_CO_ASSIGN_OR_RETURN(ended, CodeOfRun(status, all->run.name));
  co_return ended;
}

base::Task<void> FollowHost(FollowingPtr all, std::size_t row) {
  const auto pass = co_await all->gate.Enter();
  ssh::HostOutcome& outcome = all->result.hosts[row];
  while (true) {
    auto ended = co_await FollowOnce(all, row);
    if (ended.ok() && ended->has_value()) {
      outcome.result = **ended;
      co_return;
    }
    if (ended.ok()) continue;
    if (!HasPatience(all->run, &all->hosts[row], ended.error())) {
      outcome.result = std::move(ended).error();
      co_return;
    }
    co_await base::Sleep(kFollowRetry);
  }
}

}  // namespace

ports::ByteSink KeepTalk(const RunTalk& talk, int host) {
  return [talk, host](std::string_view bytes) -> base::Status {
    std::string& text = (*talk)[host];
    text += bytes;
    if (text.size() > kMostTalk) text.erase(0, text.size() - kMostTalk / 2);
    return base::Ok();
  };
}

base::Error NoSuchRun(const std::string& name) {
  return {.code = base::Code::kNotFound,
          .message = "the host has no detached run " + name,
          .hint = "jobman exec JOB --runs lists them"};
}

base::Result<int> CodeOfRun(const base::Result<RunStatus>& status, const std::string& name) {
  if (!status.ok()) return status.error();
  if (status->kind == RunStatus::Kind::kExited) return status->exit_code;
  if (status->kind == RunStatus::Kind::kAbsent) return NoSuchRun(name);
  const std::string why = status->text.empty() ? "the host gave no status" : status->text;
  return base::Error{.code = base::Code::kAborted, .message = "run " + name + ": " + why};
}

base::Task<ssh::FanOutResult> FollowOnHosts(ports::HostShell* shell,
                                            std::vector<ssh::FanOutHost> hosts, RunToFollow run) {
  const auto all = std::make_shared<Following>(shell, std::move(run));
  const auto executor = co_await asio::this_coro::executor;
  const base::CancelScope scope;
  all->left = hosts.size();
  for (ssh::FanOutHost& host : hosts) {
    all->result.hosts.push_back({.host = host.host});
    all->hosts.push_back({.host = std::move(host)});
  }
  for (std::size_t row = 0; row < hosts.size(); ++row) {
    base::Spawn(executor, scope, FollowHost(all, row), [all](bool /*cancelled*/) {
      if (--all->left == 0) all->done.WakeAll();
    });
  }
  while (all->left > 0) co_await all->done.Wait();
  co_return std::move(all->result);
}

}  // namespace jobman::client

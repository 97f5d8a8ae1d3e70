#include "jobman/ssh/fan_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/this_coro.hpp>
#include <map>
#include <random>

#include "jobman/base/check.hpp"
#include "jobman/base/late_text.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/base/waiters.hpp"
#include "ssh/error_map.hpp"

namespace jobman::ssh {
namespace {

using base::Duration;
using base::Reason;
using Clock = std::chrono::steady_clock;

Duration Since(Clock::time_point start) {
  return std::chrono::duration_cast<Duration>(Clock::now() - start);
}

Error NotBegun() {
  return {.code = base::Code::kCancelled,
          .message = "interrupted before the command began, which did not run"};
}

/// Of a host whose coroutine was cancelled.
Error CutShort(bool begun) {
  if (!begun) return NotBegun();
  return {.code = base::Code::kCancelled,
          .message = "interrupted; the command was told to end, and may go on"};
}

/// What the coroutines of one fan-out share.
struct Shared {
  Shared(ports::RemoteCommand what, FanOutOptions how, std::size_t count)
      : command(std::move(what)),
        options(std::move(how)),
        gate(options.window > 0 ? options.window : static_cast<int>(count)),
        left(count),
        ended(count, false),
        reports(count) {}
  void End(std::size_t row, bool cancelled) {
    ended[row] = true;
    if (cancelled) result.hosts[row].result = CutShort(result.hosts[row].begun);
    --left;
    if (options.on_end) options.on_end([this] { return Busy(); });
    if (left == 0) done.WakeAll();
  }
  /// No command may begin any more.
  bool Ending() const { return options.control && options.control->signalled(); }
  std::vector<int> Busy() const {
    std::vector<int> busy;
    for (std::size_t row = 0; row < ended.size(); ++row) {
      if (!ended[row]) busy.push_back(result.hosts[row].host);
    }
    return busy;
  }
  ports::RemoteCommand command;
  FanOutOptions options;
  base::Gate gate;
  base::Waiters done = {};
  std::size_t left;
  std::vector<bool> ended;
  std::vector<std::shared_ptr<GroupReport>> reports;  ///< by row; null: none
  FanOutResult result = {};
  std::minstd_rand random{std::random_device{}()};
};

/// Nothing has run there, and a later try may succeed.
bool Passes(const Error& error) {
  return error.reason == Reason::kHostRefused || error.reason == Reason::kHostTimeout ||
         error.reason == Reason::kHostAuth;
}

base::Task<base::Status> Begin(std::function<void()> told) {
  told();
  co_return base::Ok();
}

/// From here on the command may have begun, and an interrupt is to end it.
base::Task<base::Status> BeginCommand(std::shared_ptr<Shared> shared, std::size_t row,
                                      std::function<void()> told) {
  if (told) told();
  if (shared->Ending()) co_return NotBegun();
  shared->result.hosts[row].begun = true;
  co_return base::Ok();
}

std::function<base::Result<std::string>()> WhenConnected(std::function<std::string()> input) {
  const auto make = [input = std::move(input)]() -> base::Result<std::string> { return input(); };
  return base::LateText(make, ports::kMostInput);
}

/// The command of one host.
ports::RemoteCommand CommandOf(const FanOutHost& one, std::size_t row,
                               const std::shared_ptr<Shared>& shared) {
  ports::RemoteCommand command = shared->command;
  const FanOutOptions& options = shared->options;
  JM_CHECK(!one.input || !command.next_input, "the input is the host's own or common");
  if (!one.command.empty()) command.command = one.command;
  if (one.input && one.pace) command.input = one.input();
  if (one.input && !one.pace) command.next_input = WhenConnected(one.input);
  command.pace = one.pace;
  if (options.limit) command.limit = options.limit;
  if (options.control) {
    command.command = ReportingLine(command.command);
    command.signals = options.control->signals();
  }
  if (one.on_login || !command.may_begin || options.control) {
    command.may_begin = [shared, row, told = one.on_login] {
      return BeginCommand(shared, row, told);
    };
  }
  return command;
}

/// Whether the host runs a command at all; any exit code will do.
base::Task<base::Status> Answers(ports::HostShell* shell, const FanOutHost* one, Duration left) {
  ports::RemoteCommand question{.command = "true", .limit = std::max(left, kLeastAnswer)};
  if (one->on_login) question.may_begin = [told = one->on_login] { return Begin(told); };
  const ports::ByteSink nobody;
  JM_CO_TRY(co_await shell->Run(one->target, std::move(question), nobody, nobody));
  co_return base::Ok();
}

/// The sink without the report of the command's group, which is kept.
ports::ByteSink WithoutReport(ports::ByteSink err, std::size_t row,
                              const std::shared_ptr<Shared>& shared) {
  const auto report = std::make_shared<GroupReport>(std::move(err));
  shared->reports[row] = report;
  return [report, row, shared](std::string_view bytes) -> base::Status {
    JM_TRY(report->Take(bytes));
    if (report->group().known()) shared->result.hosts[row].group = report->group();
    return base::Ok();
  };
}

/// How long a command that took too long may take to end after each signal.
constexpr Duration kSignalWait = std::chrono::seconds{10};

/// Over a call of its own: sshd passes no signal on for root, nor to what the login shell left.
base::Task<GroupEnd> SignalGroup(ports::HostShell* shell, ports::HostTarget target,
                                 CommandGroup group, std::string signal) {
  ports::RemoteCommand command{.command = EndLine(group, signal, kSignalWait),
                               .limit = 2 * kSignalWait};
  const ports::ByteSink nobody;
  const auto ended = co_await shell->Run(std::move(target), std::move(command), nobody, nobody);
  co_return GroupEndOf(ended);
}

/// Has a command that took too long end, and says what it took.
base::Task<std::string> EndGroup(ports::HostShell* shell, ports::HostTarget target,
                                 HostOutcome* outcome) {
  const CommandGroup group = outcome->group;
  outcome->may_go_on = true;
  if (!group.known()) co_return "may go on: the host has not said its process group";
  GroupEnd end = co_await SignalGroup(shell, target, group, "TERM");
  const bool soon = end == GroupEnd::kGone;
  if (end == GroupEnd::kLeft) end = co_await SignalGroup(shell, target, group, "KILL");
  outcome->may_go_on = end != GroupEnd::kGone;
  if (soon) co_return "was sent TERM";
  if (end == GroupEnd::kGone) co_return "was sent TERM, then KILL";
  if (end == GroupEnd::kNotOurs) co_return "goes on as another user (sudo), who has to end it";
  co_return "was sent TERM, and may go on";
}

Error TookTooLong(Duration limit, const std::string& what) {
  return {.code = base::Code::kDeadlineExceeded,
          .message = fmt::format("timeout: the command took longer than {}, and {}",
                                 base::FormatDuration(limit), what)};
}

base::Task<base::Result<int>> Try(ports::HostShell* shell, const FanOutHost* one, std::size_t row,
                                  std::shared_ptr<Shared> shared, Clock::time_point start) {
  const FanOutOptions& options = shared->options;
  if (options.ask_first && options.patience) {
    JM_CO_TRY(co_await Answers(shell, one, *options.patience - Since(start)));
  }
  ports::RemoteCommand command = CommandOf(*one, row, shared);
  ports::ByteSink err = one->err;
  if (options.control) err = WithoutReport(one->err, row, shared);
  auto result = co_await shell->Run(one->target, std::move(command), one->out, err);
  if (options.control) {
    JM_CO_TRY(shared->reports[row]->Finish());
  }
  const bool over = options.limit && !result.ok() && result.error().reason == Reason::kHostHangs;
  if (!over) co_return result;
  HostOutcome& outcome = shared->result.hosts[row];
  outcome.timed_out = true;
  std::string what = "was sent TERM";
  if (options.control) what = co_await EndGroup(shell, one->target, &outcome);
  co_return TookTooLong(*options.limit, what);
}

/// Whether to try again, after a wait, a host on which nothing ran.
bool MayTryAgain(const FanOutOptions& options, const Error& error, int tries, Duration passed) {
  if (options.patience && passed < *options.patience) return true;
  return error.reason == Reason::kHostRefused && tries < options.tries;
}

base::Task<void> RunOne(ports::HostShell* shell, FanOutHost one, std::size_t row,
                        std::shared_ptr<Shared> shared) {
  const auto pass = co_await shared->gate.Enter();
  const auto start = Clock::now();
  const auto& options = shared->options;
  for (int attempt = 1;; ++attempt) {
    auto result = co_await Try(shell, &one, row, shared, start);
    const bool nothing_ran = !result.ok() && Passes(result.error());
    if (nothing_ran) shared->result.hosts[row].begun = false;
    const double jitter = std::uniform_real_distribution<>(0, 1)(shared->random);
    const Duration wait = options.backoff.FullJitter(attempt, jitter);
    const bool again =
        nothing_ran && MayTryAgain(options, result.error(), attempt, Since(start) + wait);
    if (!again) {
      shared->result.hosts[row].result = std::move(result);
      break;
    }
    base::Log(base::LogLevel::kDebug, "ssh", "host {}: {}; trying again in {} ms", one.host,
              result.error().ToString(), wait.count());
    co_await base::Sleep(wait);
  }
  shared->result.hosts[row].took = Since(start);
}

/// Until the fan-out ends, which cancels it.
base::Task<void> LookAgain(std::shared_ptr<Shared> shared) {
  while (true) {
    co_await base::Sleep(shared->options.look_every);
    shared->options.on_look([&shared] { return shared->Busy(); });
  }
}

/// The coroutines of the hosts, each of which can be cancelled alone.
class Rows {
 public:
  Rows(std::shared_ptr<Shared> shared, std::size_t count)
      : shared_(std::move(shared)), scopes_(count) {
    FanOutControl* control = shared_->options.control.get();
    if (control == nullptr) return;
    control->Connect([this] { CancelSome(); }, [this] { return Begun(); });
  }
  ~Rows() {
    if (shared_->options.control) shared_->options.control->Connect({}, {});
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  const base::CancelScope& scope(std::size_t row) const { return scopes_[row]; }

 private:
  /// All that run no command are cancelled; at the end those that run one, too.
  void CancelSome() {
    for (std::size_t row = 0; row < scopes_.size(); ++row) {
      if (shared_->options.control->given_up() || !shared_->result.hosts[row].begun)
        scopes_[row].Cancel();
    }
  }
  std::vector<FanOutControl::Begun> Begun() const {
    std::vector<FanOutControl::Begun> begun;
    for (std::size_t row = 0; row < scopes_.size(); ++row) {
      const HostOutcome& host = shared_->result.hosts[row];
      if (!host.begun) continue;
      begun.push_back({.host = host.host,
                       .group = host.group,
                       .ended = shared_->ended[row],
                       .lost = shared_->ended[row] && !host.result.ok()});
    }
    return begun;
  }

  std::shared_ptr<Shared> shared_;
  std::vector<base::CancelScope> scopes_;
};

std::string HostNames(const std::vector<int>& hosts) {
  if (hosts.size() > 3) return "hosts " + base::FormatRanges(hosts);
  std::vector<std::string> names;
  for (const int host : hosts) names.push_back(fmt::format("host {}", host));
  return base::Join(names, ", ");
}

/// What the error of a connection says after the endpoint, without the last words of a proxy: these
/// may differ from host to host.
std::string AfterEndpoint(const Error& error) {
  const auto colon = error.message.find(": ");
  const std::string_view endpoint = std::string_view(error.message).substr(0, colon);
  const bool is_one = endpoint.find(' ') == std::string_view::npos ||
                      endpoint.find(" through ") != std::string_view::npos;
  if (colon == std::string::npos) return error.message;
  if (!is_one)
    return error.reason == Reason::kHostRefused ? "connection refused" : "no answer in time";
  const std::string cause = error.message.substr(colon + 2);
  return cause.substr(0, cause.find(" ("));
}

}  // namespace

std::string BriefCause(const Error& error) {
  if (error.reason == Reason::kHostRefused || error.reason == Reason::kHostTimeout)
    return AfterEndpoint(error);
  if (error.reason == Reason::kConnectionBroke) return "the connection broke";
  if (error.reason == Reason::kHostHangs) return "the command did not answer";
  if (error.reason == Reason::kAgentSilent) return "the ssh-agent does not answer";
  if (error.reason == Reason::kHostAuth) return "login refused";
  if (error.reason == Reason::kHostKeyChanged) return "the host key changed";
  if (error.reason == Reason::kDiskFull) return "the disk here is full";
  return error.message;
}

std::string Brief(const HostOutcome& outcome) {
  if (outcome.result.ok()) return fmt::format("exit code {}", *outcome.result);
  return outcome.timed_out ? "timeout" : BriefCause(outcome.result.error());
}

bool FanOutResult::AllOk() const {
  return std::all_of(hosts.begin(), hosts.end(),
                     [](const auto& one) { return one.result.ok() && *one.result == 0; });
}

std::string FanOutResult::Summary() const {
  std::map<std::string, std::vector<int>> failures;
  std::size_t good = 0;
  for (const auto& one : hosts) {
    if (one.result.ok() && *one.result == 0)
      ++good;
    else
      failures[Brief(one)].push_back(one.host);
  }
  std::string text = fmt::format("{}/{} ok", good, hosts.size());
  for (auto& [what, which] : failures) {
    std::sort(which.begin(), which.end());
    text += fmt::format("; {}: {}", HostNames(which), what);
  }
  return text;
}

base::Task<FanOutResult> FanOut(ports::HostShell* shell, std::vector<FanOutHost> hosts,
                                ports::RemoteCommand command, FanOutOptions options) {
  auto shared = std::make_shared<Shared>(std::move(command), std::move(options), hosts.size());
  const auto executor = co_await asio::this_coro::executor;
  const base::CancelScope scope;
  Rows rows(shared, hosts.size());
  for (const FanOutHost& one : hosts) shared->result.hosts.push_back({.host = one.host});
  for (std::size_t row = 0; row < hosts.size(); ++row) {
    base::Spawn(executor, rows.scope(row), RunOne(shell, std::move(hosts[row]), row, shared),
                [shared, row](bool cancelled) { shared->End(row, cancelled); });
  }
  if (shared->options.on_look) base::Spawn(executor, scope, LookAgain(shared));
  while (shared->left > 0) co_await shared->done.Wait();
  co_return std::move(shared->result);
}

}  // namespace jobman::ssh

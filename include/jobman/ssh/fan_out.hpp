#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/backoff.hpp"
#include "jobman/ports/host_shell.hpp"
#include "jobman/ssh/command_group.hpp"

namespace jobman::ssh {

/// A host of a fan-out, with its sinks. A sink may be empty.
struct FanOutHost {
  int host = 0;
  ports::HostTarget target = {};
  ports::ByteSink out = {};
  ports::ByteSink err = {};
  std::string command = {};  ///< replaces the common command unless empty
  /// What its input begins with, before what `pace` gives; may be empty. Made for each try: without
  /// `pace` once the host is connected, else before. Not with a common RemoteCommand::next_input,
  /// whose place it takes.
  std::function<std::string()> input = {};
  std::shared_ptr<ports::Pace> pace = {};  ///< of its input and output; may be null
  /// Called each time the host has accepted the login, before it is sent a command, in place of
  /// RemoteCommand::may_begin; may be empty.
  std::function<void()> on_login = {};
};

/// A login shell reads its own files first, which takes seconds on a busy host.
constexpr base::Duration kLeastAnswer = std::chrono::seconds{5};

/// Ends the commands of a fan-out before their time. On the loop's thread; for one fan-out.
class FanOutControl {
 public:
  /// "TERM" or "KILL" to the commands that run. From the first on no other begins.
  void Signal(const std::string& name) {
    signals_->Send(name);
    if (changed_) changed_();
  }
  /// Those that still run are left alone: the fan-out ends.
  void GiveUp() {
    given_up_ = true;
    if (changed_) changed_();
  }
  bool signalled() const { return !signals_->sent().empty(); }
  bool given_up() const { return given_up_; }
  const std::shared_ptr<ports::Signals>& signals() const { return signals_; }

  /// A command that has begun.
  struct Begun {
    int host = 0;
    CommandGroup group = {};
    bool ended = false;  ///< the call that runs it is over
    bool lost = false;   ///< and without an exit code: the command may go on
  };
  std::vector<Begun> begun() const { return begun_ ? begun_() : std::vector<Begun>{}; }

  /// For the fan-out; empty functions once it has ended.
  void Connect(std::function<void()> changed, std::function<std::vector<Begun>()> begun) {
    changed_ = std::move(changed);
    begun_ = std::move(begun);
  }

 private:
  std::shared_ptr<ports::Signals> signals_ = std::make_shared<ports::Signals>();
  bool given_up_ = false;
  std::function<void()> changed_ = {};
  std::function<std::vector<Begun>()> begun_ = {};
};

/// The numbers of the hosts that have not ended, as of the call. A list of a thousand is not made
/// each time one of them ends unless somebody wants it.
using BusyHosts = std::function<std::vector<int>()>;

struct FanOutOptions {
  int window = 0;  ///< commands at once; 0: all (connecting has its own window)
  /// For how long a host may refuse, be silent or not accept our key yet; that says nothing of the
  /// command itself. Nothing: only `tries` count.
  std::optional<base::Duration> patience = {};
  /// How often, at least, a host is tried if it refuses the connection or breaks it off before the
  /// login is done, as an sshd does with too many logins at once (MaxStartups).
  int tries = 1;
  /// Whether a host is first asked to run `true` within `patience`: one that hangs accepts the
  /// login and then answers nothing, which the command, silent by right, does not show. Such a host
  /// ends with kHostHangs. A host gets kLeastAnswer even if logging in has used the patience up.
  bool ask_first = false;
  /// How long the command may take on a host once it is sent; then its group is sent TERM, and KILL
  /// (with `control`; else TERM by sshd). The host has HostOutcome::timed_out. Nothing: no limit.
  std::optional<base::Duration> limit = {};
  base::Backoff backoff = {.base = std::chrono::seconds{1}, .cap = std::chrono::seconds{15}};
  /// Called each time a host ends, with those that have not; may be empty.
  std::function<void(const BusyHosts&)> on_end = {};
  /// The same each time `look_every` has passed until all have ended: a host that hangs ends late.
  std::function<void(const BusyHosts&)> on_look = {};
  base::Duration look_every = std::chrono::seconds{1};
  /// May be null. With it each command line says its group first, see ReportingLine().
  std::shared_ptr<FanOutControl> control = {};
};

/// The result of one host.
struct HostOutcome {
  int host = 0;
  base::Result<int> result = 0;             ///< exit code
  bool timed_out = false;                   ///< `result` is an error: FanOutOptions::limit was over
  bool may_go_on = false;                   ///< timed out, and nobody saw its processes end
  std::optional<base::Duration> took = {};  ///< nothing: not measured, or nothing was tried
  bool begun = false;                       ///< the command may have begun
  CommandGroup group = {};  ///< with FanOutOptions::control, once the command has said it
};

/// The failure in a few words, without the host, so that hosts can be grouped.
std::string BriefCause(const base::Error& error);
/// How the host ended in a few words, without its address, so that hosts can be grouped: "exit code
/// 3", "timeout", "connection refused".
std::string Brief(const HostOutcome& outcome);

/// A row per host, in the order of the hosts given.
struct FanOutResult {
  std::vector<HostOutcome> hosts = {};
  /// Every host ended with exit code 0.
  bool AllOk() const;
  /// "30/32 ok; host 7, host 19: connection refused": hosts with the same failure are grouped.
  std::string Summary() const;
};

/// Runs `command` on every host. A try that failed before the command could begin is retried with
/// jitter until `patience` is over, or a few times; a command never runs twice. Cancelling this
/// cancels them all. The shell must outlive the coroutine.
base::Task<FanOutResult> FanOut(ports::HostShell* shell, std::vector<FanOutHost> hosts,
                                ports::RemoteCommand command, FanOutOptions options);

}  // namespace jobman::ssh

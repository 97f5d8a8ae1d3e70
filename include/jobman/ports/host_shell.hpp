#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "jobman/base/handle.hpp"
#include "jobman/base/task.hpp"
#include "jobman/ports/signals.hpp"

namespace jobman::ports {

using base::Error;
using base::Result;
using base::Status;
using base::Task;

/// A host to log in to. Equal targets share connections.
struct HostTarget {
  std::string address = {};
  int port = 22;
  std::string user = {};
  std::string private_key = {};  ///< path; the agent is tried too when SSH_AUTH_SOCK is set
  /// The name its host key is pinned under, "<node uid>/<host number>": a machine, not an address.
  std::string identity = {};
  /// Public host keys (type -> base64) that the cloud vouches for; pinned at once if not empty.
  std::map<std::string, std::string> vouched_keys = {};
  /// Whether a key that nobody vouches for may be pinned on first contact. If not, such a host is
  /// kUnavailable: the cloud has not been asked for its keys yet.
  bool first_sight = true;
  /// Whether such a key is never pinned: ssh.host_keys.
  bool strict = false;
  /// Without vouched keys: why nobody vouches for one, "the node reported none".
  std::string unvouched = {};
  /// Whether commands on the host may use the agent of SSH_AUTH_SOCK, if that is set here.
  bool forward_agent = false;
  /// The way there; at most one of the two. Empty: the address is dialled.
  std::string proxy_jump = {};     ///< jump hosts, as core::ParseJumpHosts() reads them
  std::string proxy_command = {};  ///< with tokens, as core::ExpandProxyCommand() reads it
  std::string vm_name = {};        ///< for its %n; empty: not known
  friend bool operator==(const HostTarget&, const HostTarget&) = default;
};

/// A target that a call and all it passes through share: of a thousand hosts each copy takes a
/// third of a megabyte. Made from a target; empty only once it was moved from.
class SharedTarget {
 public:
  SharedTarget(HostTarget target)  // NOLINT(google-explicit-constructor): callers have a HostTarget
      : target_(std::make_shared<const HostTarget>(std::move(target))) {}

  const HostTarget& operator*() const { return *target_; }
  const HostTarget* operator->() const { return target_.get(); }
  operator const HostTarget&() const& { return *target_; }  // NOLINT(google-explicit-constructor)
  operator const HostTarget&() && = delete;  // NOLINT(google-explicit-constructor): it would dangle

 private:
  std::shared_ptr<const HostTarget> target_;
};

/// Whether a child process carries the connection to the host.
inline bool HasProxy(const HostTarget& target) {
  return !target.proxy_jump.empty() || !target.proxy_command.empty();
}

/// The longest piece of input.
inline constexpr std::size_t kMostInput = std::size_t{256} * 1024;

/// Input and output of a command at somebody else's pace: input that arrives while it runs, output
/// that can only be taken slowly. On the loop's thread.
class Pace {
 public:
  Pace() = default;
  virtual ~Pace() = default;
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;

  /// The next piece of input, kMostInput at most, asked for when all before it is sent. An empty
  /// piece is the end of the input; nothing: there is none yet, until Wake(). An error ends the
  /// call.
  virtual Result<std::optional<std::string>> NextInput() = 0;
  /// Asked before the command begins, and then again and again: whether output may be read now. If
  /// not, it waits on the host until Wake(), and that time is neither silence nor linger (see
  /// RemoteCommand). An error ends the call.
  virtual Result<bool> MayRead() = 0;

  /// To be called when an answer of these two has changed.
  void Wake() const {
    if (wake_) wake_();
  }
  /// For the shell: what Wake() calls while the command runs; empty afterwards.
  void OnWake(std::function<void()> wake) { wake_ = std::move(wake); }

 private:
  std::function<void()> wake_ = {};
};

struct RemoteCommand {
  std::string command = {};  ///< for the login shell
  std::string input = {};    ///< sent to stdin, then EOF
  /// Input that should not be in memory as a whole, or not before the host is connected: called for
  /// the next piece, kMostInput at most, when all before it (`input` first) is sent, until a piece
  /// is empty. Its error ends the call.
  std::function<Result<std::string>()> next_input = {};
  /// In place of next_input, for this call alone; may be null.
  std::shared_ptr<Pace> pace = {};
  /// Called once connected, right before the command is sent; its error ends the call.
  std::function<Task<Status>()> may_begin = {};
  /// How long the command may take once it is sent; nothing: as long as it likes.
  std::optional<base::Duration> limit = {};
  /// How long it may be silent: neither writes output nor takes input; nothing: as long as it
  /// likes.
  std::optional<base::Duration> silence = {};
  /// Once the command has ended, processes that it left behind may hold its output open. This long
  /// without a byte on stdout, a minute at most, and the call is over; nothing: when all is closed.
  std::optional<base::Duration> linger = {};
  /// Whether connecting to its host gives way to commands without this: a part of the window is
  /// not for it.
  bool yields = false;
  /// For the command while it runs; may be null. OpenSSH's sshd passes them to the process group of
  /// the login shell, which leads it, so to its children too; for root it passes none.
  std::shared_ptr<Signals> signals = {};
};

/// Takes output as it arrives. An error ends the call with that error.
using ByteSink = std::function<Status(std::string_view bytes)>;

/// Runs commands on hosts.
class HostShell {
 public:
  virtual ~HostShell() = default;

  /// Runs the command and returns its exit code (128 + signal when a signal ended it). Connects if
  /// necessary: one try, bounded by the implementation's connect timeout; the caller retries. The
  /// command itself is bounded by its `limit` and `silence` alone, or by cancelling the coroutine.
  /// Errors: kUnavailable with kHostRefused or kHostTimeout if nothing has run, with
  /// kConnectionBroke if the command had begun, which may go on; kDeadlineExceeded with kHostHangs
  /// if it passed a limit, and may go on too; with kAgentSilent if the ssh-agent did not answer;
  /// kUnauthenticated with kHostAuth, kPermissionDenied with kHostKeyChanged, kInvalidArgument with
  /// kKeyUnreadable; or what a sink returned.
  virtual Task<Result<int>> Run(SharedTarget target, RemoteCommand command, ByteSink out,
                                ByteSink err) = 0;
  /// Joins `local`, a connected socket of this machine, to `port` on the host's own loopback
  /// address until both sides have closed; connects to the host as Run() does, and the caller
  /// retries: the socket is taken from `local` only when the host has opened its side, so as long
  /// as it is still there nothing was read from it. Errors: those of Run() if the host cannot be
  /// reached; kNotFound if nothing listens on the port, kUnavailable if what listens accepts
  /// nothing, kPermissionDenied if its sshd allows no forwarding; kConnectionBroke in the middle.
  virtual Task<Status> Relay(SharedTarget /*target*/, int /*port*/,
                             std::shared_ptr<base::UniqueFd> /*local*/) {
    Error none{.code = base::Code::kUnimplemented, .message = "this shell forwards no ports"};
    co_return none;
  }
  /// Closes all connections to the machine (`identity`) of this target, also those being made.
  virtual void Drop(const HostTarget& target) = 0;
};

}  // namespace jobman::ports

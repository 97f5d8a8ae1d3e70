#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>
#include <optional>

#include "jobman/base/waiters.hpp"
#include "jobman/controller/frame_pipe.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::client {

/// One command on one host that a controller runs for us, over a connection of its own. Its
/// functions are called in their order, each once; every one may be cancelled, and destroying the
/// object ends the command.
class SharedCall {
 public:
  /// `what` has neither been begun nor asked for anything.
  SharedCall(asio::any_io_executor executor, base::UniqueFd socket, ports::SharedTarget target,
             ports::RemoteCommand what);
  ~SharedCall();
  SharedCall(const SharedCall&) = delete;
  SharedCall& operator=(const SharedCall&) = delete;

  /// Asks the controller; with `confirm` waits for its answer. Errors: it refuses, or does not
  /// answer as one.
  base::Task<base::Status> Ask(bool confirm);
  /// Until the host has accepted the login; the error is the controller's, about the host, or
  /// kAborted if it refuses the request. Nothing: it ended, hangs or talks nonsense. Nothing has
  /// run in either case.
  base::Task<std::optional<base::Status>> AwaitLogin(base::Duration look);
  /// Lets the command begin, if may_begin does, and passes input and output until it ends. Errors
  /// are those of HostShell::Run(): kHostTimeout if the controller ended before it could begin.
  base::Task<base::Result<int>> Finish(ports::ByteSink out, ports::ByteSink err);

 private:
  struct State;
  static void LookForLife(const std::shared_ptr<State>& state, base::Duration look, int silent = 0);
  static base::Task<void> SendInput(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
  base::CancelScope scope_ = {};
};

}  // namespace jobman::client

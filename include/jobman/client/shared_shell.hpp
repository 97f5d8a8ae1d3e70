#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// When the controller counts as silent.
struct SharedShellTimes {
  /// At the first command of a shell, whose answer decides for the others.
  base::Duration first_answer = std::chrono::milliseconds{500};
  /// Once it has answered, for the request to reach it: many hosts keep it busy. One that hangs
  /// from then on shows by `look`.
  base::Duration answer = std::chrono::seconds{10};
  /// How often it is looked whether a command's stream has said anything. It is given up after
  /// four looks at which it had not; the controller shows every 15 s that it is alive.
  base::Duration look = std::chrono::seconds{15};
};

/// A shell that runs commands through the controller of this home folder, whose connections to the
/// hosts stay open, so that a command costs no login; a running job's are among them. Without a
/// controller, with one that does not answer, is of another version, has another ssh-agent where
/// that matters, has no descriptors free, or cannot log in, a command runs on connections of its
/// own, on the shell `own`, as do Relay() and Drop(). It starts no controller.
///
/// Errors are those of `own`. If the controller ends or hangs after the command may have begun:
/// kConnectionBroke; if it ends right before that, when may_begin was called: kHostTimeout.
/// Cancelling Run() ends the command on its host, as `own` does. The object may die before its
/// coroutines.
class SharedShell final : public ports::HostShell {
 public:
  SharedShell(asio::any_io_executor executor, base::Path socket,
              std::unique_ptr<ports::HostShell> own, SharedShellTimes times = {});
  ~SharedShell() override;

  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override;
  base::Task<base::Status> Relay(ports::SharedTarget target, int port,
                                 std::shared_ptr<base::UniqueFd> local) override;
  void Drop(const ports::HostTarget& target) override;

  struct Link;

 private:
  std::shared_ptr<Link> link_;
};

/// Opens such shells over those that `own` opens.
ShellOpener ThroughController(ShellOpener own, const base::StatePaths& paths);

}  // namespace jobman::client

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::client {

struct StoppableRun {
  ssh::FanOutResult result = {};
  bool interrupted = false;
  /// After an interrupt: hosts where processes of the command go on as another user (sudo), whom
  /// the login may not signal. Their outcome is an error.
  std::vector<int> not_ours = {};
};

/// Called with each signal, "TERM" or "KILL", and the hosts that it is sent to.
using OnStop = std::function<void(const std::string& signal, const std::vector<int>& hosts)>;

/// Runs `command` on the hosts. Meanwhile SIGINT, SIGTERM and SIGHUP end the command, not the
/// process. The first one sends TERM to its process group on every host, the second KILL; both then
/// wait until nothing of the group is left there, kStopWait at most. The third ends the wait.
/// Signals that come within kSameInterrupt are one: `timeout` sends two. Where the command has
/// ended but for its children, sshd passes no signal on, or the connection broke, the group gets it
/// over a connection of its own, as soon as its number is known. A host whose outcome is an error
/// after `begun` may run the command still. Not from a coroutine.
StoppableRun RunUntilStopped(const Context& context, std::vector<ssh::FanOutHost> hosts,
                             std::string command, ssh::FanOutOptions options, OnStop on_stop);

}  // namespace jobman::client

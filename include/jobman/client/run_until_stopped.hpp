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
};

/// Called with each signal, "TERM" or "KILL", and the hosts that it is sent to.
using OnStop = std::function<void(const std::string& signal, const std::vector<int>& hosts)>;

/// Runs `command` on the hosts. Meanwhile SIGINT, SIGTERM and SIGHUP end the command, not the
/// process. The first one sends TERM to its process group on every host, the second KILL; both then
/// wait until it has ended there, kStopWait at most. The third ends the wait. Signals that come
/// within kSameInterrupt are one: `timeout` sends two. Where sshd passes no signal on, or the
/// connection broke, the group gets it over a connection of its own. A host whose outcome is an
/// error after `begun` may run the command still. Not from a coroutine.
StoppableRun RunUntilStopped(const Context& context, std::vector<ssh::FanOutHost> hosts,
                             std::string command, ssh::FanOutOptions options, OnStop on_stop);

}  // namespace jobman::client

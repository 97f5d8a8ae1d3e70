#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/backoff.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::ssh {

/// A host of a fan-out, and where its output goes. A sink may be empty.
struct FanOutHost {
  int host = 0;
  ports::HostTarget target = {};
  ports::ByteSink out = {};
  ports::ByteSink err = {};
  std::string command = {};  ///< in place of the command for all, when it is not empty
};

struct FanOutOptions {
  int window = 0;  ///< commands at once; 0: all of them (connecting has a window of its own)
  /// For how long a host may refuse, be silent or not know our key yet; the command itself has no
  /// limit. Without it, one try.
  std::optional<base::Duration> patience = {};
  base::Backoff backoff = {.base = std::chrono::seconds{1}, .cap = std::chrono::seconds{15}};
  /// Called each time a host is done, with the numbers of those that are not; may be empty.
  std::function<void(const std::vector<int>&)> on_end = {};
};

/// What became of one host.
struct HostOutcome {
  int host = 0;
  base::Result<int> result = 0;  ///< exit code
  base::Duration took = {};
};

/// A row per host, in the order of the hosts given.
struct FanOutResult {
  std::vector<HostOutcome> hosts = {};
  /// Every host ended with exit code 0.
  bool AllOk() const;
  /// "30/32 ok; host 7, host 19: connection refused": hosts with the same failure together.
  std::string Summary() const;
};

/// Runs `command` on every host. A try that failed before the command could begin is repeated with
/// jitter while there is patience; a command is never run twice. Cancelling it cancels them all.
/// The shell must outlive the coroutine.
base::Task<FanOutResult> FanOut(ports::HostShell* shell, std::vector<FanOutHost> hosts,
                                ports::RemoteCommand command, FanOutOptions options);

}  // namespace jobman::ssh

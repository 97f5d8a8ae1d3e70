#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/core/job.hpp"

namespace jobman::client {

/// Connections through one Forwarding at a time; more wait, first come, first served.
inline constexpr int kMostForwarded = 64;

/// A port of this machine, and one of a host.
struct ForwardedPort {
  int local = 0;  ///< 0: any free one
  int remote = 0;
};
/// "6006": the same number on both sides; "8080:6006": LOCAL:REMOTE. kInvalidArgument otherwise.
base::Result<ForwardedPort> ParseForwardedPort(const std::string& word);

/// Forwards connections to ports of this machine's loopback address, 127.0.0.1, to the loopback
/// address of a host, over SSH connections of this process that are shared and made anew when they
/// broke:
/// connections that were open then end, later ones work again. The job is looked up for each
/// connection, so they reach its present slice. While the host is away, or the job has none, the
/// ports stay open, and a connection waits for it, for kForwardPatience at most. Memory: of each
/// connection that of HostShell::Relay(), for kMostForwarded of them. Not from a coroutine.
class Forwarding {
 public:
  /// `say` is told what goes wrong with single connections, and whenever they begin to wait, or go
  /// to other machines.
  Forwarding(Context context, core::JobId job, int host,
             std::function<void(const std::string&)> say);
  ~Forwarding();
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

  /// Listens on these ports and returns them with the local numbers they got. Connections wait
  /// until Run(). kAlreadyExists for one that is in use, kPermissionDenied for one of root's.
  base::Result<std::vector<ForwardedPort>> Listen(std::vector<ForwardedPort> ports);
  /// Logs in to the host once: the errors of TargetOf() and of HostShell::Run(). Nothing is tried,
  /// and all is well, if the job is yet to get hosts.
  base::Status Check();
  /// Until SIGINT, SIGTERM or SIGHUP: nothing. Or until the job is over for good: why. `wanted`,
  /// if it is not empty, is asked each second: false ends it as a signal does.
  std::optional<std::string> Run(std::function<bool()> wanted = {});

  struct State;

 private:
  std::shared_ptr<State> state_;
  base::CancelScope scope_ = {};
};

}  // namespace jobman::client

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/client/exec_order.hpp"
#include "jobman/remote/host_script.hpp"
#include "jobman/ssh/fan_out.hpp"

/// Detached runs of `exec`: they outlive the connection, see docs/adr/0030-exec-runs.md.
namespace jobman::client {

/// Ended ones of a job that a host keeps.
inline constexpr int kExecRunsKept = 20;
/// The disk that the log of one may take on a host; a longer one loses its middle.
inline constexpr std::int64_t kExecLogLimit = 256LL << 20;

/// kInvalidArgument unless it is 1 to 40 letters, digits, _ and -, and begins with a letter or
/// digit.
base::Status CheckExecRunName(const std::string& name);
/// The name of one that was given none: "20261128-093000", in UTC.
std::string ExecRunNameAt(base::TimePoint now);

/// What a host answered, or the error.
struct ExecRunHost {
  int host = 0;
  base::Result<std::vector<remote::RunAge>> runs = std::vector<remote::RunAge>{};
};

/// Calls of the hosts, installing the script where it is missing. Nothing may run on the loop
/// meanwhile, so not from a coroutine. kCancelled when interrupted.
class ExecRuns {
 public:
  /// The job must have its hosts.
  ExecRuns(const Context& context, const core::Job& job);

  /// Starts the command; the run is new on every host, or that host fails. A result of 0 means that
  /// it has begun. Errors as of Prepare().
  base::Result<ssh::FanOutResult> Begin(std::vector<ssh::FanOutHost> hosts, const ExecOrder& order,
                                        const std::string& name, ssh::FanOutOptions options);
  /// Gives each host's sink its log from the beginning, until the run has ended there. The results
  /// are the exit codes of the run. A host that cannot be reached is tried again until `patience`
  /// has passed without a byte; `missing` is told of parts of logs that the host no longer has.
  base::Result<ssh::FanOutResult> Follow(std::vector<ssh::FanOutHost> hosts,
                                         const std::string& name, ssh::FanOutOptions options,
                                         std::function<void(int host, base::FileGap)> missing);
  /// TERM, after the job's grace KILL. The results are the exit codes of the run.
  base::Result<ssh::FanOutResult> Stop(std::vector<ssh::FanOutHost> hosts, const std::string& name,
                                       ssh::FanOutOptions options);
  /// Those that each host keeps; their run_id is the name.
  base::Result<std::vector<ExecRunHost>> List(std::vector<ssh::FanOutHost> hosts,
                                              ssh::FanOutOptions options);

 private:
  base::Result<ssh::FanOutResult> Call(std::vector<ssh::FanOutHost> hosts,
                                       const remote::Call& limits,
                                       const ssh::FanOutOptions& options);
  std::string IdOn(int host, const std::string& name) const;

  const Context& context_;
  const core::Job& job_;
  std::string store_ = {};
};

}  // namespace jobman::client

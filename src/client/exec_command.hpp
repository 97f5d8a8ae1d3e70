#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "jobman/client/context.hpp"
#include "jobman/client/exec_order.hpp"
#include "jobman/remote/direct_command.hpp"

namespace jobman::client {

/// A command of `exec` with what it has around it, the same whether it runs at once, detached or
/// with a terminal.
struct ExecCommand {
  core::Job job = {};
  remote::DirectCommand direct = {};  ///< its folder, if one was asked for, is known
  bool job_env = false;
  // With `job_env`:
  std::string store_id = {};
  std::string job_dir = {};
  std::map<std::string, std::optional<std::string>> secrets = {};  ///< read once, for all hosts

  /// On that host; without `job_env` the folder alone. kFailedPrecondition if a secret of the job
  /// has no value here.
  base::Result<remote::CommandEnvironment> Around(int host) const;
  /// With `job_env`, as it is sent at once.
  base::Result<remote::DirectCall> CallOn(int host) const;
};
using ExecCommandPtr = std::shared_ptr<const ExecCommand>;

/// Not from a coroutine.
base::Result<ExecCommandPtr> MakeExecCommand(const Context& context, const core::Job& job,
                                             const ExecOrder& order);

}  // namespace jobman::client

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/remote/direct_command.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::client {

/// What `exec` runs on each host.
struct ExecOrder {
  std::vector<std::string> words = {};  ///< see CommandLine(); not empty
  /// Where it begins: nothing for the home folder, an empty text for JobFolder().
  std::optional<std::string> workdir = {};
  bool clean_libtpu = false;  ///< see remote::DirectCommand
  bool job_env = false;       ///< as the job's command would run: see remote::CallInEnvironment()
  std::optional<base::Duration> limit = {};  ///< see ssh::FanOutOptions::limit
  friend bool operator==(const ExecOrder&, const ExecOrder&) = default;
};

/// One word is a line for the shell, as with ssh. Several are a command and its words, each of them
/// quoted; leading NAME=VALUE words are its environment, as with env(1).
std::string CommandLine(const std::vector<std::string>& words);

/// The folder on the hosts where the job's command begins. Without one the counterpart of the
/// folder in which this process is: the same below the home folder, otherwise the same path.
std::string JobFolder(const base::StatePaths& paths, const core::Job& job);

/// The command line for the hosts' login shells; gives each host the input that it needs first.
/// With `job_env` kFailedPrecondition if a secret of the job has no value here. Not from a
/// coroutine.
base::Result<std::string> Prepare(const Context& context, const core::Job& job,
                                  const ExecOrder& order, std::vector<ssh::FanOutHost>& hosts);

/// The same with `job_env` where the command is to have a terminal, on host number `host`.
base::Result<remote::TerminalCall> PrepareOnTerminal(const Context& context, const core::Job& job,
                                                     const ExecOrder& order, int host);

}  // namespace jobman::client

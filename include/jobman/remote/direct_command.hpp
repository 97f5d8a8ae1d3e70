#pragma once

#include <map>
#include <string>

#include "jobman/base/result.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::remote {

/// A command that a user gives for a host, beside the runs of the job: it ends with its connection.
struct DirectCommand {
  std::string line = {};     ///< for a shell
  std::string workdir = {};  ///< where it begins, as RunOrder::workdir; empty: the home folder
  /// First removes libtpu's lock file and logs in /tmp, which an ended process may have left to
  /// another user, whether or not somebody holds them.
  bool clean_libtpu = false;
};

/// The command line for the host's login shell, whichever that is. It ends with 126 if the folder
/// cannot be entered, as a job's command does.
std::string DirectLine(const DirectCommand& command);

/// What the job's command has around it on one host.
struct CommandEnvironment {
  std::string workdir = {};                     ///< as RunOrder::workdir
  std::map<std::string, std::string> env = {};  ///< as in RunOrder
  std::map<std::string, std::string> secrets = {};
};

/// A command line for the host's login shell, and the beginning of its stdin.
struct DirectCall {
  std::string command = {};
  std::string input = {};
};

/// The command as the job's own would run there: in bash, after the profile, with its variables, in
/// its folder unless the command names one, and in the job's conda or venv, but not in its
/// container. Not with JOBMAN_RUN_DIR and JOBMAN_NOTICE_FILE, which are of its run: what has the
/// first is ended with it. Everything is on stdin, before the command's input, since files and
/// arguments are visible. kInvalidArgument as of RunCall().
base::Result<DirectCall> CallInEnvironment(const DirectCommand& command, const core::JobSpec& spec,
                                           const CommandEnvironment& around);

}  // namespace jobman::remote

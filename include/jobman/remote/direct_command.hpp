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

/// The same as the script of a detached run, which begins in its working folder by itself: the
/// command's own is not looked at. With `spec` in the job's conda or venv.
std::string DetachedScript(const DirectCommand& command, const core::JobSpec* spec);

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

/// The same where stdin is to be a terminal: what comes before the input is in a file then.
struct TerminalCall {
  /// A command line that makes its stdin that file, for this user only and if possible in memory,
  /// and prints its path. Those that nobody read are removed after a minute.
  std::string put = {};
  std::string content = {};
  /// The command line for that path: it removes the file before the command begins.
  std::string LineFor(const std::string& path) const;
};
base::Result<TerminalCall> CallOnTerminal(const DirectCommand& command, const core::JobSpec& spec,
                                          const CommandEnvironment& around);

}  // namespace jobman::remote

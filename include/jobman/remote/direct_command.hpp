#pragma once

#include <string>

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

}  // namespace jobman::remote

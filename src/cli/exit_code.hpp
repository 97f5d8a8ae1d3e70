#pragma once

#include "jobman/base/result.hpp"

namespace jobman::cli {

/// What the process's exit code means. The only such table in the program; docs/guide/cli.md
/// repeats it, and a test compares the two.
enum ExitCode : int {
  kSuccess = 0,
  kJobFailed = 1,      ///< the job, or a command on a host, failed
  kUsage = 2,          ///< wrong command line, bad job file, unusable place (see docs/guide/cli.md)
  kNotFound = 3,       ///< no such job, host, stage, resource
  kRefused = 4,        ///< the cloud refused for good
  kCredentials = 5,    ///< we, or a host, could not be authenticated
  kInternal = 70,      ///< a defect of jobman (EX_SOFTWARE)
  kOutputLost = 74,    ///< stdout could not be written; what was done is done (EX_IOERR)
  kTryLater = 75,      ///< the same command may work later (EX_TEMPFAIL)
  kInterrupted = 130,  ///< Ctrl-C
  kReaderGone = 141,   ///< stdout's reader went away: 128 + SIGPIPE, as for other programs
};

/// The exit code of a command that ends with `error`.
ExitCode ExitCodeOf(const base::Error& error);

/// Of a command with a row for each host, whose `error` may be empty: that of the errors if they
/// agree, and of credentials before all others, since no later try mends them.
template <class Rows>
int ExitCodeOfRows(const Rows& rows) {
  int code = kSuccess;
  for (const auto& row : rows) {
    if (!row.error) continue;
    const int one = ExitCodeOf(*row.error);
    if (one == kCredentials) return one;
    code = code == kSuccess || code == one ? one : kJobFailed;
  }
  return code;
}

}  // namespace jobman::cli

#pragma once

#include <string>

#include "jobman/client/run_until_stopped.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::cli {

/// Stands for a command that took longer than its --timeout, as with timeout(1).
inline constexpr int kTimedOut = 124;

/// How `exec` ends.
struct ExecEnd {
  int code = 0;
  std::string hint = {};  ///< what to do about it; may be empty
};

/// Of one host the code of the command (kTimedOut if it took too long), else of the error for which
/// there is none. Of several hosts: where a host has not run the command to its end, the code of
/// that error, 5 (a key) before others, since no later try mends that; otherwise the highest code.
ExecEnd EndOf(const ssh::FanOutResult& result);

/// How an interrupted `exec` ends: where the command has ended, did not begin, and may go on.
base::Error InterruptedEnd(core::JobId job, const client::StoppableRun& run);

}  // namespace jobman::cli

#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/task.hpp"

namespace jobman::base {

/// Standard input, output and error of a new process: descriptors of this one, each above 2 or in
/// its own place; -1 is /dev/null.
struct Stdio {
  int in = -1;
  int out = -1;
  int err = -1;
};

/// Which signals meant for others reach a new process too.
enum class ProcessGroup {
  kShared,      ///< those for our group: Ctrl-C on the terminal
  kOwn,         ///< none; it can be killed together with what it starts
  kOwnSession,  ///< none, nor the hangup of the terminal
};

/// Starts `argv`, found on PATH, with default signal handling, no signal blocked and no descriptor
/// of ours but `stdio`. The caller reaps it. kNotFound when there is no such program.
Result<pid_t> StartProcess(std::vector<std::string> argv, Stdio stdio = {},
                           ProcessGroup group = ProcessGroup::kShared);
/// Starts a program that outlives this one, in a session of its own. What it prints is appended to
/// `log`.
Result<pid_t> StartDaemon(std::vector<std::string> argv, const Path& log);
/// Whether a child has ended; it is reaped then, and is no child any more. Does not wait.
bool HasEnded(pid_t child);
/// Waits until a child that was just started is of use: asks `ready` every few milliseconds until
/// it gives true. False when the child ended without that, or `limit` passed; the child is left
/// alone. An error of `ready` is given back at once.
Task<Result<bool>> AwaitReady(pid_t child, std::function<Result<bool>()> ready, Duration limit);

struct ProcessResult {
  int exit_code = 0;  ///< 128 + signal when a signal ended it
  std::string out = {};
  std::string err = {};
};

/// Runs `argv` (found on PATH) with `input` on stdin and gives back what it printed. Killed when
/// the waiting coroutine is cancelled, with its process group. Non-zero exits are results, not
/// errors. What the program leaves running in the background is not waited for.
Task<Result<ProcessResult>> RunProcess(std::vector<std::string> argv, std::string input = {});

}  // namespace jobman::base

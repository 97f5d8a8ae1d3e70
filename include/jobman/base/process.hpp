#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/task.hpp"

namespace jobman::base {

/// Standard input, output and error of a new process: file descriptors of this one, each above 2 or
/// already in its place; -1 is /dev/null.
struct Stdio {
  int in = -1;
  int out = -1;
  int err = -1;
};

/// Which signals of other processes reach a new process too.
enum class ProcessGroup {
  kShared,      ///< signals to our group: Ctrl-C on the terminal
  kOwn,         ///< none; it can be killed together with what it starts
  kOwnSession,  ///< as kOwn, and no terminal: it can neither ask there nor be hung up
};

/// Starts `argv`, found on PATH, with default signal handling, no signal blocked and only `stdio`
/// open. The caller reaps it. kNotFound when there is no such program.
Result<pid_t> StartProcess(std::vector<std::string> argv, Stdio stdio = {},
                           ProcessGroup group = ProcessGroup::kShared);
/// Starts a program that outlives this one, in its own session. Its output is appended to `log`.
Result<pid_t> StartDaemon(std::vector<std::string> argv, const Path& log);
/// Whether a child has ended; reaps it if so. Does not wait.
bool HasEnded(pid_t child);
/// Kills a child and the group it leads, and reaps it. One that hangs in the kernel is left; a
/// later StartProcess() or RunProcess() reaps it.
void KillGroup(pid_t child);
/// Waits until a new child is ready: calls `ready` every few milliseconds until it returns true.
/// False when the child ended first or `limit` passed; the child is left alone. An error of `ready`
/// is returned at once.
Task<Result<bool>> AwaitReady(pid_t child, std::function<Result<bool>()> ready, Duration limit);

/// From now on no core dump of this process shows what is in its memory, and no debugger of this
/// user either; programs that it starts are as usual. See prctl(2), PR_SET_DUMPABLE.
void ForbidCoreDumps();

struct ProcessResult {
  int exit_code = 0;  ///< 128 + signal when a signal ended it
  std::string out = {};
  std::string err = {};
};

/// Runs `argv` (found on PATH) with `input` on stdin and returns its output. When the waiting
/// coroutine is cancelled, the process group is killed. Non-zero exits are results, not errors.
/// Processes that the program leaves in the background are not waited for. Of each output, the
/// first kMostOutput bytes are kept; the rest is read and dropped.
inline constexpr std::size_t kMostOutput = std::size_t{64} << 20;
Task<Result<ProcessResult>> RunProcess(std::vector<std::string> argv, std::string input = {});

}  // namespace jobman::base

#pragma once

#include <string>
#include <vector>

#include "jobman/base/task.hpp"

namespace jobman::base {

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

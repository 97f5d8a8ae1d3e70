#pragma once

#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"

namespace jobman::cli {

/// Starts a program that outlives this one: own session, stdin from /dev/null, stdout and stderr
/// appended to `log`. Gives back its process id.
base::Result<int> SpawnDetached(const std::vector<std::string>& argv, const base::Path& log);
/// Runs a program to its end, output to `log` (replaced), and gives back its exit code.
base::Result<int> RunToEnd(const std::vector<std::string>& argv, const base::Path& log);
/// Whether a child of this process that was spawned here has ended.
bool HasEnded(int pid);

}  // namespace jobman::cli

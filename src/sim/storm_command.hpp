#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// `jobman-sim storm`, as the command line gives it.
struct StormOptions {
  std::uint64_t seed = 1;
  double rate = 30;       ///< faults a minute
  std::string time = {};  ///< for how long; empty: until it is interrupted
  std::vector<std::string> only = {};
};
/// Lets faults strike the simulator of `dir` and prints each as a line of a script. When it is
/// over, or interrupted, the world is calm again. Gives back the exit code.
int RunStorm(const base::Path& dir, const StormOptions& options);

/// `jobman-sim script FILE`: prints each line when it happens. Interrupted, it leaves the world
/// calm.
int RunScript(const base::Path& dir, const std::string& file, bool detach);

}  // namespace jobman::sim

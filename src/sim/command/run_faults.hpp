#pragma once

#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "sim/faults/orders.hpp"

namespace jobman::sim {

// Each acts on the simulator of `dir` and gives back the exit code.

/// Sends the orders of the command line. Prints nothing when all went well.
int RunOrders(const base::Path& dir, const std::vector<Order>& orders);

/// `jobman-sim storm`, as the command line gives it.
struct StormOptions {
  std::uint64_t seed = 1;
  double rate = 30;       ///< faults a minute
  std::string time = {};  ///< for how long; empty: until it is interrupted
  std::vector<std::string> only = {};
};
/// Makes random faults happen and prints each as a line of a script. Sends `calm` when it is over
/// or interrupted.
int RunStorm(const base::Path& dir, const StormOptions& options);

/// `jobman-sim script FILE`: prints each line when it happens. Sends `calm` when it is interrupted.
int RunScript(const base::Path& dir, const std::string& file, bool detach);

}  // namespace jobman::sim

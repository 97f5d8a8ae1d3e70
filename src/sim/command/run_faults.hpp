#pragma once

#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "sim/faults/orders.hpp"

namespace jobman::sim {

// Each acts on the simulator of `dir` and returns the exit code.

/// Sends the orders of the command line. Prints nothing on success.
int RunOrders(const base::Path& dir, const std::vector<Order>& orders);

/// `jobman-sim storm`, as the command line gives it.
struct StormOptions {
  std::uint64_t seed = 1;
  double rate = 30;       ///< faults a minute
  std::string time = {};  ///< for how long; empty: until interrupted
  std::vector<std::string> only = {};
};
/// Causes random faults and prints each as a line of a script. Sends `calm` at the end or when
/// interrupted.
int RunStorm(const base::Path& dir, const StormOptions& options);

/// `jobman-sim script FILE`: prints each line when it is executed. Sends `calm` when interrupted.
int RunScript(const base::Path& dir, const std::string& file, bool detach);

}  // namespace jobman::sim

#pragma once

#include <optional>
#include <string>

namespace jobman::config {

/// What `worker start` says of a worker; empty members are not said.
struct WorkerOptions {
  std::string name = {};
  bool numbered = false;  ///< the smallest free number becomes the suffix of its names
  std::string accelerator = {};
  std::string zone = {};
  std::string pricing = {};          ///< spot, ondemand, preemptible or reserved
  std::string allocation_mode = {};  ///< queued-resources or tpu-vm
  std::string queue_file = {};       ///< absolute; empty: it serves the submitted tasks
  std::string idle = {};             ///< how long without a task until the slice is given back
  std::optional<std::string> startup = {};  ///< a script for all hosts, before the first task
};

/// The job file of such a worker. It loads if the values are valid; what is not said comes from the
/// user's defaults.
std::string WorkerFileText(const WorkerOptions& options);

}  // namespace jobman::config

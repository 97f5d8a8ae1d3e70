#pragma once

#include <cstdint>
#include <string_view>

#include "jobman/base/state_paths.hpp"

namespace jobman::controller {

/// Removes the logs of the task's runs that the store does not remember any more
/// (ports::kRunsKept), now that run number `run` begins: a task may be interrupted for ever. What
/// is no folder of a run stays.
void DropOldRuns(const base::StatePaths& paths, std::int64_t queue, std::string_view task, int run);

}  // namespace jobman::controller

#pragma once

#include <optional>
#include <string>

#include "jobman/core/job.hpp"

namespace jobman::core {

/// What in the record of a job contradicts itself, in a sentence; nothing when it is sound. Holds
/// after every decision, so it is asked before one is recorded and after one is read: a job with a
/// flaw is a defect or damage, and is left alone.
std::optional<std::string> FlawOf(const Job& job);

}  // namespace jobman::core

#pragma once

#include <optional>
#include <string>

#include "jobman/core/job.hpp"

namespace jobman::core {

/// How the record of a job contradicts itself, in a sentence; nothing when it is sound. Checked
/// before a decision is recorded and after a job is read. A flaw is a bug or damage, so such a job
/// is left alone.
std::optional<std::string> FlawOf(const Job& job);

}  // namespace jobman::core

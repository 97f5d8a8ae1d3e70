#pragma once

#include <string>

#include "jobman/base/json.hpp"

namespace jobman::store {

// Upgrades JSON of store versions up to 3 to the form of version 4. Pure; the migration reads and
// writes the rows.

/// Before: times had two meanings each, there was a phase "gone", and one node only.
base::Json UpgradeSlice(const base::Json& old);
/// Before: flags said why a stage was being stopped. `slice` is the upgraded one, or null.
base::Json UpgradeStage(const base::Json& old, const base::Json& slice);
/// Before: one text said why an attempt was made and how it ended.
base::Json UpgradeAttempt(const std::string& restart_reason, const std::string& state, int attempt);

}  // namespace jobman::store

#pragma once

#include <string>

#include "jobman/base/json.hpp"

namespace jobman::store {

// What was kept as JSON up to version 3 of the store, in the form of version 4. Pure: for the
// migration, which reads and writes the rows.

/// Times had two meanings each, a phase "gone" was kept, older records knew one node only.
base::Json UpgradeSlice(const base::Json& old);
/// Flags said why a stage was being stopped. `slice` is the upgraded one, or null.
base::Json UpgradeStage(const base::Json& old, const base::Json& slice);
/// One text said why an attempt was made and how it ended.
base::Json UpgradeAttempt(const std::string& restart_reason, const std::string& state, int attempt);

}  // namespace jobman::store

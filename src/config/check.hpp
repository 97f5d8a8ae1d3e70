#pragma once

#include "config/diagnostics.hpp"
#include "config/value.hpp"

namespace jobman::config {

/// Compares a resolved tree with the schema: unknown keys, keys that do nothing yet, values of the
/// wrong type, words that are none of the allowed ones. What it reports it marks broken, so that
/// nobody reports it again.
void CheckAgainstSchema(Value& root, Diagnostics& out);

/// The hint for a key that is not in the schema, "did you mean \"tpu.zone\"?"; may be empty.
/// `parent` is the row that it was looked for under, `shown` how the user knows that row.
std::string NearestKeyHint(std::string_view parent, std::string_view shown, std::string_view key);

}  // namespace jobman::config

#pragma once

#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "jobman/base/json.hpp"
#include "jobman/config/load.hpp"

namespace jobman::config {

/// Compares a tree with the schema and returns what it says, as core::SpecFromJson() reads it: keys
/// that work, values in their exact form, paths made absolute. Reports unknown keys, keys that do
/// nothing yet, missing ones, values of the wrong type or form. What it reports it marks broken, so
/// that nobody reports it again, and leaves out. Writes the short forms in the tree out: a text for
/// a map, an item for a list.
base::Json CheckAgainstSchema(Value& root, const Defaults& defaults, Diagnostics& out);

/// The hint for a key that is not in the schema, "did you mean \"tpu.zone\"?"; may be empty.
/// `prefix` begins the rows that it was looked for in, `shown` is how the user knows their parent.
std::string NearestKeyHint(std::string_view prefix, std::string_view shown, std::string_view key);

}  // namespace jobman::config

#pragma once

#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "jobman/base/json.hpp"
#include "jobman/config/load.hpp"

namespace jobman::config {

/// Checks a tree against the schema and returns its supported keys as core::SpecFromJson() reads
/// them: values in their exact form, paths made absolute. Reports unknown, unsupported and missing
/// keys, and values of the wrong type or form. Reported values are left out, and marked broken so
/// that they are not reported again. Expands short forms in the tree: a text for a map, an item for
/// a list.
base::Json CheckAgainstSchema(Value& root, const Defaults& defaults, Diagnostics& out);

/// Of docker, conda and venv only the section that job.env_type names is used.
bool IsUnusedSection(const Value& root, std::string_view section);

/// The hint for an unknown key, "did you mean \"tpu.zone\"?"; may be empty. `prefix` is the common
/// prefix of the rows searched, `shown` their parent as the user wrote it.
std::string NearestKeyHint(std::string_view prefix, std::string_view shown, std::string_view key);

}  // namespace jobman::config

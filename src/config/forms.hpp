#pragma once

#include <string_view>

#include "jobman/base/result.hpp"

namespace jobman::config {

// Checks of texts beyond their type: a zone, a label, a mail address.

/// Checks a scalar, an item of a list, or a value of a map. `row_path` is the key as in the schema.
base::Status CheckForm(std::string_view row_path, std::string_view text);
/// Checks a member of a map of texts.
base::Status CheckMember(std::string_view row_path, std::string_view name, std::string_view value);

/// Checks the name of an environment variable.
base::Status CheckVariableName(std::string_view name);
bool IsUrl(std::string_view text);

}  // namespace jobman::config

#pragma once

#include <string>
#include <string_view>

#include "config/convert/draft.hpp"
#include "config/diagnostics.hpp"

namespace jobman::config::convert {

/// Converts a task of SkyPilot. `source` is the text in `out`, `name` that of a task without one.
/// Sources: docs/source/reference/yaml-spec.rst, docs/source/running-jobs/environment-variables.rst
/// and sky/utils/schemas.py of skypilot-org/skypilot, 2023 to 2025.
void ConvertSky(std::string_view text, int source, const std::string& name, Draft& draft,
                Diagnostics& out);

}  // namespace jobman::config::convert

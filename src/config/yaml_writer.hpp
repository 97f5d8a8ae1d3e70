#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"

namespace jobman::config {

/// Replaces every text of the tree so that Interpolate() gives it back: "${" has no meaning then.
void EscapeTexts(base::OrderedJson& json);

/// A map as block YAML, its texts taken as they are; those of several lines as blocks ("|").
/// `notes` become comments of the values that are not maps or lists, in their order; an empty one
/// becomes none.
std::string WriteYaml(const base::OrderedJson& map, const std::vector<std::string>& notes);

}  // namespace jobman::config

#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "config/diagnostics.hpp"
#include "config/value.hpp"

namespace jobman::config {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;  ///< bytes of one file
constexpr int kDeepest = 32;                                ///< nesting of lists and maps
constexpr std::size_t kMostValues = 100'000;                ///< after aliases are written out

/// One YAML document (JSON is YAML) as a tree with positions. Aliases are written out, merge keys
/// ("<<") applied; duplicate keys, several documents and what breaks the bounds above are
/// reported. `offset` is added to the columns of the first line. Nothing when a problem leaves no
/// tree worth looking at.
std::optional<Value> ReadYaml(std::string_view text, int source, int offset, Diagnostics& out);

}  // namespace jobman::config

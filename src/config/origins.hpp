#pragma once

#include <string>
#include <vector>

#include "config/diagnostics.hpp"
#include "config/reader.hpp"
#include "config/value.hpp"
#include "jobman/base/json.hpp"
#include "jobman/config/load.hpp"

namespace jobman::config {

/// Where each value of `resolved` came from: its place in the tree (and the file that it names, if
/// its text was read from there), else what the reader noted, else "default".
std::vector<Origin> OriginsOf(const base::OrderedJson& resolved, const Value& root,
                              const Reader& reader, const Diagnostics& sources);

}  // namespace jobman::config

#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "jobman/base/json.hpp"
#include "jobman/config/load.hpp"

namespace jobman::config {

/// Where each value of `resolved` came from: its place in the tree, else its entry in `notes`, else
/// "default".
std::vector<Origin> OriginsOf(const base::OrderedJson& resolved, const Value& root,
                              const std::map<std::string, std::string>& notes,
                              const Diagnostics& sources);

}  // namespace jobman::config

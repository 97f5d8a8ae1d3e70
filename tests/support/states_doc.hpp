#pragma once

#include <map>
#include <set>
#include <string>

#include "jobman/base/result.hpp"
#include "tests/property/world.hpp"

namespace jobman::test {

/// The transitions that docs/states.md tells: the rows between its markers, with their causes.
base::Result<std::map<Edge, std::string>> ReadTransitions(const std::string& path);
/// The arrows of its diagram.
base::Result<std::set<Edge>> ReadArrows(const std::string& path);
/// Writes the table anew: a row for each edge, with the cause it had; new rows ask for one.
base::Status BlessTransitions(const std::string& path, const std::set<Edge>& edges);

/// Stands where a cause is missing.
inline constexpr const char* kNoCause = "(say why)";

}  // namespace jobman::test

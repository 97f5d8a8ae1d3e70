#pragma once

#include <optional>
#include <string>

#include "sim/schema/violations.hpp"

namespace jobman::sim {

/// JSON without duplicate names. Which of two values counts is left open by the proto3 JSON
/// specification; here it is an error.
std::optional<Json> ParseOnce(const std::string& text, Violations& violations);

/// A message as a version of the API understands it; see ReadRequest. `at` is its place in the
/// request.
Json ReadMessage(const std::string& type, const std::string& version, const Json& object,
                 const std::string& at, Violations& violations);

}  // namespace jobman::sim

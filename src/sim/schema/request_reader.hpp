#pragma once

#include <map>
#include <string>

#include "sim/schema/api_schema.hpp"
#include "sim/schema/violations.hpp"

namespace jobman::sim {

/// A request as the service understands it.
struct ReadRequest {
  /// Only what the schema knows, without nulls and output-only fields; names in lowerCamelCase,
  /// enums by name, an int64 as a string.
  Json body = Json::object();
  std::map<std::string, std::string> query = {};  ///< the same, with the standard parameters
  Violations violations = {};                     ///< what is left out of the above
  bool malformed = false;                         ///< the body is no JSON object
};

/// Reads body and query of a call of `method` in a version of the API.
ReadRequest ReadCall(const SchemaMethod& method, const std::string& version,
                     const Request& request);

}  // namespace jobman::sim

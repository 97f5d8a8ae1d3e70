#pragma once

#include <map>
#include <string>

#include "jobman/base/time.hpp"
#include "sim/schema/api_schema.hpp"
#include "sim/schema/violations.hpp"

namespace jobman::sim {

/// Adds what the service refuses although it fits the schema: labels, tags, names of networks,
/// service accounts and reservations that cannot be, metadata without end, two ways to say the
/// same, times that have passed. `body` is that of ReadCall. The sources, and what is a guess, are
/// in docs/guide/simulator.md.
void CheckValues(const SchemaMethod& method, const Json& body, base::TimePoint now,
                 Violations& violations);

/// Adds fields of `filter` and `orderBy` that the listed message does not have. What cannot be read
/// at all is left to the method.
void CheckListing(const SchemaMethod& method, const std::string& version,
                  const std::map<std::string, std::string>& query, Violations& violations);

}  // namespace jobman::sim

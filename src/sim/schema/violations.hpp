#pragma once

#include <string>
#include <vector>

#include "sim/wire/api_error.hpp"

namespace jobman::sim {

/// What is wrong with a field of a request.
struct Violation {
  std::string field = {};  ///< "node.tags[0]", with the proto's names; empty: the request itself
  std::string description = {};
};
using Violations = std::vector<Violation>;

// The descriptions are those of Google's JSON front end, as its other APIs send them.

Violation UnknownName(const std::string& name, const std::string& at, const std::string& why);
/// `type` is "TYPE_STRING", or "type.googleapis.com/" with the full name of a message.
Violation InvalidValue(const std::string& at, const std::string& type, const std::string& value);

/// 400 INVALID_ARGUMENT with all of them, in the message and as google.rpc.BadRequest.
ApiError InvalidRequest(const Violations& violations);

}  // namespace jobman::sim

#pragma once

#include <optional>
#include <string>

#include "sim/wire/json.hpp"

namespace jobman::sim {

/// A scalar as proto3 JSON allows it, in the form in which the service writes it (an int64 as a
/// string); nothing if it is not of the type. `type` is one of SchemaField's, no enum or message.
std::optional<Json> ReadScalar(const std::string& type, const Json& value);
/// The same for the text of a query parameter: "True", "5".
std::optional<Json> ReadParameter(const std::string& type, const std::string& text);
/// "TYPE_STRING", or "type.googleapis.com/google.protobuf.Timestamp".
std::string ScalarName(const std::string& type);

}  // namespace jobman::sim

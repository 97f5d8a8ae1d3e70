#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/time.hpp"

namespace jobman::sim {

/// JSON as the simulator reads and writes it. It shares no helper with the client on purpose: a
/// mistake on both sides would go unnoticed.
using Json = nlohmann::json;
using base::Duration;
using base::TimePoint;

/// Nothing when the text is not JSON.
std::optional<Json> ParseJson(std::string_view text);
/// Nothing when the text is not a JSON object.
std::optional<Json> ParseObject(std::string_view text);
/// The member as text; empty when it is absent or not a string.
std::string Text(const Json& object, std::string_view key);
bool Flag(const Json& object, std::string_view key);
/// The member as a number, also when proto3 JSON wrote an int64 as a string; else 0.
std::int64_t Number(const Json& object, std::string_view key);
/// The member, or null.
const Json& Member(const Json& object, std::string_view key);

/// Leaves default values (false, 0, "", [], and empty maps) out, as proto3 JSON does. Empty
/// messages stay as {}. `labels` and `metadata` are maps: their entries stay as they are.
Json WithoutDefaults(Json value);
/// A google.protobuf.Timestamp with nine decimals, as the service writes it.
std::string Timestamp(TimePoint time);

}  // namespace jobman::sim

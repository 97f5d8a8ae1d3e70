#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/time.hpp"

namespace jobman::sim {

/// JSON for the simulator. It shares no helper with the client on purpose, apart from the limits of
/// the parser: a mistake in both would go unnoticed.
using Json = nlohmann::json;
using base::Duration;
using base::TimePoint;

std::optional<Json> ParseJson(std::string_view text);
std::optional<Json> ParseObject(std::string_view text);
/// The member as text; empty if it is absent or not a string.
std::string Text(const Json& object, std::string_view key);
bool Flag(const Json& object, std::string_view key);
/// The member as a number, also an int64 that proto3 JSON wrote as a string; else 0.
std::int64_t Number(const Json& object, std::string_view key);
/// The member, or null.
const Json& Member(const Json& object, std::string_view key);

/// Removes default values (false, 0, "", [], and empty maps), as proto3 JSON does. Empty messages
/// stay as {}. `labels` and `metadata` are maps: their entries stay.
Json WithoutDefaults(Json value);
/// A google.protobuf.Timestamp with nine decimals, like the service's.
std::string Timestamp(TimePoint time);

}  // namespace jobman::sim

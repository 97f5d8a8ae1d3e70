#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "jobman/base/result.hpp"

namespace jobman::base {

using Json = nlohmann::json;
/// Keeps the order of keys, for output that people read.
using OrderedJson = nlohmann::ordered_json;

/// Limits of what ParseJson() builds. Values are copied and destroyed recursively, and take about
/// 100 bytes each; what the API answers and what we store is 10 levels deep.
inline constexpr int kDeepestJson = 64;
inline constexpr std::size_t kMostJsonValues = std::size_t{1} << 20;

/// Never throws; the error names the byte at which parsing failed, or the limit that the text
/// exceeds, which is found out before anything is built.
Result<Json> ParseJson(std::string_view text);

/// The member, or an empty value when it is absent or of another type: proto3 JSON leaves defaults
/// out, and a client must tolerate unknown data.
std::string GetString(const Json& object, std::string_view key);
bool GetBool(const Json& object, std::string_view key);
/// Numbers, and int64 as proto3 JSON writes them: strings.
std::int64_t GetInt(const Json& object, std::string_view key);
/// The member, or a null value.
const Json& GetMember(const Json& object, std::string_view key);

}  // namespace jobman::base

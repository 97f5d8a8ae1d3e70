#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/time.hpp"

namespace jobman::sim {

/// JSON as the simulator reads and writes it. It shares no helper with the client on purpose: a
/// mistake that both sides made could not be seen.
using Json = nlohmann::json;
using base::Duration;
using base::TimePoint;

/// One HTTP request, taken apart by the server.
struct Request {
  std::string method = {};                        ///< "GET", "POST", "PATCH", "DELETE"
  std::string path = {};                          ///< without the query, percent-decoded
  std::map<std::string, std::string> query = {};  ///< percent-decoded
  std::string body = {};
  std::string token = {};  ///< of "Authorization: Bearer"; empty without one
};

/// What goes back. `lost` means that the work is done but the connection closes unanswered.
struct Reply {
  int status = 200;
  Json body = Json::object();
  std::map<std::string, std::string> headers = {};
  bool lost = false;
};

/// Nothing when the text is not JSON.
std::optional<Json> ParseBody(std::string_view text);
/// The member as text; empty when it is absent or no string.
std::string Text(const Json& object, std::string_view key);
bool Flag(const Json& object, std::string_view key);
/// The member as a number, also when proto3 JSON wrote an int64 as a string.
std::int64_t Number(const Json& object, std::string_view key);
/// The member, or a null value.
const Json& Member(const Json& object, std::string_view key);
/// The query parameter, or empty.
std::string Query(const Request& request, const std::string& key);

/// proto3 JSON leaves default values (false, 0, "", [], and empty maps) out, and keeps empty
/// messages as {}. Entries of `labels` and `metadata` are map values and stay as they are.
Json WithoutDefaults(Json value);
/// A google.protobuf.Timestamp with nine decimals, as the service writes it.
std::string Timestamp(TimePoint time);

}  // namespace jobman::sim

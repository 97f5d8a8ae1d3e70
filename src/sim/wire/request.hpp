#pragma once

#include <map>
#include <set>
#include <string>

#include "sim/wire/json.hpp"

namespace jobman::sim {

/// One HTTP request, as the server parsed it.
struct Request {
  std::string method = {};                        ///< "GET", "POST", "PATCH", "DELETE"
  std::string path = {};                          ///< without the query, percent-decoded
  std::map<std::string, std::string> query = {};  ///< percent-decoded
  std::set<std::string> repeated = {};            ///< parameters that come twice
  std::string body = {};
};

/// The response. `lost`: the work is done, but the connection closes without an answer.
struct Reply {
  int status = 200;
  Json body = Json::object();
  std::map<std::string, std::string> headers = {};
  bool lost = false;
};

/// The query parameter, or empty.
inline std::string Query(const Request& request, const std::string& key) {
  const auto found = request.query.find(key);
  return found == request.query.end() ? std::string() : found->second;
}

/// Bytes that are not UTF-8 become U+FFFD, since they come back in answers, which are JSON.
std::string ValidText(const std::string& text);
/// The parameters of a request target, valid text:
/// "/v2/..?pageSize=5&$alt=json%3Benum-encoding=int". Of a name that comes twice, the first; adds
/// the name to `repeated`.
std::map<std::string, std::string> ParseQuery(const std::string& target,
                                              std::set<std::string>* repeated = nullptr);

}  // namespace jobman::sim

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jobman::http {

/// Encodes one path segment or query value: everything but RFC 3986's unreserved characters as %XX.
std::string PercentEncode(std::string_view text);

using Query = std::vector<std::pair<std::string, std::string>>;
/// "a=1&b=x%20y"; empty for an empty query.
std::string EncodeQuery(const Query& query);

}  // namespace jobman::http

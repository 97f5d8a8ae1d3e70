#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobman/base/result.hpp"

namespace jobman::http {

/// The parts of an absolute http or https URL.
struct Url {
  std::string scheme = {};  ///< "http" or "https", lower case
  std::string host = {};    ///< lower case, IPv6 without brackets
  int port = 0;             ///< default: 80 or 443
  std::string target = {};  ///< path with query, at least "/"
};

/// kInvalidArgument for anything but an absolute http or https URL. A user name or password in it
/// is refused, since it would appear in logs.
base::Result<Url> ParseUrl(std::string_view text);

/// Whether the host is this machine: localhost, 127.0.0.0/8 or ::1.
bool IsLoopback(std::string_view host);

/// Encodes one path segment or query value: everything but RFC 3986's unreserved characters as %XX.
std::string PercentEncode(std::string_view text);

using Query = std::vector<std::pair<std::string, std::string>>;
/// "a=1&b=x%20y"; empty for an empty query.
std::string EncodeQuery(const Query& query);

}  // namespace jobman::http

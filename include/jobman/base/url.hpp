#pragma once

#include <string>
#include <string_view>

#include "jobman/base/result.hpp"

namespace jobman::base {

/// The parts of an absolute http or https URL.
struct Url {
  std::string scheme = {};  ///< "http" or "https", lower case
  std::string host = {};    ///< lower case, IPv6 without brackets
  int port = 0;             ///< default: 80 or 443
  std::string target = {};  ///< path with query, at least "/"

  /// Whether a secret sent there can be read on the way: plain http to another machine.
  bool IsOpen() const;
  /// Whether both are on one server: the scheme, host and port are the same (RFC 6454).
  bool HasOriginOf(const Url& other) const;
};

/// kInvalidArgument for anything but an absolute http or https URL. A user name or password in it
/// is refused, since it would appear in logs.
Result<Url> ParseUrl(std::string_view text);
/// Like ParseUrl(), for the base URL of an API: paths are appended to it, so it may have no query
/// and no fragment.
Result<Url> ParseEndpoint(std::string_view text);

/// Whether the host is this machine: localhost, an address of 127.0.0.0/8 in four decimal numbers,
/// or ::1. Other ways to write these are not recognised.
bool IsLoopback(std::string_view host);
/// Whether the host is an address of 169.254.0.0/16 in four decimal numbers: no router passes it
/// on, and clouds have their metadata servers there.
bool IsLinkLocal(std::string_view host);

}  // namespace jobman::base

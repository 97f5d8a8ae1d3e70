#pragma once

#include <string>
#include <string_view>

#include "jobman/base/json.hpp"

namespace jobman::auth {

/// Base64url without padding (RFC 4648 §5, as RFC 7515 §2 wants it).
std::string Base64Url(std::string_view bytes);

/// A JSON Web Token signed with RS256 (RFC 7515, RFC 7518 §3.3); `key` is a private RSA key in PEM.
/// kInvalidArgument if it is none; never quotes it.
base::Result<std::string> SignJwt(const base::Json& header, const base::Json& claims,
                                  const std::string& key);

}  // namespace jobman::auth

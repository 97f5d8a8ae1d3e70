#pragma once

#include <string>
#include <string_view>

#include "jobman/http/transport.hpp"

namespace jobman::http {

/// What stands in the place of a secret.
inline constexpr std::string_view kRedacted = "[redacted]";

/// Whether a value of this name must never be shown: authorization, cookie, assertion, ssh-keys,
/// startup-script, or anything with secret, token, password, credential or private key in its name.
/// Page tokens are no secrets.
bool IsSecretName(std::string_view name);

/// Values of secret query parameters replaced.
std::string RedactUrl(std::string_view url);
/// Values of secret fields replaced.
Headers RedactHeaders(Headers headers);
/// Bearer tokens and Google access tokens (ya29...) inside running text replaced.
std::string RedactText(std::string_view text);
/// A body fit for a log: JSON and forms with their secrets replaced, anything else by its size.
std::string RedactBody(std::string_view body);

}  // namespace jobman::http

#pragma once

#include <string>
#include <string_view>

#include "jobman/http/transport.hpp"

namespace jobman::http {

/// Replaces a secret.
inline constexpr std::string_view kRedacted = "[redacted]";

/// Whether values of this name are secret: authorization, cookie, assertion, ssh-keys,
/// startup-script, or anything with secret, token, password, credential or private key in its name.
/// Page tokens are not.
bool IsSecretName(std::string_view name);

/// Replaces the values of secret query parameters.
std::string RedactUrl(std::string_view url);
/// Replaces the values of secret fields.
Headers RedactHeaders(Headers headers);
/// Replaces bearer tokens, Google access tokens (ya29...) and JWTs inside text, in one pass.
std::string RedactText(std::string_view text);
/// A body for a log: JSON and forms with secrets replaced, the size of anything else.
std::string RedactBody(std::string_view body);

}  // namespace jobman::http

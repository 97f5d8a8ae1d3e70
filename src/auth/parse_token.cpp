#include <algorithm>

#include "auth/no_token.hpp"
#include "jobman/auth/token_source.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::auth {
namespace {

using base::Json;

/// Never quotes the text: it may be a malformed secret.
base::Error Malformed(const std::string& origin, const std::string& why) {
  return NoToken(origin + " gives no access token: " + why,
                 "expected is one line with the token, or JSON with \"access_token\"");
}

bool IsTokenChar(unsigned char c) {
  return c > ' ' && c < 0x7f;
}

Result<AccessToken> FromJson(const Json& object, TimePoint read_at, const std::string& origin) {
  AccessToken token{.value = base::GetString(object, "access_token")};
  if (token.value.empty()) return Malformed(origin, "the JSON has no \"access_token\"");
  if (!std::all_of(token.value.begin(), token.value.end(), IsTokenChar)) {
    return Malformed(origin, "its \"access_token\" contains spaces or control characters");
  }
  const std::int64_t seconds = base::GetInt(object, "expires_in");
  // More than ten years is nonsense, and could overflow later.
  if (seconds > 0 && seconds < 315'360'000) {
    token.expires = read_at + std::chrono::seconds{seconds};
  }
  const std::string expiry = base::GetString(object, "expiry");
  if (!expiry.empty()) {
    const auto time = base::ParseRfc3339(expiry);
    if (!time) return Malformed(origin, "its \"expiry\" is not an RFC 3339 time");
    token.expires = *time;
  }
  return token;
}

}  // namespace

Result<AccessToken> ParseToken(std::string_view text, TimePoint read_at,
                               const std::string& origin) {
  const std::string_view word = base::Trim(text);
  if (word.empty()) return Malformed(origin, "it is empty");
  if (word.starts_with('{')) {
    const auto json = base::ParseJson(word);
    if (!json) return Malformed(origin, "it looks like JSON but is not");
    return FromJson(*json, read_at, origin);
  }
  if (!std::all_of(word.begin(), word.end(), IsTokenChar)) {
    return Malformed(origin, "it is more than one word");
  }
  return AccessToken{.value = std::string(word)};
}

}  // namespace jobman::auth

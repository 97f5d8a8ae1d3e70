#include "sim/wire/gate.hpp"

#include <openssl/crypto.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "sim/wire/api_error.hpp"

namespace jobman::sim {

namespace {

/// In a time that does not depend on where they differ.
bool IsSame(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool IsJson(const std::string& content) {
  return base::ToLower(base::Trim(content.substr(0, content.find(';')))) == "application/json";
}

Reply Forbidden(const std::string& why) {
  return ToReply({.code = base::Code::kPermissionDenied, .message = why});
}

Reply UnsupportedMediaType() {
  Reply reply = ToReply({.code = base::Code::kInvalidArgument,
                         .message = "The body must have Content-Type: application/json."});
  reply.status = 415;
  reply.body["error"]["code"] = 415;
  return reply;
}

}  // namespace

bool IsThisMachine(const std::string& host) {
  const std::string text = base::ToLower(host);
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!text.starts_with(name)) continue;
    const std::string port = text.substr(std::string(name).size());
    if (port.empty()) return true;
    if (port.size() > 1 && port[0] == ':' &&
        std::all_of(port.begin() + 1, port.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      return true;
    }
  }
  return false;
}

std::optional<Reply> Gate::Refusal(const Envelope& envelope) const {
  if (!IsThisMachine(envelope.host)) {
    return Forbidden("The Host header must name this machine: 127.0.0.1, localhost or [::1].");
  }
  if (envelope.has_origin) return Forbidden("Requests of web pages (Origin) are refused.");
  if (token_.empty() || !IsSame(envelope.token, token_)) {
    const bool none = envelope.token.empty();
    return ToReply(UnauthenticatedError(none ? "CREDENTIALS_MISSING" : "ACCESS_TOKEN_EXPIRED"));
  }
  if (envelope.has_body && !IsJson(envelope.content)) return UnsupportedMediaType();
  return std::nullopt;
}

}  // namespace jobman::sim

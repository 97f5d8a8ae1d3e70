#include "jobman/http/redact.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::http {
namespace {

using base::Json;

constexpr std::array<std::string_view, 12> kSecretParts = {
    "authorization", "cookie",     "assertion", "secret",     "token",  "password",
    "passwd",        "credential", "sshkeys",   "privatekey", "apikey", "rapt",
};
constexpr std::array<std::string_view, 3> kSecretScripts = {"startupscript", "shutdownscript",
                                                            "userdata"};

/// Lower case without separators: ssh-keys, ssh_keys and sshKeys are one name.
std::string Squeeze(std::string_view name) {
  std::string out;
  for (const char c : base::ToLower(name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += c;
  }
  return out;
}

/// Recursive, as deep as base::ParseJson() builds.
Json RedactJson(Json value);

/// `{"key": "ssh-keys", "value": "..."}`: a map in Compute Engine's notation.
void RedactPair(Json& object) {
  for (const char* name : {"key", "name"}) {
    const std::string word = base::GetString(object, name);
    const auto value = object.find("value");
    if (!word.empty() && IsSecretName(word) && value != object.end()) {
      *value = std::string(kRedacted);
    }
  }
}

Json RedactObject(Json object) {
  RedactPair(object);
  for (auto& [name, value] : object.items()) {
    value = IsSecretName(name) ? Json(std::string(kRedacted)) : RedactJson(std::move(value));
  }
  return object;
}

Json RedactJson(Json value) {
  if (value.is_object()) return RedactObject(std::move(value));
  if (value.is_array()) {
    for (Json& item : value) item = RedactJson(std::move(item));
  }
  if (value.is_string()) return RedactText(*value.get_ptr<const std::string*>());
  return value;
}

std::string RedactPairs(std::string_view pairs) {
  std::vector<std::string> parts = base::Split(pairs, '&');
  for (std::string& part : parts) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = part.substr(0, equals);
    part = name + "=" +
           (IsSecretName(name) ? std::string(kRedacted) : RedactText(part.substr(equals + 1)));
  }
  return base::Join(parts, "&");
}

bool LooksLikeForm(std::string_view body) {
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-._~%+&=*").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return body.find('=') != std::string_view::npos && std::all_of(body.begin(), body.end(), fits);
}

bool EndsToken(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0 || c == '"' || c == '\'' || c == ',' ||
         c == '&' || c == ')' || c == '\\';
}

/// Whether `text` has `marker`, in lower case, at `at`.
bool HasMarker(std::string_view text, std::size_t at, std::string_view marker) {
  const std::string_view part = text.substr(at, marker.size());
  return part.size() == marker.size() && base::ToLower(part) == marker;
}

bool IsJwtChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

/// A word of the form of a JWT: three parts in base64url, of which the first begins with `{"`. Only
/// the beginning of a word is looked at, so that each word is read once.
bool IsJwt(std::string_view text, std::size_t at) {
  constexpr std::size_t kShortest = 20;
  if (text.substr(at, 3) != "eyJ" || (at > 0 && IsJwtChar(text[at - 1]))) return false;
  const std::string_view rest = text.substr(at);
  const auto end = std::find_if_not(rest.begin(), rest.end(), IsJwtChar);
  return end - rest.begin() >= static_cast<std::ptrdiff_t>(kShortest) &&
         std::count(rest.begin(), end, '.') >= 2;
}

/// Where the secret begins that a marker at `at` announces; nothing without a marker.
std::optional<std::size_t> SecretAt(std::string_view text, std::size_t at) {
  constexpr std::string_view kBearer = "bearer ";
  const char c = text[at];
  if ((c == 'b' || c == 'B') && HasMarker(text, at, kBearer)) return at + kBearer.size();
  if ((c == 'y' || c == 'Y') && HasMarker(text, at, "ya29.")) return at;
  if (c == 'e' && IsJwt(text, at)) return at;
  return {};
}

std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

bool IsSecretName(std::string_view name) {
  const std::string word = Squeeze(name);
  if (word == "pagetoken" || word == "nextpagetoken") return false;
  const auto within = [&](std::string_view part) { return base::Contains(word, part); };
  return std::any_of(kSecretParts.begin(), kSecretParts.end(), within) ||
         std::any_of(kSecretScripts.begin(), kSecretScripts.end(), within);
}

std::string RedactUrl(std::string_view url) {
  const std::size_t query = url.find_first_of("?#");
  if (query == std::string_view::npos) return std::string(url);
  return std::string(url.substr(0, query + 1)) + RedactPairs(url.substr(query + 1));
}

Headers RedactHeaders(Headers headers) {
  for (auto& [name, value] : headers) {
    value = IsSecretName(name) ? std::string(kRedacted) : RedactText(value);
  }
  return headers;
}

std::string RedactText(std::string_view text) {
  std::string shown;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto secret = SecretAt(text, at);
    const std::size_t begin = secret.value_or(at + 1);
    shown += text.substr(at, begin - at);
    at = begin;
    if (!secret) continue;
    while (at < text.size() && !EndsToken(text[at])) ++at;
    if (at > begin) shown += kRedacted;
  }
  return shown;
}

std::string RedactBody(std::string_view body) {
  if (body.empty()) return "";
  if (auto json = base::ParseJson(body); json && json->is_structured()) {
    return Dump(RedactJson(std::move(*json)));
  }
  if (LooksLikeForm(body)) return RedactPairs(body);
  return "(" + base::Plural(static_cast<std::int64_t>(body.size()), "byte") + ", not JSON)";
}

}  // namespace jobman::http

#include "jobman/http/url.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"

namespace jobman::http {
namespace {

bool IsUnreserved(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

base::Error BadUrl(std::string_view text, const std::string& why) {
  return base::InvalidArgument("'" + std::string(text) + "' is not a usable URL: " + why,
                               "write it like https://tpu.googleapis.com or http://127.0.0.1:8080");
}

/// Splits "host:port" and "[::1]:port"; the port is empty when there is none.
std::pair<std::string_view, std::string_view> SplitAuthority(std::string_view authority) {
  std::size_t host_end = authority.rfind(':');
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return {{}, {}};
    const std::string_view rest = authority.substr(bracket + 1);
    return {authority.substr(1, bracket - 1), rest.starts_with(':') ? rest.substr(1) : ""};
  }
  if (host_end == std::string_view::npos) return {authority, {}};
  return {authority.substr(0, host_end), authority.substr(host_end + 1)};
}

}  // namespace

base::Result<Url> ParseUrl(std::string_view text) {
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return BadUrl(text, "it has no http:// or https://");
  Url url{.scheme = base::ToLower(text.substr(0, scheme_end))};
  if (url.scheme != "http" && url.scheme != "https") {
    return BadUrl(text, "only http and https are supported");
  }
  const auto is_control = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control))
    return BadUrl(text, "it contains a space or control character");

  const std::string_view rest = text.substr(scheme_end + 3);
  const std::size_t target = rest.find_first_of("/?#");
  const std::string_view authority = rest.substr(0, target);
  if (authority.find('@') != std::string_view::npos) {
    return base::InvalidArgument("a URL must not hold a user name or a password",
                                 "give a token by GOOGLE_OAUTH_ACCESS_TOKEN instead");
  }
  const auto [host, port] = SplitAuthority(authority);
  if (host.empty()) return BadUrl(text, "it names no host");
  url.host = base::ToLower(host);
  url.port = url.scheme == "https" ? 443 : 80;
  if (!port.empty()) {
    const auto number = base::ParseNumber(port);
    if (!number || *number < 1 || *number > 65535)
      return BadUrl(text, "its port is not a number from 1 to 65535");
    url.port = static_cast<int>(*number);
  }
  url.target = target == std::string_view::npos ? "/" : std::string(rest.substr(target));
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

bool IsLoopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  if (!host.starts_with("127.")) return false;
  // "127.0.0.1.example.org" is a name, not an address.
  return host.find_first_not_of("0123456789.") == std::string_view::npos &&
         std::count(host.begin(), host.end(), '.') == 3;
}

std::string PercentEncode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsUnreserved(byte)) {
      out += c;
      continue;
    }
    out += '%';
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out;
}

std::string EncodeQuery(const Query& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    if (!out.empty()) out += '&';
    out += PercentEncode(name) + "=" + PercentEncode(value);
  }
  return out;
}

}  // namespace jobman::http

#include "jobman/base/url.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "jobman/base/strings.hpp"

namespace jobman::base {
namespace {

Error BadUrl(std::string_view text, const std::string& why) {
  return InvalidArgument("'" + std::string(text) + "' is not a usable URL: " + why,
                         "write it like https://tpu.googleapis.com or http://127.0.0.1:8080");
}

struct Authority {
  std::string_view host = {};
  std::string_view port = {};
};

/// In the byte order of this machine.
std::optional<std::uint32_t> Ipv4(std::string_view host) {
  in_addr address{};
  if (::inet_pton(AF_INET, std::string(host).c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

/// Its 16 bytes.
std::optional<in6_addr> Ipv6(std::string_view host) {
  in6_addr address{};
  if (::inet_pton(AF_INET6, std::string(host).c_str(), &address) != 1) return std::nullopt;
  return address;
}

/// Splits "host:port" and "[::1]:port"; the port is empty when there is none. Nothing for what
/// another reader might split in another way.
std::optional<Authority> SplitAuthority(std::string_view authority) {
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return std::nullopt;
    const std::string_view host = authority.substr(1, bracket - 1);
    const std::string_view rest = authority.substr(bracket + 1);
    if (!Ipv6(host) || (!rest.empty() && !rest.starts_with(':'))) return std::nullopt;
    return Authority{host, rest.empty() ? rest : rest.substr(1)};
  }
  const std::size_t host_end = authority.find(':');
  if (host_end == std::string_view::npos) return Authority{authority, {}};
  return Authority{authority.substr(0, host_end), authority.substr(host_end + 1)};
}

}  // namespace

Result<Url> ParseUrl(std::string_view text) {
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return BadUrl(text, "it has no http:// or https://");
  Url url{.scheme = ToLower(text.substr(0, scheme_end))};
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
    return InvalidArgument("a URL must not hold a user name or a password",
                           "give a token by GOOGLE_OAUTH_ACCESS_TOKEN instead");
  }
  const auto parts = SplitAuthority(authority);
  if (!parts) return BadUrl(text, "its [host] is not an IPv6 address");
  if (parts->host.empty()) return BadUrl(text, "it names no host");
  url.host = ToLower(parts->host);
  url.port = url.scheme == "https" ? 443 : 80;
  if (!parts->port.empty()) {
    const auto number = ParseNumber(parts->port);
    if (!number || *number < 1 || *number > 65535)
      return BadUrl(text, "its port is not a number from 1 to 65535");
    url.port = static_cast<int>(*number);
  }
  url.target = target == std::string_view::npos ? "/" : std::string(rest.substr(target));
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

Result<Url> ParseEndpoint(std::string_view text) {
  JM_ASSIGN_OR_RETURN(Url url, ParseUrl(text));
  if (text.find_first_of("?#") == std::string_view::npos) return url;
  // Without the text: a query may hold a secret.
  return InvalidArgument("the URL of an API must not have a query (?) or a fragment (#)",
                         "leave that part out; a token is given by cloud.token_file");
}

bool IsLoopback(std::string_view host) {
  if (host == "localhost") return true;
  // "127.0.0.1.example.org" and "127.0.0.256" are names, and who knows what "127.1" is elsewhere.
  if (const auto v4 = Ipv4(host)) return *v4 >> 24U == 127;
  const auto v6 = Ipv6(host);
  return v6 && IN6_IS_ADDR_LOOPBACK(&*v6);
}

bool IsLinkLocal(std::string_view host) {
  const auto v4 = Ipv4(host);
  return v4 && *v4 >> 16U == 0xA9FE;  // 169.254
}

bool Url::IsOpen() const {
  return scheme != "https" && !IsLoopback(host);
}

bool Url::HasOriginOf(const Url& other) const {
  return scheme == other.scheme && host == other.host && port == other.port;
}

}  // namespace jobman::base

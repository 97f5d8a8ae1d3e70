#include "sim/hosts/guest_metadata.hpp"

#include <fmt/format.h>

#include <set>

#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

constexpr std::string_view kServerName = "metadata.google.internal";
constexpr std::string_view kRoot = "/computeMetadata/v1/";

GuestReply NoSuchKey(const std::string& path) {
  return {.status = 404, .body = "there is no " + path + "\n", .type = "text/plain"};
}

/// The entries of a folder, one per line; folders end with a slash.
std::string Listing(const GuestTree& tree, const std::string& folder) {
  std::set<std::string> names;
  for (auto entry = tree.lower_bound(folder); entry != tree.end(); ++entry) {
    if (!entry->first.starts_with(folder)) break;
    const std::string rest = entry->first.substr(folder.size());
    const auto slash = rest.find('/');
    names.insert(slash == std::string::npos ? rest : rest.substr(0, slash + 1));
  }
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

Json Nested(const GuestTree& tree, const std::string& folder) {
  Json json = Json::object();
  for (auto entry = tree.lower_bound(folder); entry != tree.end(); ++entry) {
    if (!entry->first.starts_with(folder)) break;
    Json* at = &json;
    for (const std::string& part : base::Split(entry->first.substr(folder.size()), '/')) {
      at = &(*at)[part];
    }
    *at = entry->second;
  }
  return json;
}

void TakeParameter(const std::string& parameter, GuestRequest& into) {
  const auto equals = parameter.find('=');
  const std::string name = parameter.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : parameter.substr(equals + 1);
  if (name == "recursive") into.recursive = base::ToLower(value) == "true";
  if (name == "wait_for_change") into.wait = base::ToLower(value) == "true";
  if (name == "last_etag") into.last_etag = value;
  if (name == "timeout_sec") {
    if (const auto seconds = base::ParseNumber(value))
      into.timeout = std::chrono::seconds(*seconds);
  }
}

const char* Phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Error";
  }
}

}  // namespace

std::string GuestReply::ETag() const {
  return base::Sha256Hex(body).substr(0, 16);
}

std::optional<GuestRequest> ParseGuestRequest(const std::string& head) {
  const std::vector<std::string> lines = base::Split(head, '\n');
  const std::vector<std::string> words = base::Split(base::Trim(lines[0]), ' ');
  if (words.size() != 3 || !words[1].starts_with("/") || !words[2].starts_with("HTTP/1.")) {
    return std::nullopt;
  }
  GuestRequest request{.method = words[0]};
  const auto query = words[1].find('?');
  request.path = words[1].substr(0, query);
  if (query != std::string::npos) {
    for (const std::string& parameter : base::Split(words[1].substr(query + 1), '&')) {
      TakeParameter(parameter, request);
    }
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string line = base::ToLower(base::Trim(lines[i]));
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon);
    const std::string value(base::Trim(line.substr(colon + 1)));
    if (name == "metadata-flavor") request.flavored = value == "google";
    if (name == "host") request.host = value.substr(0, value.find(':'));
  }
  return request;
}

std::optional<GuestReply> Refusal(const GuestRequest& request, const std::string& address) {
  if (request.method != "GET") {
    return GuestReply{.status = 405, .body = "only GET\n", .type = "text/plain"};
  }
  // Any other name was resolved to this address to reach what is not meant for it.
  if (request.host != address && request.host != kServerName) {
    return GuestReply{.status = 403, .body = "the Host header is foreign\n", .type = "text/plain"};
  }
  if (request.flavored || request.path == "/") return std::nullopt;
  return GuestReply{.status = 403,
                    .body = "the header \"Metadata-Flavor: Google\" is missing\n",
                    .type = "text/plain"};
}

GuestReply LookUp(const GuestTree& tree, const std::string& path, bool recursive) {
  if (path == "/") return {.body = "computeMetadata/\n"};
  std::string key = path + "/";
  if (!key.starts_with(kRoot)) return NoSuchKey(path);
  key = key.substr(kRoot.size());
  while (key.ends_with("/")) key.pop_back();
  if (const auto value = tree.find(key); value != tree.end()) {
    const bool json = key == "instance/upcoming-maintenance";
    return {.body = value->second, .type = json ? "application/json" : "application/text"};
  }
  const std::string folder = key.empty() ? "" : key + "/";
  const std::string names = Listing(tree, folder);
  if (names.empty()) return NoSuchKey(path);
  if (!recursive) return {.body = names};
  return {.body = Nested(tree, folder).dump(), .type = "application/json"};
}

std::string OnWire(const GuestReply& reply) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nMetadata-Flavor: Google\r\nServer: Metadata Server for VM\r\n"
      "Content-Type: {}\r\nETag: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      reply.status, Phrase(reply.status), reply.type, reply.ETag(), reply.body.size(), reply.body);
}

}  // namespace jobman::sim

#include "sim/wire/route.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

std::string ResourceName(const ResourceKey& key, const std::string& collection) {
  return "projects/" + key.project + "/locations/" + key.zone + "/" + collection + "/" + key.id;
}

namespace {

bool IsVersion(const std::string& text) {
  return text == "v2" || text == "v2alpha1" || text == "v1";
}

/// Splits "name:verb" at the colon.
std::string TakeVerb(std::string& last) {
  const auto colon = last.find(':');
  if (colon == std::string::npos) return {};
  std::string verb = last.substr(colon + 1);
  last.resize(colon);
  return verb;
}

}  // namespace

std::optional<Route> ParseRoute(const std::string& path) {
  std::vector<std::string> parts = base::Split(path, '/');
  // "/v2/projects/P/locations[/Z[/collection[/id]]]" splits into "", "v2", "projects", ...
  if (parts.size() < 5 || parts.size() > 8 || !parts[0].empty() || !IsVersion(parts[1]) ||
      parts[2] != "projects" || parts[3].empty() || parts[4] != "locations") {
    return std::nullopt;
  }
  Route route{.version = parts[1], .collection = "locations"};
  route.verb = TakeVerb(parts.back());
  route.key.project = parts[3];
  if (parts.size() > 5) route.key.zone = parts[5];
  if (parts.size() > 6) route.collection = parts[6];
  if (parts.size() > 7) route.key.id = parts[7];
  if (std::any_of(parts.begin() + 1, parts.end(), [](const auto& part) { return part.empty(); })) {
    return std::nullopt;
  }
  return route;
}

std::string MethodName(const std::string& http_method, const Route& route) {
  const bool whole =
      route.collection == "locations" ? route.key.zone.empty() : route.key.id.empty();
  const std::string prefix = route.collection + ".";
  if (!route.verb.empty()) return prefix + route.verb;
  if (http_method == "GET") return prefix + (whole ? "list" : "get");
  if (http_method == "POST" && whole) return prefix + "create";
  if (http_method == "DELETE" && !whole) return prefix + "delete";
  if (http_method == "PATCH" && !whole) return prefix + "patch";
  return {};
}

std::string ProjectNumber(const std::string& project) {
  const bool number = !project.empty() && std::all_of(project.begin(), project.end(),
                                                      [](char c) { return c >= '0' && c <= '9'; });
  if (number) return project;
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const char c : project) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return std::to_string(100000000000ULL + hash % 900000000000ULL);
}

}  // namespace jobman::sim

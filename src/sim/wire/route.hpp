#pragma once

#include <compare>
#include <optional>
#include <string>

namespace jobman::sim {

/// Names a resource: project and zone as in the path, id without a prefix.
struct ResourceKey {
  std::string project = {};
  std::string zone = {};
  std::string id = {};
  // clang-tidy 14 mistakes the comparison with 0 for one with a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const ResourceKey&, const ResourceKey&) = default;
};

/// "projects/P/locations/Z/nodes/ID".
std::string ResourceName(const ResourceKey& key, const std::string& collection);

/// A request path of the Cloud TPU API, parsed.
struct Route {
  std::string version = {};     ///< "v2", "v2alpha1", "v1"
  ResourceKey key = {};         ///< id empty for a whole collection
  std::string collection = {};  ///< "nodes", "queuedResources", ...; "locations" for zones
  std::string verb = {};        ///< after the colon: "start", "reset"
};

/// Nothing for a path that the API does not have.
std::optional<Route> ParseRoute(const std::string& path);
/// The API method that an HTTP method on a route calls: "nodes.create", "queuedResources.list",
/// "nodes.getGuestAttributes"; empty if there cannot be one. The schema says which there are.
std::string MethodName(const std::string& http_method, const Route& route);

/// The number of a project, which the service uses when it names other resources: twelve digits
/// derived from the id. A project given by its number keeps it.
std::string ProjectNumber(const std::string& project);

}  // namespace jobman::sim

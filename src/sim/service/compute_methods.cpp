#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "jobman/base/strings.hpp"
#include "sim/cloud/catalogue.hpp"
#include "sim/service/tpu_service.hpp"

// The part of the Compute API that clients of Cloud TPU use: a project, its metadata, and what a
// region lets it have.

namespace jobman::sim {

namespace {

constexpr std::size_t kOperationsKept = 1000;
/// Of each host; that the project's quota counts it is a guess.
constexpr std::int64_t kBootDiskGb = 100;
constexpr std::string_view kProjects = "/compute/v1/projects/";

/// An error in the form of the Compute API.
Reply ComputeError(int status, const std::string& reason, const std::string& message) {
  const Json entry = {{"message", message}, {"domain", "global"}, {"reason", reason}};
  return {.status = status,
          .body = {{"error",
                    {{"code", status}, {"message", message}, {"errors", Json::array({entry})}}}}};
}

Json Quota(const char* metric, std::int64_t limit, std::int64_t usage) {
  return {{"metric", metric},
          {"limit", static_cast<double>(limit)},
          {"usage", static_cast<double>(usage)}};
}

Json Operation(const std::string& project, const std::string& name) {
  const std::string global = "https://www.googleapis.com/compute/v1/projects/" + project;
  return {{"kind", "compute#operation"},
          {"id", name.substr(name.rfind('-') + 1)},
          {"name", name},
          {"operationType", "setMetadata"},
          {"targetLink", global},
          {"selfLink", global + "/global/operations/" + name},
          {"status", "DONE"},
          {"progress", 100}};
}

/// The items of a Metadata of the Compute API; nothing if they are not as they should be.
/// Source: Compute Engine documentation, "Limitations" of custom metadata.
bool IsKey(const std::string& key) {
  constexpr std::size_t kLongest = 128;
  return !key.empty() && key.size() < kLongest &&
         std::all_of(key.begin(), key.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

std::optional<Metadata> ItemsOf(const Json& body) {
  Metadata items;
  for (const auto& [name, value] : body.items()) {
    if (name != "items" && name != "fingerprint" && name != "kind") return std::nullopt;
  }
  const Json& list = Member(body, "items");
  if (!list.is_null() && !list.is_array()) return std::nullopt;
  for (const Json& item : list) {
    for (const auto& [name, value] : item.items()) {
      if (name != "key" && name != "value") return std::nullopt;
    }
    const Json& key = Member(item, "key");
    const Json& value = Member(item, "value");
    if (!key.is_string() || !IsKey(Text(item, "key")) || (!value.is_string() && !value.is_null()))
      return std::nullopt;
    if (!items.emplace(key, Text(item, "value")).second) return std::nullopt;
  }
  return items;
}

/// A parameter that the method does not take, or one that comes twice; empty if there is none.
/// Source: Compute Engine API, "Standard query parameters"; its discovery document: of the methods
/// here, only the change of the metadata takes requestId.
std::string UnknownParameter(const Request& request) {
  static const std::set<std::string> kKnown = {
      "$.xgafv",     "access_token", "alt",       "callback", "fields",     "key",
      "oauth_token", "prettyPrint",  "quotaUser", "userIp",   "uploadType", "upload_protocol"};
  const bool changes = request.path.ends_with("/setCommonInstanceMetadata");
  if (!request.repeated.empty()) return *request.repeated.begin();
  for (const auto& [name, value] : request.query) {
    if (!kKnown.contains(name) && !(changes && name == "requestId")) return name;
  }
  return {};
}

}  // namespace

Reply TpuService::Compute(const Request& request, std::string& method) {
  std::vector<std::string> parts = base::Split(request.path.substr(kProjects.size()), '/');
  const std::string project = parts[0];
  parts.erase(parts.begin());
  const std::string what = request.method + " " + base::Join(parts, "/");
  const bool known = !project.empty();
  const std::string unknown = UnknownParameter(request);
  if (known && !unknown.empty() && !settings_.loose) {
    method = "unknown";
    return ComputeError(400, "invalidParameter",
                        "Invalid JSON payload received. Unknown name \"" + unknown +
                            "\": Cannot bind query parameter.");
  }
  if (known && what == "GET ") {
    method = "compute.projects.get";
    return {.body = ProjectBody(project)};
  }
  if (known && what == "POST setCommonInstanceMetadata") {
    method = "compute.projects.setCommonInstanceMetadata";
    return SetProjectMetadata(project, request.body);
  }
  if (known && request.method == "GET" && parts.size() == 2 && parts[0] == "regions") {
    method = "compute.regions.get";
    if (auto region = RegionBody(project, parts[1])) return {.body = *std::move(region)};
  }
  const std::string wait = "POST global/operations/";
  const bool waits = what.starts_with(wait) && parts.size() == 4 && parts[3] == "wait";
  const bool gets = what.starts_with("GET global/operations/") && parts.size() == 3;
  if (known && (waits || gets) && project_operations_.contains(project + "/" + parts[2])) {
    method = "compute.globalOperations.get";
    return {.body = Operation(project, parts[2])};
  }
  method = "unknown";
  return ComputeError(404, "notFound", "The resource '" + request.path + "' was not found");
}

Json TpuService::ProjectBody(const std::string& project) const {
  const ProjectMetadata& metadata = nodes_.MetadataOfProject(project);
  Json items = Json::array();
  for (const auto& [key, value] : metadata.items) {
    items.push_back({{"key", key}, {"value", value}});
  }
  Json common = {{"kind", "compute#metadata"},
                 {"fingerprint", fmt::format("{:012d}", metadata.changes)}};
  if (!items.empty()) common["items"] = std::move(items);
  return {{"kind", "compute#project"},
          {"id", ProjectNumber(project)},
          {"name", project},
          {"commonInstanceMetadata", std::move(common)}};
}

std::optional<Json> TpuService::RegionBody(const std::string& project,
                                           const std::string& region) const {
  const std::string prefix = region + "-";
  const auto is_in = [&prefix](const std::string& zone) { return zone.starts_with(prefix); };
  if (std::none_of(Zones().begin(), Zones().end(), is_in)) return std::nullopt;
  std::int64_t addresses = 0, ssd_hosts = 0, hyperdisk_hosts = 0;
  for (const auto& [key, node] : nodes_.all()) {
    if (key.project != project || !is_in(key.zone)) continue;
    addresses += std::count_if(node.hosts.begin(), node.hosts.end(),
                               [](const auto& host) { return !host.plan.external_ip.empty(); });
    auto& hosts = node.shape.generation == "v6e" ? hyperdisk_hosts : ssd_hosts;
    hosts += static_cast<std::int64_t>(node.hosts.size());
  }
  const Json quotas =
      Json::array({Quota("IN_USE_ADDRESSES", settings_.addresses, addresses),
                   Quota("SSD_TOTAL_GB", settings_.disk_gb, kBootDiskGb * ssd_hosts),
                   Quota("HDB_TOTAL_GB", settings_.disk_gb, kBootDiskGb * hyperdisk_hosts)});
  return Json{{"kind", "compute#region"}, {"name", region}, {"status", "UP"}, {"quotas", quotas}};
}

Reply TpuService::SetProjectMetadata(const std::string& project, const std::string& text) {
  const auto body = ParseObject(text);
  auto items = body ? ItemsOf(*body) : std::nullopt;
  if (!items) return ComputeError(400, "invalid", "Invalid value for field 'resource': metadata.");
  const std::string fingerprint = Text(*body, "fingerprint");
  const std::int64_t changes = nodes_.MetadataOfProject(project).changes;
  if (fingerprint != fmt::format("{:012d}", changes) && !(fingerprint.empty() && changes == 0)) {
    return ComputeError(412, "conditionNotMet",
                        "Supplied fingerprint does not match current metadata fingerprint.");
  }
  nodes_.SetProjectMetadata(project, std::move(*items));
  const std::string name = fmt::format("operation-{}", ++project_changes_);
  if (project_operations_.size() >= kOperationsKept) project_operations_.clear();
  project_operations_.insert(project + "/" + name);
  return {.body = Operation(project, name)};
}

}  // namespace jobman::sim

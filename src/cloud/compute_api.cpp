#include "jobman/cloud/compute_api.hpp"

#include <optional>

#include "cloud/side_service.hpp"
#include "jobman/http/url.hpp"

namespace jobman::cloud {
namespace {

constexpr SideService kCompute = {.name = "Compute Engine",
                                  .google = "https://compute.googleapis.com",
                                  .variable = "JOBMAN_COMPUTE_ENDPOINT"};
constexpr base::Duration kComputeLimit = std::chrono::seconds{15};

std::optional<double> NumberIn(const base::Json& object, const std::string& key) {
  const base::Json& value = base::GetMember(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

/// The path of a project; its id may have a domain, "example.com:lab".
std::string ProjectPath(const std::string& project) {
  return "/compute/v1/projects/" + http::PercentEncode(project);
}

}  // namespace

ComputeApi::ComputeApi(std::unique_ptr<http::Transport> transport, std::string endpoint)
    : transport_(std::move(transport)), endpoint_(std::move(endpoint)) {
  while (endpoint_.ends_with('/')) endpoint_.pop_back();
}

base::Task<Result<base::Json>> ComputeApi::Ask(std::string path, std::string fields) {
  http::Request request{.url = endpoint_ + path + "?fields=" + fields, .timeout = kComputeLimit};
  co_return co_await AskService(transport_.get(), &kCompute, std::move(request), "GET " + path);
}

base::Task<Result<std::map<std::string, std::string>>> ComputeApi::Metadata(std::string project) {
  JM_CO_ASSIGN_OR_RETURN(const base::Json body,
                         co_await Ask(ProjectPath(project), "commonInstanceMetadata"));
  const base::Json& items =
      base::GetMember(base::GetMember(body, "commonInstanceMetadata"), "items");
  std::map<std::string, std::string> metadata;
  for (std::size_t i = 0; items.is_array() && i < items.size(); ++i) {
    metadata[base::GetString(items[i], "key")] = base::GetString(items[i], "value");
  }
  co_return metadata;
}

base::Task<Result<std::vector<ports::RegionQuota>>> ComputeApi::Quotas(std::string project,
                                                                       std::string region) {
  const std::string path = ProjectPath(project) + "/regions/" + http::PercentEncode(region);
  JM_CO_ASSIGN_OR_RETURN(const base::Json body, co_await Ask(path, "quotas"));
  const base::Json& rows = base::GetMember(body, "quotas");
  std::vector<ports::RegionQuota> quotas;
  for (std::size_t i = 0; rows.is_array() && i < rows.size(); ++i) {
    const auto limit = NumberIn(rows[i], "limit");
    if (!limit) continue;  // not known, which is not 0
    quotas.push_back({.metric = base::GetString(rows[i], "metric"),
                      .limit = *limit,
                      .usage = NumberIn(rows[i], "usage").value_or(0)});
  }
  co_return quotas;
}

Result<std::unique_ptr<ports::ProjectApi>> MakeProjects(asio::any_io_executor executor,
                                                        const core::CloudSpec& spec,
                                                        const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(const std::string endpoint, EndpointOf(kCompute, spec, env));
  if (endpoint.empty()) return std::unique_ptr<ports::ProjectApi>();
  JM_ASSIGN_OR_RETURN(auto wire, TransportTo(std::move(executor), spec, endpoint, env));
  return std::make_unique<ComputeApi>(std::move(wire), endpoint);
}

}  // namespace jobman::cloud

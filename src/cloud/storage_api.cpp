#include "jobman/cloud/storage_api.hpp"

#include "cloud/side_service.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/http/url.hpp"

namespace jobman::cloud {
namespace {

/// A create waits for the answer.
constexpr base::Duration kLookLimit = std::chrono::seconds{15};

Result<core::BucketLocation> LocationIn(const base::Json& bucket) {
  core::BucketLocation location{.name = base::ToLower(base::GetString(bucket, "location"))};
  if (location.name.empty()) return NotItsAnswer(kStorage, "it has no location");
  const base::Json& placement = base::GetMember(bucket, "customPlacementConfig");
  const base::Json& regions = base::GetMember(placement, "dataLocations");
  for (std::size_t i = 0; regions.is_array() && i < regions.size(); ++i) {
    const auto* const region = regions[i].get_ptr<const std::string*>();
    if (region != nullptr) location.regions.push_back(base::ToLower(*region));
  }
  return location;
}

}  // namespace

StorageApi::StorageApi(std::unique_ptr<http::Transport> transport, std::string endpoint)
    : transport_(std::move(transport)), endpoint_(std::move(endpoint)) {
  while (endpoint_.ends_with('/')) endpoint_.pop_back();
}

base::Task<Result<core::BucketLocation>> StorageApi::Location(std::string bucket) {
  const std::string path = "/storage/v1/b/" + http::PercentEncode(bucket);
  auto location = co_await Ask(path);
  const bool refused = !location && location.error().code == base::Code::kPermissionDenied;
  if (!refused) co_return location;
  auto layout = co_await Ask(path + "/storageLayout");
  if (layout) co_return layout;
  co_return location;
}

base::Task<Result<core::BucketLocation>> StorageApi::Ask(std::string path) {
  http::Request request{.url = endpoint_ + path + "?fields=location,customPlacementConfig",
                        .timeout = kLookLimit};
  JM_CO_ASSIGN_OR_RETURN(
      const base::Json bucket,
      co_await AskService(transport_.get(), &kStorage, std::move(request), "GET " + path));
  co_return LocationIn(bucket);
}

Result<std::unique_ptr<ports::BucketApi>> MakeBuckets(asio::any_io_executor executor,
                                                      const core::CloudSpec& spec,
                                                      const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(const std::string endpoint, EndpointOf(kStorage, spec, env));
  if (endpoint.empty()) return std::unique_ptr<ports::BucketApi>();
  JM_ASSIGN_OR_RETURN(auto wire, TransportTo(std::move(executor), spec, endpoint, env));
  return std::make_unique<StorageApi>(std::move(wire), endpoint);
}

}  // namespace jobman::cloud

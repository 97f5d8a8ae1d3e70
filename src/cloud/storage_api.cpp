#include "jobman/cloud/storage_api.hpp"

#include "cloud/identity_for.hpp"
#include "jobman/auth/auth_transport.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/url.hpp"
#include "jobman/cloud/error_map.hpp"
#include "jobman/http/curl_transport.hpp"
#include "jobman/http/logging_transport.hpp"
#include "jobman/http/redacting_transport.hpp"
#include "jobman/http/url.hpp"

namespace jobman::cloud {
namespace {

constexpr const char* kGoogleStorage = "https://storage.googleapis.com";
constexpr const char* kStorageVariable = "JOBMAN_STORAGE_ENDPOINT";
/// A create waits for the answer, which it can do without.
constexpr base::Duration kLookLimit = std::chrono::seconds{15};

base::Error OfStorage(const http::Response& response) {
  base::Error error = ErrorFromResponse(response, {});
  error.hint = {};  // of the Cloud TPU API
  error.message = base::ReplaceAll(error.message, "the Cloud TPU API", "Cloud Storage");
  return error;
}

base::Error Strange(const std::string& why) {
  return {.code = base::Code::kUnavailable,
          .message = "the answer is not that of Cloud Storage: " + why};
}

Result<core::BucketLocation> LocationIn(const std::string& body) {
  const auto bucket = base::ParseJson(body);
  if (!bucket) return Strange(bucket.error().message);
  core::BucketLocation location{.name = base::ToLower(base::GetString(*bucket, "location"))};
  if (location.name.empty()) return Strange("it has no location");
  const base::Json& placement = base::GetMember(*bucket, "customPlacementConfig");
  const base::Json& regions = base::GetMember(placement, "dataLocations");
  for (std::size_t i = 0; regions.is_array() && i < regions.size(); ++i) {
    const auto* const region = regions[i].get_ptr<const std::string*>();
    if (region != nullptr) location.regions.push_back(base::ToLower(*region));
  }
  return location;
}

/// Empty: the cloud has no buckets.
Result<std::string> StorageEndpoint(const core::CloudSpec& spec, const auth::Env& env) {
  if (const auto named = env(kStorageVariable); named && !named->empty()) {
    auto url = base::ParseEndpoint(*named);
    if (!url) return std::move(url).error().With(kStorageVariable);
    if (!url->IsOpen()) return *named;
    return base::InvalidArgument(
        std::string(kStorageVariable) + ": plain http to " + url->host + " is not used",
        "use an https endpoint; http is accepted for this machine only");
  }
  const auto cloud = base::ParseUrl(spec.endpoint.empty() ? core::kDefaultEndpoint : spec.endpoint);
  const bool google = cloud && cloud->scheme == "https" && cloud->host.ends_with(".googleapis.com");
  return std::string(google ? kGoogleStorage : "");
}

Result<auth::Identity> StorageIdentity(asio::any_io_executor executor, const core::CloudSpec& spec,
                                       const std::string& endpoint, const auth::Env& env) {
  static const base::SystemClock clock;
  JM_ASSIGN_OR_RETURN(const base::Url url, base::ParseUrl(endpoint));
  if (base::IsLoopback(url.host)) return auth::Identity{.tokens = auth::MakeNoTokenSource()};
  return IdentityFor(std::move(executor), spec, endpoint, clock, {.env = env});
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
  request.headers = {{"Accept", "application/json"}};
  const auto answer = co_await transport_->Send(std::move(request));
  if (!answer) co_return base::Error(answer.error()).With("GET " + path);
  if (answer->status < 200 || answer->status >= 300) {
    co_return OfStorage(*answer).With("GET " + path);
  }
  co_return LocationIn(answer->body);
}

Result<std::unique_ptr<ports::BucketApi>> MakeBuckets(asio::any_io_executor executor,
                                                      const core::CloudSpec& spec,
                                                      const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(const std::string endpoint, StorageEndpoint(spec, env));
  if (endpoint.empty()) return std::unique_ptr<ports::BucketApi>();
  JM_ASSIGN_OR_RETURN(auto identity, StorageIdentity(executor, spec, endpoint, env));
  JM_ASSIGN_OR_RETURN(auto wire, http::MakeCurlTransport(executor));
  wire = http::MakeLoggingTransport(http::MakeRedactingTransport(std::move(wire)));
  wire = auth::MakeAuthTransport(std::move(wire), std::move(identity));
  return std::make_unique<StorageApi>(std::move(wire), endpoint);
}

}  // namespace jobman::cloud

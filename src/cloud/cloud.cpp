#include "jobman/cloud/cloud.hpp"

#include <random>

#include "cloud/identity_for.hpp"
#include "jobman/auth/auth_transport.hpp"
#include "jobman/base/url.hpp"
#include "jobman/cloud/tpu_api.hpp"
#include "jobman/http/curl_transport.hpp"
#include "jobman/http/logging_transport.hpp"
#include "jobman/http/redacting_transport.hpp"

namespace jobman::cloud {
namespace {

UnitRandom SystemRandom() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
}

/// The rate limits are Google's; a local simulator has none.
RatePolicy DefaultRate(const std::string& endpoint) {
  RatePolicy rate;
  const auto url = base::ParseUrl(endpoint);
  if (url && base::IsLoopback(url->host)) {
    rate.per_second *= 100;
    rate.burst *= 100;
  }
  return rate;
}

}  // namespace

Result<std::unique_ptr<Cloud>> MakeCloud(asio::any_io_executor executor, core::CloudSpec spec,
                                         CloudOptions options) {
  if (spec.endpoint == "local") {
    return base::Internal("the endpoint 'local' was not resolved to the simulator's address");
  }
  const std::string endpoint = spec.endpoint.empty() ? core::kDefaultEndpoint : spec.endpoint;
  JM_TRY(base::ParseEndpoint(endpoint));
  auto cloud = std::make_unique<Cloud>();
  cloud->clock_ = std::make_unique<base::SystemClock>();
  const base::Clock& clock = *cloud->clock_;
  JM_ASSIGN_OR_RETURN(auto identity, IdentityFor(executor, spec, endpoint, options));
  JM_ASSIGN_OR_RETURN(auto wire, http::MakeCurlTransport(executor));
  wire = http::MakeRedactingTransport(std::move(wire));
  // Logging is below the credentials: it shows every exchange, also one with a fresh token.
  wire = auth::MakeAuthTransport(http::MakeLoggingTransport(std::move(wire)), std::move(identity));

  auto api = std::make_unique<TpuApi>(std::move(wire), endpoint, clock);
  cloud->catalog_ = api.get();
  cloud->maintenance_ = api.get();
  const RatePolicy rate = options.rate.value_or(DefaultRate(endpoint));
  Inner slices = MakeLoggingSliceApi(std::move(api));
  slices = MakeRateLimitSliceApi(std::move(slices), rate, clock, base::Sleep);
  slices = MakeRetrySliceApi(std::move(slices), options.retry, base::Sleep, SystemRandom());
  cloud->slices_ = std::move(slices);
  return cloud;
}

}  // namespace jobman::cloud

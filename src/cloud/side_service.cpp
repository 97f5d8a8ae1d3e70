#include "cloud/side_service.hpp"

#include "cloud/error_hints.hpp"
#include "cloud/identity_for.hpp"
#include "jobman/auth/auth_transport.hpp"
#include "jobman/base/clock.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/url.hpp"
#include "jobman/cloud/error_map.hpp"
#include "jobman/http/curl_transport.hpp"
#include "jobman/http/logging_transport.hpp"
#include "jobman/http/redacting_transport.hpp"

namespace jobman::cloud {
namespace {

Result<auth::Identity> SideIdentity(asio::any_io_executor executor, const core::CloudSpec& spec,
                                    const std::string& endpoint, const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(const base::Url url, base::ParseUrl(endpoint));
  if (base::IsLoopback(url.host) && endpoint != spec.endpoint) {
    return auth::Identity{.tokens = auth::MakeNoTokenSource()};
  }
  return IdentityFor(std::move(executor), spec, endpoint, {.env = env});
}

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;

/// Whether the advice for this error is right for every service; else it is about Cloud TPU.
bool HasGeneralHint(const base::Error& error) {
  return error.code == base::Code::kUnauthenticated || error.reason == base::Reason::kRateLimit;
}

/// The first error's reason. These older APIs say 403 of what is no refusal, too. Source: Compute
/// Engine and Cloud Storage documentation, "HTTP status and error codes".
std::string ReasonIn(const std::string& body) {
  const auto json = base::ParseJson(body);
  if (!json.ok()) return {};
  const base::Json& errors = base::GetMember(base::GetMember(*json, "error"), "errors");
  if (!errors.is_array() || errors.empty()) return {};
  return base::GetString(errors.front(), "reason");
}

}  // namespace

Result<std::string> EndpointOf(const SideService& service, const core::CloudSpec& spec,
                               const auth::Env& env) {
  if (const auto named = env(service.variable); named && !named->empty()) {
    auto url = base::ParseEndpoint(*named);
    if (!url) return std::move(url).error().With(service.variable);
    if (!url->IsOpen()) return *named;
    return base::InvalidArgument(
        std::string(service.variable) + ": plain http to " + url->host + " is not used",
        "use an https endpoint; http is accepted for this machine only");
  }
  const auto cloud = base::ParseUrl(spec.endpoint.empty() ? core::kDefaultEndpoint : spec.endpoint);
  const bool google = cloud && cloud->scheme == "https" && cloud->host.ends_with(".googleapis.com");
  return std::string(google ? service.google : "");
}

Result<std::unique_ptr<http::Transport>> TransportTo(asio::any_io_executor executor,
                                                     const core::CloudSpec& spec,
                                                     const std::string& endpoint,
                                                     const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(auto identity, SideIdentity(executor, spec, endpoint, env));
  JM_ASSIGN_OR_RETURN(auto wire, http::MakeCurlTransport(executor));
  wire = http::MakeLoggingTransport(http::MakeRedactingTransport(std::move(wire)));
  return auth::MakeAuthTransport(std::move(wire), std::move(identity));
}

Result<std::string> AccountOf(asio::any_io_executor executor, const core::CloudSpec& spec,
                              const std::string& endpoint, const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(const auto identity, SideIdentity(std::move(executor), spec, endpoint, env));
  return identity.account;
}

base::Error ErrorOf(const SideService& service, const http::Response& response) {
  base::Error error = ErrorFromResponse(response, {});
  const std::string reason = ReasonIn(response.body);
  // BigQuery calls this an invalid argument; the query is right, and reads too much.
  if (reason == "bytesBilledLimitExceeded") error.code = base::Code::kOutOfRange;
  const std::string word = response.status == kForbidden ? reason : "";
  if (word == "rateLimitExceeded" || word == "userRateLimitExceeded") {
    error.code = base::Code::kResourceExhausted;
    error.reason = base::Reason::kRateLimit;
  }
  if (word == "accessNotConfigured") error.reason = base::Reason::kApiDisabled;
  if (!IsAboutCredentials(response)) {
    error.hint = HasGeneralHint(error) ? HintFor(error.code, error.reason, About::kNothingElse, {})
                                       : std::string();
  }
  error.message = base::ReplaceAll(error.message, "the Cloud TPU API", service.name);
  if (response.status == kUnauthorized) {
    NameWrongClock(response.headers, base::SystemClock().Now(), error);
  }
  return error;
}

base::Error NotItsAnswer(const SideService& service, const std::string& why) {
  return {.code = base::Code::kUnavailable,
          .message = std::string("the answer is not that of ") + service.name + ": " + why,
          .hint = std::string("see what else could answer there, a proxy (HTTPS_PROXY) or ") +
                  service.variable + "; if there is neither, try again later"};
}

base::Task<Result<base::Json>> AskService(http::Transport* transport, const SideService* service,
                                          http::Request request, std::string doing) {
  request.headers.emplace_back("Accept", "application/json");
  const auto answer = co_await transport->Send(std::move(request));
  if (!answer) co_return ErrorFromExchange(answer.error()).With(doing);
  if (answer->status < 200 || answer->status >= 300) {
    co_return ErrorOf(*service, *answer).With(doing);
  }
  auto json = base::ParseJson(answer->body);
  if (json.ok() && json->is_object()) co_return json;
  const std::string why = json.ok() ? "JSON, but not an object" : json.error().message;
  co_return NotItsAnswer(*service, why).With(doing);
}

}  // namespace jobman::cloud

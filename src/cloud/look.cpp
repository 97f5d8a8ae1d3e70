#include "jobman/cloud/look.hpp"

#include <asio/this_coro.hpp>

#include "cloud/identity_for.hpp"
#include "jobman/base/url.hpp"
#include "jobman/http/curl_transport.hpp"
#include "jobman/http/logging_transport.hpp"

namespace jobman::cloud {
namespace {

constexpr base::Duration kTimeLimit = std::chrono::seconds{15};

std::string EndpointIn(const core::CloudSpec& spec) {
  return spec.endpoint.empty() ? core::kDefaultEndpoint : spec.endpoint;
}

}  // namespace

base::Task<Result<ports::LoginSeen>> LogIn(core::CloudSpec spec, auth::Env env) {
  const auto executor = co_await asio::this_coro::executor;
  const CloudOptions options{.env = std::move(env)};
  const std::string endpoint = EndpointIn(spec);
  JM_CO_ASSIGN_OR_RETURN(const auth::Identity identity,
                         IdentityFor(executor, spec, endpoint, options));
  JM_CO_TRY(co_await identity.tokens->Get());
  co_return ports::LoginSeen{.origin = identity.origin, .account = identity.account};
}

base::Task<Result<base::TimePoint>> ServerTime(core::CloudSpec spec) {
  const auto executor = co_await asio::this_coro::executor;
  const std::string endpoint = EndpointIn(spec);
  JM_CO_TRY(base::ParseEndpoint(endpoint));
  JM_CO_ASSIGN_OR_RETURN(auto wire, http::MakeCurlTransport(executor));
  std::shared_ptr<http::Transport> transport = http::MakeLoggingTransport(std::move(wire));
  co_return co_await ServerTime(std::move(transport), endpoint);
}

base::Task<Result<base::TimePoint>> ServerTime(std::shared_ptr<http::Transport> transport,
                                               std::string endpoint) {
  while (endpoint.ends_with('/')) endpoint.pop_back();
  http::Request request{.url = endpoint + "/", .timeout = kTimeLimit};
  JM_CO_ASSIGN_OR_RETURN(const http::Response answer, co_await transport->Send(std::move(request)));
  const auto date = http::DateOf(answer.headers);
  if (date) co_return *date;
  base::Error none{.code = base::Code::kUnavailable,
                   .message = endpoint + " answers, and does not say what time it is"};
  co_return none;
}

}  // namespace jobman::cloud

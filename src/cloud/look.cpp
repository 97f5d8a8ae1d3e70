#include "jobman/cloud/look.hpp"

#include <asio/this_coro.hpp>

#include "cloud/identity_for.hpp"
#include "jobman/auth/auth_transport.hpp"
#include "jobman/base/url.hpp"
#include "jobman/cloud/oslogin_api.hpp"
#include "jobman/http/curl_transport.hpp"
#include "jobman/http/logging_transport.hpp"
#include "jobman/http/redacting_transport.hpp"

namespace jobman::cloud {
namespace {

constexpr base::Duration kTimeLimit = std::chrono::seconds{15};

std::string EndpointIn(const core::CloudSpec& spec) {
  return spec.endpoint.empty() ? core::kDefaultEndpoint : spec.endpoint;
}

/// Nobody waits long for what is only shown.
constexpr base::Duration kAccountLimit = std::chrono::seconds{3};

/// The account of a login that does not name it, as that of a user; empty if nobody says it.
base::Task<std::string> AskForAccount(auth::Identity identity, core::CloudSpec spec,
                                      auth::Env env) {
  const auto url = TokenInfoOf(spec, env);
  if (!url.ok() || url->empty()) co_return std::string();
  const auto executor = co_await asio::this_coro::executor;
  auto wire = http::MakeCurlTransport(executor);
  if (!wire.ok()) co_return std::string();
  auto safe = http::MakeLoggingTransport(http::MakeRedactingTransport(*std::move(wire)));
  const auto at = base::ParseUrl(*url);
  // Another server on this machine than that of the cloud gets no token.
  const auto cloud = base::ParseUrl(EndpointIn(spec));
  const bool same = at.ok() && cloud.ok() && at->HasOriginOf(*cloud);
  if (!at.ok() || (base::IsLoopback(at->host) && !same))
    identity.tokens = auth::MakeNoTokenSource();
  const auto transport = auth::MakeAuthTransport(std::move(safe), std::move(identity));
  auto asked = AccountOfToken(transport.get(), *url);
  std::string what = *url;
  const auto account = co_await base::WithTimeout(std::move(asked), kAccountLimit, std::move(what));
  co_return account.ok() ? *account : std::string();
}

}  // namespace

base::Task<Result<ports::LoginSeen>> LogIn(core::CloudSpec spec, auth::Env env) {
  const auto executor = co_await asio::this_coro::executor;
  const CloudOptions options{.env = env};
  const std::string endpoint = EndpointIn(spec);
  JM_CO_ASSIGN_OR_RETURN(auth::Identity identity, IdentityFor(executor, spec, endpoint, options));
  JM_CO_TRY(co_await identity.tokens->Get());
  ports::LoginSeen seen{
      .origin = identity.origin, .account = identity.account, .open_file = identity.open_file};
  if (seen.account.empty())
    seen.account = co_await AskForAccount(std::move(identity), std::move(spec), std::move(env));
  co_return seen;
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

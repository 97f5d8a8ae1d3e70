#include "jobman/cloud/oslogin_api.hpp"

#include <chrono>
#include <utility>

#include "cloud/side_service.hpp"
#include "jobman/http/url.hpp"

namespace jobman::cloud {
namespace {

constexpr SideService kOsLogin = {.name = "OS Login",
                                  .google = "https://oslogin.googleapis.com",
                                  .variable = "JOBMAN_OSLOGIN_ENDPOINT"};
/// Source: google-auth-library for Node.js, OAuth2Client.getTokenInfo(): the token is sent in the
/// header, and the answer has `email` if the token has that scope.
constexpr const char* kTokenInfo = "https://oauth2.googleapis.com/tokeninfo";
constexpr base::Duration kOsLoginLimit = std::chrono::seconds{15};

/// The account's name on Linux hosts: that of the primary one, else of the first. Source: Cloud OS
/// Login API v1, LoginProfile.posixAccounts[]: username, primary, operatingSystemType.
std::string UserIn(const base::Json& profile) {
  const base::Json& accounts = base::GetMember(profile, "posixAccounts");
  std::string user;
  for (std::size_t i = 0; accounts.is_array() && i < accounts.size(); ++i) {
    const base::Json& one = accounts[i];
    if (base::GetString(one, "operatingSystemType") == "WINDOWS") continue;
    const bool primary = base::GetBool(one, "primary");
    if (user.empty() || primary) user = base::GetString(one, "username");
    if (primary && !user.empty()) break;
  }
  return user;
}

base::Error NoAccount() {
  return {.code = base::Code::kFailedPrecondition,
          .message = "OS Login needs an account, and these credentials do not tell whose they are",
          .hint =
              "use the key of a service account (cloud.credentials_file), act as one "
              "(cloud.impersonate_service_account), or: gcloud auth application-default login"};
}

base::Error NoUser(const std::string& account) {
  return {.code = base::Code::kFailedPrecondition,
          .message = "OS Login gives " + account + " no login name",
          .hint = "look at it: gcloud compute os-login describe-profile"};
}

base::Task<Result<base::Json>> PostTo(http::Transport* transport, http::Request request) {
  request.method = "POST";
  std::string what = "POST " + request.url.substr(0, request.url.find('?'));
  return AskService(transport, &kOsLogin, std::move(request), std::move(what));
}

/// Empty for a cloud without one.
std::string TokenInfoAt(const std::string& endpoint) {
  if (endpoint.empty()) return {};
  return endpoint == kOsLogin.google ? kTokenInfo : endpoint + "/tokeninfo";
}

}  // namespace

base::Task<Result<std::string>> AccountOfToken(http::Transport* transport, std::string url) {
  http::Request request{.url = std::move(url), .timeout = kOsLoginLimit};
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  JM_CO_ASSIGN_OR_RETURN(const base::Json info, co_await PostTo(transport, std::move(request)));
  co_return base::GetString(info, "email");
}

Result<std::string> TokenInfoOf(const core::CloudSpec& spec, const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(const std::string endpoint, EndpointOf(kOsLogin, spec, env));
  return TokenInfoAt(endpoint);
}

OsLoginApi::OsLoginApi(std::unique_ptr<http::Transport> transport, Place place)
    : transport_(std::move(transport)), place_(std::move(place)) {
  while (place_.endpoint.ends_with('/')) place_.endpoint.pop_back();
}

base::Task<Result<std::string>> OsLoginApi::Account() {
  if (!place_.account.empty()) co_return place_.account;
  std::string url = place_.token_info;
  JM_CO_ASSIGN_OR_RETURN(std::string account,
                         co_await AccountOfToken(transport_.get(), std::move(url)));
  if (account.empty()) co_return NoAccount();
  co_return account;
}

base::Task<Result<ports::ImportedLogin>> OsLoginApi::ImportKey(ports::KeyToImport key) {
  ports::ImportedLogin login;
  JM_CO_ASSIGN_OR_RETURN(login.account, co_await Account());
  http::Request request{.url = place_.endpoint + "/v1/users/" + http::PercentEncode(login.account) +
                               ":importSshPublicKey?projectId=" + http::PercentEncode(key.project),
                        .timeout = kOsLoginLimit};
  const auto expires =
      std::chrono::microseconds{std::chrono::milliseconds{base::ToMillis(key.expires)}};
  const base::Json ask = {{"key", key.line},
                          {"expirationTimeUsec", std::to_string(expires.count())}};
  request.headers = {{"Content-Type", "application/json"}};
  request.body = ask.dump();
  JM_CO_ASSIGN_OR_RETURN(const base::Json reply,
                         co_await PostTo(transport_.get(), std::move(request)));
  login.user = UserIn(base::GetMember(reply, "loginProfile"));
  if (login.user.empty()) co_return NoUser(login.account);
  co_return login;
}

Result<std::unique_ptr<ports::LoginApi>> MakeLogins(asio::any_io_executor executor,
                                                    const core::CloudSpec& spec,
                                                    const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(const std::string endpoint, EndpointOf(kOsLogin, spec, env));
  if (endpoint.empty()) return std::unique_ptr<ports::LoginApi>();
  OsLoginApi::Place place{.endpoint = endpoint, .token_info = TokenInfoAt(endpoint)};
  JM_ASSIGN_OR_RETURN(place.account, AccountOf(executor, spec, endpoint, env));
  JM_ASSIGN_OR_RETURN(auto wire, TransportTo(std::move(executor), spec, endpoint, env));
  return std::make_unique<OsLoginApi>(std::move(wire), std::move(place));
}

}  // namespace jobman::cloud

#include "auth/login_sources.hpp"

#include <fmt/format.h>

#include <utility>

#include "auth/jwt.hpp"
#include "auth/no_token.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/http/url.hpp"

namespace jobman::auth {
namespace {

using base::Json;

/// The most that Google accepts.
constexpr base::Duration kLifeOfSigned = std::chrono::hours{1};
/// A clock that is a little ahead signs nothing for the future.
constexpr base::Duration kSignedBefore = std::chrono::seconds{10};
/// Of every service account's assertion, wherever it is sent.
constexpr const char* kAudience = "https://oauth2.googleapis.com/token";

std::int64_t Seconds(TimePoint time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

class UserSource final : public TokenSource {
 public:
  UserSource(UserLogin login, Exchanger exchanger, Asker asker)
      : login_(std::move(login)), exchanger_(std::move(exchanger)), asker_(std::move(asker)) {
    asker_.secrets = {login_.client_secret, login_.refresh_token, BasicOf(login_)};
  }

  Task<Result<AccessToken>> Get() override {
    http::Headers form = {{"grant_type", "refresh_token"}, {"refresh_token", login_.refresh_token}};
    if (!login_.workforce) {
      form.emplace_back("client_id", login_.client_id);
      form.emplace_back("client_secret", login_.client_secret);
    }
    http::Request request = FormRequest(login_.token_url, form);
    if (login_.workforce) {
      http::SetHeader(request.headers, "Authorization", "Basic " + BasicOf(login_));
    }
    const TimePoint sent = exchanger_.clock->Now();
    JM_CO_ASSIGN_OR_RETURN(const http::Response answer,
                           co_await Exchange(exchanger_, asker_, std::move(request)));
    co_return ParseAnswer(answer.body, sent, asker_);
  }
  void Invalidate() override {}

 private:
  static std::string BasicOf(const UserLogin& login) {
    return base::Base64(login.client_id + ":" + login.client_secret);
  }

  UserLogin login_;
  Exchanger exchanger_;
  Asker asker_;
};

/// Claims of a service account, from now on.
Json ClaimsOf(const ServiceKey& key, TimePoint now) {
  const TimePoint issued = now - kSignedBefore;
  return {{"iss", key.email}, {"iat", Seconds(issued)}, {"exp", Seconds(issued + kLifeOfSigned)}};
}

Result<std::string> Sign(const ServiceKey& key, const Json& claims, const Asker& asker) {
  Json header = {{"alg", "RS256"}, {"typ", "JWT"}};
  if (!key.key_id.empty()) header["kid"] = key.key_id;
  const auto jwt = SignJwt(header, claims, key.private_key);
  if (jwt) return *jwt;
  return NoToken(asker.origin + " cannot be used: " + jwt.error().message, asker.cure);
}

class SelfSignedSource final : public TokenSource {
 public:
  SelfSignedSource(ServiceKey key, Exchanger exchanger, Asker asker)
      : key_(std::move(key)), exchanger_(std::move(exchanger)), asker_(std::move(asker)) {}

  Task<Result<AccessToken>> Get() override {
    const TimePoint now = exchanger_.clock->Now();
    Json claims = ClaimsOf(key_, now);
    claims["sub"] = key_.email;
    claims["scope"] = kCloudScope;
    JM_CO_ASSIGN_OR_RETURN(std::string jwt, Sign(key_, claims, asker_));
    co_return AccessToken{.value = std::move(jwt), .expires = now - kSignedBefore + kLifeOfSigned};
  }
  void Invalidate() override {}

 private:
  ServiceKey key_;
  Exchanger exchanger_;
  Asker asker_;
};

class ServiceKeySource final : public TokenSource {
 public:
  ServiceKeySource(ServiceKey key, std::string scope, Exchanger exchanger, Asker asker)
      : key_(std::move(key)),
        scope_(std::move(scope)),
        exchanger_(std::move(exchanger)),
        asker_(std::move(asker)) {}

  Task<Result<AccessToken>> Get() override {
    const TimePoint now = exchanger_.clock->Now();
    Json claims = ClaimsOf(key_, now);
    claims["aud"] = kAudience;
    claims["scope"] = scope_;
    JM_CO_ASSIGN_OR_RETURN(const std::string jwt, Sign(key_, claims, asker_));
    const http::Headers form = {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                                {"assertion", jwt}};
    http::Request request = FormRequest(key_.token_url, form);
    Asker asker = asker_;
    asker.secrets.push_back(jwt);
    JM_CO_ASSIGN_OR_RETURN(const http::Response answer,
                           co_await Exchange(exchanger_, std::move(asker), std::move(request)));
    co_return ParseAnswer(answer.body, now, asker_);
  }
  void Invalidate() override {}

 private:
  ServiceKey key_;
  std::string scope_;
  Exchanger exchanger_;
  Asker asker_;
};

class ImpersonatingSource final : public TokenSource {
 public:
  ImpersonatingSource(Impersonation one, std::shared_ptr<TokenSource> inner, Exchanger exchanger,
                      Asker asker)
      : one_(std::move(one)),
        inner_(std::move(inner)),
        exchanger_(std::move(exchanger)),
        asker_(std::move(asker)) {}

  Task<Result<AccessToken>> Get() override {
    JM_CO_ASSIGN_OR_RETURN(const AccessToken own, co_await inner_->Get());
    if (own.value.empty()) {
      co_return NoToken(asker_.origin + ": there are no credentials to act with", asker_.cure);
    }
    Json delegates = Json::array();
    for (const std::string& account : one_.delegates)
      delegates.push_back("projects/-/serviceAccounts/" + Plain(account));
    const Json body = {{"delegates", delegates},
                       {"scope", Json::array({kCloudScope})},
                       {"lifetime", fmt::format("{}s", one_.lifetime.count())}};
    http::Request request{.method = "POST", .url = one_.url, .body = body.dump()};
    request.headers = {{"Content-Type", "application/json"},
                       {"Authorization", "Bearer " + own.value}};
    Asker asker = asker_;
    asker.secrets.push_back(own.value);
    JM_CO_ASSIGN_OR_RETURN(const http::Response answer,
                           co_await Exchange(exchanger_, std::move(asker), std::move(request)));
    co_return Parse(answer.body);
  }
  void Invalidate() override { inner_->Invalidate(); }

 private:
  /// Files name a delegate by its address, or as the API does.
  static std::string Plain(const std::string& account) {
    return account.substr(account.rfind('/') + 1);
  }
  Result<AccessToken> Parse(const std::string& answer) const {
    const auto json = base::ParseJson(answer).value_or(Json());
    const auto expires = base::ParseRfc3339(base::GetString(json, "expireTime"));
    if (!expires) {
      return NoToken(asker_.origin + ": the answer to acting as " + one_.Account() +
                         " has no accessToken with an expireTime",
                     asker_.cure);
    }
    const Json plain = {{"access_token", base::GetString(json, "accessToken")}};
    JM_ASSIGN_OR_RETURN(AccessToken token, ParseToken(plain.dump(), {}, asker_.origin));
    token.expires = *expires;
    return token;
  }

  Impersonation one_;
  std::shared_ptr<TokenSource> inner_;
  Exchanger exchanger_;
  Asker asker_;
};

class MachineSource final : public TokenSource {
 public:
  MachineSource(MachineAccount machine, Exchanger exchanger, Asker asker)
      : machine_(std::move(machine)), exchanger_(std::move(exchanger)), asker_(std::move(asker)) {}

  Task<Result<AccessToken>> Get() override {
    http::Request request{
        .url = "http://" + machine_.host +
               "/computeMetadata/v1/instance/service-accounts/default/token?scopes=" +
               http::PercentEncode(kCloudScope)};
    request.headers = {{"Metadata-Flavor", "Google"}};
    request.direct = true;  // the token is for this machine, not for a proxy
    const TimePoint sent = exchanger_.clock->Now();
    JM_CO_ASSIGN_OR_RETURN(const http::Response answer,
                           co_await Exchange(exchanger_, asker_, std::move(request)));
    if (http::FindHeader(answer.headers, "Metadata-Flavor") != "Google") {
      co_return NoToken(asker_.origin + ": " + machine_.host + " is no metadata server of Google",
                        asker_.cure);
    }
    co_return ParseAnswer(answer.body, sent, asker_);
  }
  void Invalidate() override {}

 private:
  MachineAccount machine_;
  Exchanger exchanger_;
  Asker asker_;
};

}  // namespace

std::unique_ptr<TokenSource> MakeUserSource(UserLogin login, Exchanger exchanger, Asker asker) {
  return std::make_unique<UserSource>(std::move(login), std::move(exchanger), std::move(asker));
}

std::unique_ptr<TokenSource> MakeSelfSignedSource(ServiceKey key, Exchanger exchanger,
                                                  Asker asker) {
  return std::make_unique<SelfSignedSource>(std::move(key), std::move(exchanger), std::move(asker));
}

std::unique_ptr<TokenSource> MakeServiceKeySource(ServiceKey key, std::string scope,
                                                  Exchanger exchanger, Asker asker) {
  return std::make_unique<ServiceKeySource>(std::move(key), std::move(scope), std::move(exchanger),
                                            std::move(asker));
}

std::unique_ptr<TokenSource> MakeMachineSource(MachineAccount machine, Exchanger exchanger,
                                               Asker asker) {
  return std::make_unique<MachineSource>(std::move(machine), std::move(exchanger),
                                         std::move(asker));
}

std::unique_ptr<TokenSource> MakeImpersonatingSource(Impersonation one,
                                                     std::shared_ptr<TokenSource> inner,
                                                     Exchanger exchanger, Asker asker) {
  return std::make_unique<ImpersonatingSource>(std::move(one), std::move(inner),
                                               std::move(exchanger), std::move(asker));
}

}  // namespace jobman::auth

#include "auth/credential_source.hpp"

#include <utility>

#include "auth/login_sources.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::auth {
namespace {

constexpr const char* kLogIn = "log in again: gcloud auth application-default login";
constexpr std::size_t kLongestAudience = 120;

/// Makes the source of each kind of login. Who acts as another account needs only the scope for
/// that, and Google's IAM API takes no token that is signed here.
class LoginSource {
 public:
  LoginSource(const Credentials& found, const Env& env, const Exchanger& exchanger)
      : found_(found),
        env_(env),
        exchanger_(exchanger),
        acts_(found.acts || !found.impersonations.empty()) {}

  std::unique_ptr<TokenSource> operator()(const UserLogin& user) const {
    const std::string& otherwise = found_.otherwise;
    return MakeUserSource(user, exchanger_,
                          Asks("u", otherwise.empty() ? kLogIn : kLogIn + ("; " + otherwise)));
  }
  std::unique_ptr<TokenSource> operator()(const ServiceKey& key) const {
    Asker asker = Asks("sa", "check that " + key.email +
                                 " has this key: gcloud iam service-accounts keys list "
                                 "--iam-account " +
                                 key.email);
    if (!acts_) return MakeSelfSignedSource(key, exchanger_, std::move(asker));
    return MakeServiceKeySource(key, Scope(), exchanger_, std::move(asker));
  }
  std::unique_ptr<TokenSource> operator()(const Federation& federation) const {
    const auto& accounts = found_.impersonations;
    const std::string acts_as = accounts.empty() ? std::string() : accounts.front().Account();
    const std::string pool = base::Shorten(federation.audience, kLongestAudience);
    return MakeFederatedSource(federation, Scope(), acts_as, env_, exchanger_,
                               Asks("u", "check the pool and its provider: " + pool));
  }
  std::unique_ptr<TokenSource> operator()(const MachineAccount& machine) const {
    return MakeMachineSource(
        machine, exchanger_,
        Asks("mds", "check that the machine has a service account with the scope cloud-platform"));
  }

 private:
  Asker Asks(const char* kind, std::string cure) const {
    return {.origin = found_.origin, .kind = kind, .cure = std::move(cure)};
  }
  const char* Scope() const { return acts_ ? kIamScope : kCloudScope; }

  const Credentials& found_;
  const Env& env_;
  const Exchanger& exchanger_;
  bool acts_;
};

class CredentialFileSource final : public TokenSource {
 public:
  CredentialFileSource(std::function<Result<Credentials>()> read, Env env, Exchanger exchanger)
      : read_(std::move(read)), env_(std::move(env)), exchanger_(std::move(exchanger)) {}

  Task<Result<AccessToken>> Get() override {
    JM_CO_ASSIGN_OR_RETURN(const Credentials found, read_());
    const auto source = MakeCredentialSource(found, env_, exchanger_);
    co_return co_await source->Get();
  }
  void Invalidate() override {}

 private:
  std::function<Result<Credentials>()> read_;
  Env env_;
  Exchanger exchanger_;
};

}  // namespace

std::unique_ptr<TokenSource> MakeCredentialFileSource(std::function<Result<Credentials>()> read,
                                                      Env env, Exchanger exchanger) {
  return std::make_unique<CredentialFileSource>(std::move(read), std::move(env),
                                                std::move(exchanger));
}

Asker ActingAs(const std::string& origin, const Impersonation& one) {
  const std::string account = one.Account();
  return {.origin = origin + ", acting as " + account,
          .kind = "imp",
          .cure = "whoever acts needs roles/iam.serviceAccountTokenCreator on " + account +
                  ", and the IAM Service Account Credentials API has to be enabled"};
}

std::unique_ptr<TokenSource> MakeCredentialSource(const Credentials& found, const Env& env,
                                                  const Exchanger& exchanger) {
  auto source = std::visit(LoginSource(found, env, exchanger), found.login);
  for (const Impersonation& one : found.impersonations) {
    source =
        MakeImpersonatingSource(one, std::move(source), exchanger, ActingAs(found.origin, one));
  }
  return source;
}

}  // namespace jobman::auth

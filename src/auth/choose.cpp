#include "auth/no_token.hpp"
#include "jobman/auth/token_source.hpp"
#include "jobman/base/url.hpp"

namespace jobman::auth {
namespace {

constexpr const char* kTokenVariable = "GOOGLE_OAUTH_ACCESS_TOKEN";

base::Error NoCredentials(const std::string& endpoint) {
  return NoToken("no credentials for " + endpoint,
                 "set cloud.token_command: 'gcloud auth print-access-token', or cloud.token_file "
                 "to a file with an access token, or the environment variable " +
                     std::string(kTokenVariable) +
                     "; Application Default Credentials are not supported yet");
}

}  // namespace

Result<std::unique_ptr<TokenSource>> ChooseTokenSource(const TokenSettings& settings,
                                                       const base::Clock& clock, const Env& env) {
  JM_ASSIGN_OR_RETURN(const base::Url url, base::ParseUrl(settings.endpoint));
  if (const auto token = env(kTokenVariable)) return MakeFixedTokenSource(*token, kTokenVariable);
  if (!settings.token_file.empty()) return MakeFileTokenSource(settings.token_file, clock);
  if (!settings.token_command.empty()) {
    return MakeCachedTokenSource(MakeCommandTokenSource(settings.token_command, clock), clock);
  }
  if (url.scheme == "http" && base::IsLoopback(url.host)) return MakeNoTokenSource();
  return NoCredentials(settings.endpoint);
}

}  // namespace jobman::auth

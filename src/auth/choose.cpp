#include <unistd.h>

#include <algorithm>

#include "auth/no_token.hpp"
#include "jobman/auth/token_source.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/url.hpp"

namespace jobman::auth {
namespace {

constexpr const char* kTokenVariable = "GOOGLE_OAUTH_ACCESS_TOKEN";
constexpr const char* kGcloudCommand = "gcloud auth print-access-token";

/// The token of gcloud's login is for Google's own servers.
bool IsGoogle(const base::Url& url) {
  return url.scheme == "https" && url.host.ends_with(".googleapis.com");
}

bool HasGcloud(const Env& env) {
  const auto folders = base::Split(env("PATH").value_or(""), ':');
  return std::any_of(folders.begin(), folders.end(), [](const std::string& folder) {
    return !folder.empty() && ::access((folder + "/gcloud").c_str(), X_OK) == 0;
  });
}

base::Error NoCredentials(const std::string& endpoint) {
  return NoToken(
      "no credentials for " + endpoint,
      "install gcloud and log in with gcloud auth login, whose token is used for Google's "
      "own endpoints; or set cloud.token_command, cloud.token_file to a file with an "
      "access token, or the environment variable " +
          std::string(kTokenVariable) + "; Application Default Credentials are not supported yet");
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
  if (IsGoogle(url) && HasGcloud(env)) {
    return MakeCachedTokenSource(MakeCommandTokenSource(kGcloudCommand, clock), clock);
  }
  return NoCredentials(settings.endpoint);
}

}  // namespace jobman::auth

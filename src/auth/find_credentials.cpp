#include "auth/find_credentials.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "auth/no_token.hpp"
#include "jobman/auth/identity.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/trusted.hpp"
#include "jobman/base/url.hpp"

namespace jobman::auth {
namespace {

using base::Path;

constexpr const char* kIamEndpoint = "https://iamcredentials.googleapis.com";

/// Letters, digits and hyphens; "example.com:lab" is of a domain.
bool IsProjectId(const std::string& text) {
  return !text.empty() && text.size() <= 100 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '.' || c == ':';
         });
}

/// The address of an IPv6 server may come without its brackets: "fd20:ce::254".
std::string InUrl(const std::string& host) {
  const bool bare = std::count(host.begin(), host.end(), ':') > 1 && !host.starts_with('[');
  return bare ? "[" + host + "]" : host;
}

}  // namespace

Result<Credentials> ReadCredentialsFile(const std::string& name, const std::string& where) {
  const Path path = base::ExpandHome(name);
  const std::string origin = "the credentials in " + path.string();
  const std::string check = "check " + where;
  const auto trusted = base::CheckTrusted(path, {origin, check});
  if (!trusted) return NoToken(trusted.error().message, trusted.error().hint);
  const auto text = base::ReadRegularFile(path);
  if (!text) return NoToken(origin + " cannot be read: " + text.error().message, check);
  JM_ASSIGN_OR_RETURN(Credentials found, ParseCredentials(*text, origin));
  found.version = base::Sha256Hex(*text);
  return found;
}

std::optional<Path> WellKnownFile(const Env& env) {
  const auto config = env("CLOUDSDK_CONFIG");
  const auto home = env("HOME");
  const Path folder =
      config ? Path(*config) : (home ? Path(*home) : base::HomeDir()) / ".config" / "gcloud";
  const Path file = folder / "application_default_credentials.json";
  if (::access(file.c_str(), F_OK) != 0) return std::nullopt;
  return file;
}

Result<Impersonation> ImpersonationOf(const std::string& text,
                                      const std::optional<std::string>& endpoint) {
  std::vector<std::string> accounts = base::Split(text, ',');
  for (std::string& account : accounts) {
    account = base::Trim(account);
    const bool plain =
        !account.empty() && account.find('@') != std::string::npos &&
        std::all_of(account.begin(), account.end(), [](unsigned char c) {
          return std::isalnum(c) != 0 || c == '@' || c == '.' || c == '-' || c == '_' || c == ':';
        });
    if (!plain) {
      return base::InvalidArgument(
          "\"" + base::Shorten(text, 80) + "\" names no service account to act as",
          "give its address: NAME@PROJECT.iam.gserviceaccount.com");
    }
  }
  Impersonation one;
  one.url = endpoint.value_or(kIamEndpoint) + "/v1/projects/-/serviceAccounts/" + accounts.back() +
            ":generateAccessToken";
  const auto url = base::ParseUrl(one.url);
  if (!url || url->IsOpen()) return base::InvalidArgument("JOBMAN_IAM_ENDPOINT is no https URL");
  accounts.pop_back();
  one.delegates = std::move(accounts);
  return one;
}

Task<std::optional<std::string>> ProjectOfMachine(Machine machine) {
  const std::string host = MetadataHost(machine);
  if (host.empty()) co_return std::nullopt;
  const auto transport = machine.open_transport();
  if (!transport) co_return std::nullopt;
  http::Request request{.url = "http://" + host + "/computeMetadata/v1/project/project-id",
                        .headers = {{"Metadata-Flavor", "Google"}},
                        .timeout = std::chrono::seconds{2},
                        .direct = true};
  const auto answer = co_await (*transport)->Send(std::move(request));
  if (!answer || answer->status != 200) co_return std::nullopt;
  if (http::FindHeader(answer->headers, "Metadata-Flavor") != "Google") co_return std::nullopt;
  std::string project(base::Trim(answer->body));
  if (!IsProjectId(project)) co_return std::nullopt;
  co_return project;
}

std::string MetadataHost(const Machine& machine) {
  if (machine.env("NO_GCE_CHECK") == "true") return {};
  for (const char* const name : {"GCE_METADATA_HOST", "GCE_METADATA_ROOT"}) {
    if (const auto host = machine.env(name)) return InUrl(*host);
  }
  const auto product = base::ReadFile(machine.product_name);
  const bool google = product && product->starts_with("Google");
  return google ? "metadata.google.internal" : "";
}

}  // namespace jobman::auth

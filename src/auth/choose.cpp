#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>

#include "auth/credential_source.hpp"
#include "auth/find_credentials.hpp"
#include "auth/login_sources.hpp"
#include "auth/no_token.hpp"
#include "jobman/auth/identity.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/trusted.hpp"
#include "jobman/base/url.hpp"

namespace jobman::auth {
namespace {

constexpr const char* kTokenVariable = "GOOGLE_OAUTH_ACCESS_TOKEN";
constexpr const char* kFileVariable = "GOOGLE_APPLICATION_CREDENTIALS";
constexpr const char* kGcloudCommand = "gcloud auth print-access-token";

/// Logins of this machine are for Google's own servers.
bool IsGoogle(const base::Url& url) {
  return url.scheme == "https" && url.host.ends_with(".googleapis.com");
}

bool HasGcloud(const Env& env) {
  const auto folders = base::Split(env("PATH").value_or(""), ':');
  return std::any_of(folders.begin(), folders.end(), [](const std::string& folder) {
    const std::string program = folder + "/gcloud";
    std::error_code ignored;
    return !folder.empty() && std::filesystem::is_regular_file(program, ignored) &&
           ::access(program.c_str(), X_OK) == 0;
  });
}

base::Error NoCredentials(const std::string& endpoint) {
  return NoToken("no credentials for " + endpoint,
                 "log in with gcloud auth application-default login (or gcloud auth login), whose "
                 "token is used for Google's own endpoints; or set cloud.credentials_file to the "
                 "key of a service account, cloud.token_command, cloud.token_file, or the "
                 "environment variable " +
                     std::string(kTokenVariable));
}

/// The file if all users may read it. The log says so once: credentials are chosen for each
/// service.
std::string OpenFile(const std::string& name) {
  const base::Path path = base::ExpandHome(name);
  if (!base::IsOpenToOthers(path)) return {};
  static std::mutex guard;
  static std::set<std::string> told;
  const std::lock_guard lock(guard);
  if (told.insert(path.string()).second) {
    base::Log(base::LogLevel::kWarn, "auth", "others may read {}; chmod 600 {}", path.string(),
              base::ShellQuote(path.string()));
  }
  return path.string();
}

class Chooser {
 public:
  Chooser(const TokenSettings& settings, Machine machine)
      : settings_(settings), machine_(std::move(machine)) {}

  Result<Identity> Choose() {
    JM_ASSIGN_OR_RETURN(const base::Url url, base::ParseUrl(settings_.endpoint));
    const std::string account = Impersonated(url);
    acts_ = !account.empty();
    JM_ASSIGN_OR_RETURN(Identity identity, Login(url));
    if (const auto project = machine_.env("GOOGLE_CLOUD_QUOTA_PROJECT")) {
      identity.quota_project = *project;
    }
    if (account.empty()) return identity;
    return ActAs(std::move(identity), account);
  }

 private:
  using Make = std::function<Result<std::unique_ptr<TokenSource>>()>;

  const Env& env() const { return machine_.env; }

  /// Whether nothing names credentials, for a server that needs none.
  bool NeedsNone(const base::Url& url) const {
    return url.scheme == "http" && base::IsLoopback(url.host) && !env()(kTokenVariable) &&
           settings_.token_file.empty() && settings_.token_command.empty() &&
           settings_.credentials_file.empty();
  }

  Result<Identity> Login(const base::Url& url) {
    if (NeedsNone(url)) return Identity{.tokens = MakeNoTokenSource(), .origin = "no credentials"};
    base::ForbidCoreDumps();
    if (const auto token = env()(kTokenVariable)) {
      version_ = base::Sha256Hex(*token);
      return Identity{.tokens = MakeFixedTokenSource(*token, kTokenVariable),
                      .origin = kTokenVariable};
    }
    if (!settings_.token_file.empty()) {
      return Identity{.tokens = MakeFileTokenSource(settings_.token_file, *machine_.clock),
                      .origin = "the token file " + settings_.token_file,
                      .open_file = OpenFile(settings_.token_file)};
    }
    if (!settings_.token_command.empty()) return ByCommand(settings_.token_command);
    if (!settings_.credentials_file.empty()) {
      return ByFile(settings_.credentials_file, "cloud.credentials_file");
    }
    if (IsGoogle(url)) return Default();
    return NoCredentials(settings_.endpoint);
  }

  Result<Identity> Default() {
    if (const auto file = env()(kFileVariable)) return ByFile(*file, kFileVariable);
    if (const auto file = WellKnownFile(env())) {
      return ByFile(file->string(), file->string(), Without(file->string()));
    }
    if (HasGcloud(env())) return ByCommand(kGcloudCommand);
    const std::string host = MetadataHost(machine_);
    if (host.empty()) return NoCredentials(settings_.endpoint);
    return ByMachine(host);
  }

  /// The cached source of that name; of those who share the machine's caches, only the first makes
  /// it.
  Result<std::shared_ptr<TokenSource>> Shared(const std::string& name, const Make& make) const {
    TokenCaches* const caches = machine_.caches;
    auto found = caches == nullptr ? nullptr : caches->Find(name, version_);
    if (found != nullptr) return found;
    JM_ASSIGN_OR_RETURN(auto source, make());
    found = MakeCachedTokenSource(std::move(source), *machine_.clock);
    if (caches != nullptr) caches->Keep(name, version_, found);
    return found;
  }

  Result<Identity> ByCommand(const std::string& command) const {
    Identity identity{.origin = "the token command '" + command + "'"};
    const Make make = [this, &command]() -> Result<std::unique_ptr<TokenSource>> {
      return MakeCommandTokenSource(command, *machine_.clock);
    };
    JM_ASSIGN_OR_RETURN(identity.tokens, Shared(identity.origin, make));
    return identity;
  }

  /// What would be taken if the file that was once written by a login were not there.
  std::string Without(const std::string& file) const {
    const bool gcloud = HasGcloud(env());
    if (!gcloud && MetadataHost(machine_).empty()) return {};
    return "or delete " + file + ": then " +
           (gcloud ? "gcloud's own login (gcloud auth login)" : "this machine's service account") +
           " is used";
  }

  Result<Identity> ByFile(const std::string& name, const std::string& where,
                          const std::string& otherwise = {}) {
    const auto read = [name, where, otherwise, acts = acts_]() -> Result<Credentials> {
      auto found = ReadCredentialsFile(name, where);
      if (found) {
        found->acts = acts;
        found->otherwise = otherwise;
      } else if (!otherwise.empty()) {
        base::Error error = found.error();
        error.hint += "; " + otherwise;
        return error;
      }
      return found;
    };
    JM_ASSIGN_OR_RETURN(const Credentials found, read());
    version_ = found.version;
    const Make make = [this, &read]() -> Result<std::unique_ptr<TokenSource>> {
      JM_ASSIGN_OR_RETURN(Exchanger exchanger, Exchange());
      return MakeCredentialFileSource(read, env(), std::move(exchanger));
    };
    JM_ASSIGN_OR_RETURN(Identity identity, IdentityOf(found, found.origin + " of " + where, make));
    identity.open_file = OpenFile(name);
    return identity;
  }

  Result<Identity> ByMachine(const std::string& host) const {
    const Credentials found{.login = MachineAccount{.host = host},
                            .origin = "the service account of this machine"};
    const Make make = [this, &found]() -> Result<std::unique_ptr<TokenSource>> {
      JM_ASSIGN_OR_RETURN(const Exchanger exchanger, Exchange());
      return MakeCredentialSource(found, env(), exchanger);
    };
    return IdentityOf(found, found.origin + " of " + host, make);
  }

  /// Tokens to act with have another scope.
  Result<Identity> IdentityOf(const Credentials& found, const std::string& name,
                              const Make& make) const {
    Identity identity{
        .origin = found.origin, .account = found.Account(), .quota_project = found.quota_project};
    JM_ASSIGN_OR_RETURN(identity.tokens, Shared(name + (acts_ ? ", to act" : ""), make));
    return identity;
  }

  Result<Exchanger> Exchange() const {
    JM_ASSIGN_OR_RETURN(std::shared_ptr<http::Transport> transport, machine_.open_transport());
    return Exchanger{
        .transport = std::move(transport), .clock = machine_.clock, .sleep = machine_.sleep};
  }

  /// gcloud's variable is for Google's own servers, as its login is.
  std::string Impersonated(const base::Url& url) const {
    if (!settings_.impersonate.empty()) return settings_.impersonate;
    if (!IsGoogle(url)) return {};
    return env()("CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT").value_or("");
  }

  Result<Identity> ActAs(Identity identity, const std::string& accounts) const {
    JM_ASSIGN_OR_RETURN(const Impersonation one,
                        ImpersonationOf(accounts, env()("JOBMAN_IAM_ENDPOINT")));
    const Asker asker = ActingAs(identity.origin, one);
    const Make make = [this, &identity, &one, &asker]() -> Result<std::unique_ptr<TokenSource>> {
      JM_ASSIGN_OR_RETURN(Exchanger exchanger, Exchange());
      return MakeImpersonatingSource(one, identity.tokens, std::move(exchanger), asker);
    };
    JM_ASSIGN_OR_RETURN(auto tokens,
                        Shared(asker.origin + " by " + accounts + " at " + one.url, make));
    identity.tokens = std::move(tokens);
    identity.origin = asker.origin;
    identity.account = one.Account();
    return identity;
  }

  const TokenSettings& settings_;
  Machine machine_;
  bool acts_ = false;         ///< the login is for acting as another account
  std::string version_ = {};  ///< hash of what the login is made of, if that can change
};

}  // namespace

Result<Identity> ChooseIdentity(const TokenSettings& settings, Machine machine) {
  return Chooser(settings, std::move(machine)).Choose();
}

}  // namespace jobman::auth

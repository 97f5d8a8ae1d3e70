#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "jobman/auth/token_caches.hpp"
#include "jobman/auth/token_source.hpp"
#include "jobman/base/files.hpp"
#include "jobman/http/transport.hpp"

namespace jobman::auth {

/// What the user configured.
struct TokenSettings {
  std::string endpoint = {};          ///< base URL of the API
  std::string token_file = {};        ///< may start with ~
  std::string token_command = {};     ///< run by /bin/sh -c
  std::string credentials_file = {};  ///< JSON of Google's tools; may start with ~
  /// Service account to act as: its address, after those of delegates, "a@p,b@p".
  std::string impersonate = {};
};

/// What a transport for tokens needs to accept: their answers are a few kilobytes.
inline constexpr std::size_t kLongestAnswer = std::size_t{1} << 20U;

/// The machine, as far as credentials need it.
struct Machine {
  const base::Clock* clock = nullptr;
  Env env = base::GetEnv;
  std::function<Result<std::unique_ptr<http::Transport>>()> open_transport = {};
  std::function<Task<void>(base::Duration)> sleep = base::Sleep;
  base::Path product_name = "/sys/class/dmi/id/product_name";  ///< "Google ...": one of Google's
  TokenCaches* caches = nullptr;  ///< of all who act here; null: each has its own
};

/// On whose behalf requests are sent.
struct Identity {
  std::shared_ptr<TokenSource> tokens = {};  ///< of all who act with the same credentials
  std::string origin = {};                   ///< "the credentials in FILE", for people
  std::string account = {};                  ///< e-mail address; empty if only the server knows it
  std::string open_file = {};      ///< holds the secret, and all users may read it; else empty
  std::string quota_project = {};  ///< whose quota and API pay; empty: that of the request's path
};

/// The first of: GOOGLE_OAUTH_ACCESS_TOKEN, the token file, the token command, the credentials
/// file. Without any: no token for a loopback http endpoint; for https endpoints of Google, the
/// Application Default Credentials (GOOGLE_APPLICATION_CREDENTIALS, then the file that gcloud auth
/// application-default login writes), gcloud's login if gcloud is on PATH, and the service account
/// of a machine of Google's; for others kUnauthenticated, which names the options. A file that is
/// named and cannot be used is an error, not a reason to take the next. With any credentials, the
/// process cannot be dumped from then on. See docs/adr/0025-credentials.md.
Result<Identity> ChooseIdentity(const TokenSettings& settings, Machine machine);

/// Whether the machine has a metadata server of Google's: GCE_METADATA_HOST names one, or it is one
/// of Google's machines. Nothing is asked over the network. Empty with NO_GCE_CHECK=true, or if
/// not.
std::string MetadataHost(const Machine& machine);

/// The project of such a machine, which its metadata server knows (project/project-id); nothing
/// elsewhere, or if the server does not answer within 2 s.
Task<std::optional<std::string>> ProjectOfMachine(Machine machine);

}  // namespace jobman::auth

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"

// Credentials as Google's tools keep them: JSON files with a field "type" (authorized_user,
// service_account, external_account, ...). Their fields are those of google-auth, and of AIP-4110
// to AIP-4117 on google.aip.dev. Everything here is secret: none of it goes into a text for people.

namespace jobman::auth {

/// The login of a person, or with `workforce` of a person whom another identity provider knows.
struct UserLogin {
  std::string client_id = {};
  std::string client_secret = {};
  std::string refresh_token = {};
  std::string token_url = {};
  bool workforce = false;
};

/// The key of a service account.
struct ServiceKey {
  std::string email = {};
  std::string private_key = {};  ///< PKCS#8 in PEM
  std::string key_id = {};
  std::string token_url = {};
};

/// Where a workload has the token of another identity provider.
struct SubjectSource {
  enum class Kind { kFile, kUrl, kExecutable };
  Kind kind = Kind::kFile;
  std::string place = {};                             ///< path, URL or command
  std::map<std::string, std::string> headers = {};    ///< of a URL
  std::string field = {};                             ///< of a JSON answer; empty: it is text
  base::Duration timeout = std::chrono::seconds{30};  ///< of a command
  std::string output_file = {};                       ///< where a command may leave its answer
};

/// A workload that another identity provider knows: its token is exchanged for one of Google's.
struct Federation {
  std::string audience = {};
  std::string subject_type = {};
  std::string token_url = {};
  std::string client_id = {};      ///< may be empty
  std::string client_secret = {};  ///< may be empty
  /// Of a workforce pool: the project whose quota pays for the exchange; may be empty.
  std::string user_project = {};
  SubjectSource subject = {};
};

/// The service account of the machine, by its metadata server.
struct MachineAccount {
  std::string host = {};  ///< "metadata.google.internal"
};

/// Acting as a service account.
struct Impersonation {
  std::string url = {};  ///< ends in "/serviceAccounts/EMAIL:generateAccessToken"
  std::vector<std::string> delegates = {};
  std::chrono::seconds lifetime = std::chrono::hours{1};  ///< of its tokens
  /// EMAIL.
  std::string Account() const;
};

struct Credentials {
  std::variant<UserLogin, ServiceKey, Federation, MachineAccount> login = UserLogin{};
  std::vector<Impersonation> impersonations = {};  ///< the first acts with the login, and so on
  bool acts = false;               ///< its tokens act as yet another account, which no file names
  std::string quota_project = {};  ///< whose quota pays; empty: not said
  std::string origin = {};         ///< "the credentials in FILE", for people
  std::string version = {};        ///< hash of the file; empty without one
  /// Another way if the login is refused: "or delete FILE: ..."; empty if there is none.
  std::string otherwise = {};
  /// The e-mail address of the account, as far as the file says it.
  std::string Account() const;
};

/// kUnauthenticated, which never quotes the text: not JSON, a type or a source that jobman does not
/// know, a field that is missing. `origin` names it: "the credentials in FILE".
base::Result<Credentials> ParseCredentials(std::string_view text, const std::string& origin);

}  // namespace jobman::auth

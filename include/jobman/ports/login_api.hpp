#pragma once

#include <string>

#include "jobman/base/task.hpp"
#include "jobman/base/time.hpp"

namespace jobman::ports {

using base::Result;
using base::Task;

/// A public key that is to let its owner log in where OS Login decides.
struct KeyToImport {
  std::string project = {};      ///< whose hosts
  std::string line = {};         ///< "ssh-ed25519 AAAA... comment"
  base::TimePoint expires = {};  ///< when the service forgets it
};
/// As whom.
struct ImportedLogin {
  std::string account = {};  ///< e-mail address
  std::string user = {};     ///< the login name on hosts
};

/// The login profile of the account whose credentials are used. The object must outlive its
/// coroutines.
class LoginApi {
 public:
  virtual ~LoginApi() = default;
  /// Adds the key to the profile; one that is there gets the new time. kFailedPrecondition if the
  /// account is not known, or has no login name; kPermissionDenied as the service says it.
  virtual Task<Result<ImportedLogin>> ImportKey(KeyToImport key) = 0;
};

}  // namespace jobman::ports

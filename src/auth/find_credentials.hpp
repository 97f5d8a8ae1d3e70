#pragma once

#include <optional>
#include <string>

#include "auth/credentials.hpp"
#include "jobman/auth/token_source.hpp"
#include "jobman/base/files.hpp"

namespace jobman::auth {

/// `where` is what names the file: "cloud.credentials_file". kUnauthenticated if it cannot be read
/// or used, or if somebody else can write it.
Result<Credentials> ReadCredentialsFile(const std::string& name, const std::string& where);
/// The file that gcloud auth application-default login writes, if it is there.
std::optional<base::Path> WellKnownFile(const Env& env);
/// "a@p,b@p": a acts as b. `endpoint`: in place of Google's. kInvalidArgument.
Result<Impersonation> ImpersonationOf(const std::string& text,
                                      const std::optional<std::string>& endpoint);

}  // namespace jobman::auth

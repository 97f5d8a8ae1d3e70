#pragma once

#include <functional>
#include <memory>
#include <string>

#include "auth/credentials.hpp"
#include "auth/exchange.hpp"

namespace jobman::auth {

/// The tokens of the credentials, as the last of the accounts that they act as. Not cached.
std::unique_ptr<TokenSource> MakeCredentialSource(const Credentials& found, const Env& env,
                                                  const Exchanger& exchanger);
/// The same of a file that is read for each token, since keys are exchanged while jobman runs.
std::unique_ptr<TokenSource> MakeCredentialFileSource(std::function<Result<Credentials>()> read,
                                                      Env env, Exchanger exchanger);
/// Whoever `origin` is, acting as a service account.
Asker ActingAs(const std::string& origin, const Impersonation& one);

}  // namespace jobman::auth

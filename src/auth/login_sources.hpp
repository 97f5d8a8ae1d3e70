#pragma once

#include <memory>

#include "auth/credentials.hpp"
#include "auth/exchange.hpp"

// Where the tokens of each kind of credentials come from. None of them caches: each Get() asks.

namespace jobman::auth {

/// What is allowed to tokens that are asked for.
inline constexpr const char* kCloudScope = "https://www.googleapis.com/auth/cloud-platform";
/// What is enough to act as a service account.
inline constexpr const char* kIamScope = "https://www.googleapis.com/auth/iam";

std::unique_ptr<TokenSource> MakeUserSource(UserLogin login, Exchanger exchanger, Asker asker);
/// Signs its tokens itself, with no exchange. A service accepts that in place of an access token
/// (google.aip.dev/auth/4111).
std::unique_ptr<TokenSource> MakeSelfSignedSource(ServiceKey key, Exchanger exchanger, Asker asker);
/// Exchanges what it signs for an access token.
std::unique_ptr<TokenSource> MakeServiceKeySource(ServiceKey key, std::string scope,
                                                  Exchanger exchanger, Asker asker);
/// `env`: GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES. `acts_as`: told to a command; may be empty.
std::unique_ptr<TokenSource> MakeFederatedSource(Federation federation, std::string scope,
                                                 std::string acts_as, Env env, Exchanger exchanger,
                                                 Asker asker);
std::unique_ptr<TokenSource> MakeMachineSource(MachineAccount machine, Exchanger exchanger,
                                               Asker asker);
/// `inner` gives the tokens with which it asks to act as the account.
std::unique_ptr<TokenSource> MakeImpersonatingSource(Impersonation one,
                                                     std::shared_ptr<TokenSource> inner,
                                                     Exchanger exchanger, Asker asker);

}  // namespace jobman::auth

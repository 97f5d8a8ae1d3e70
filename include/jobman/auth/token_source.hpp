#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "jobman/base/clock.hpp"
#include "jobman/base/env.hpp"
#include "jobman/base/task.hpp"

namespace jobman::auth {

using base::Result;
using base::Task;
using base::TimePoint;

/// An OAuth 2 access token. Never written to a log, a store or an argument list.
struct AccessToken {
  std::string value = {};                 ///< empty: send no Authorization at all
  std::optional<TimePoint> expires = {};  ///< nothing: the source did not say
};

/// Where tokens come from. Objects must outlive their coroutines.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  /// A token to use now. Errors: kUnauthenticated, with what to do; kUnavailable when the source
  /// may work later.
  virtual Task<Result<AccessToken>> Get() = 0;
  /// The last token was refused: the next Get() must not return a cached one, but see
  /// MakeCachedTokenSource().
  virtual void Invalidate() = 0;
};

/// No token, for the simulator.
std::unique_ptr<TokenSource> MakeNoTokenSource();
/// One fixed token; `origin` names it in errors ("GOOGLE_OAUTH_ACCESS_TOKEN").
std::unique_ptr<TokenSource> MakeFixedTokenSource(std::string token, std::string origin);
/// A file, read again whenever it has changed.
std::unique_ptr<TokenSource> MakeFileTokenSource(std::string path, const base::Clock& clock);
/// A shell command that prints a token; runs at each Get(), so wrap it in a cache.
std::unique_ptr<TokenSource> MakeCommandTokenSource(std::string command, const base::Clock& clock);

/// Caches the token of `inner` until 5 minutes before it expires (for 10 minutes if it has no
/// expiry). Concurrent callers share one refresh. A cached token that is still valid serves the
/// others meanwhile, and all for half a minute if the refresh fails or takes longer than 10 s.
/// After Invalidate() further calls of it have no effect for half a minute: the services that share
/// the source need not all refuse its tokens.
std::unique_ptr<TokenSource> MakeCachedTokenSource(std::unique_ptr<TokenSource> inner,
                                                   const base::Clock& clock);

using Env = std::function<std::optional<std::string>(const std::string&)>;

/// Parses the output of a file or command: {"access_token", "expires_in" | "expiry"} or the bare
/// token on one line. expires_in counts from `read_at`; `origin` is named in the error.
Result<AccessToken> ParseToken(std::string_view text, TimePoint read_at, const std::string& origin);

}  // namespace jobman::auth

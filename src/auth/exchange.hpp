#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "jobman/auth/token_source.hpp"
#include "jobman/http/transport.hpp"

namespace jobman::auth {

/// What a source needs to ask a server for tokens.
struct Exchanger {
  std::shared_ptr<http::Transport> transport = {};
  const base::Clock* clock = nullptr;
  std::function<Task<void>(base::Duration)> sleep = base::Sleep;
  /// For each try, from connecting to the last byte.
  base::Duration limit = std::chrono::seconds{30};
};

/// Whose tokens are asked for; for messages, and for x-goog-api-client.
struct Asker {
  std::string origin = {};  ///< "the credentials in FILE"
  std::string kind = {};    ///< "u", "sa", "imp", "mds": cred-type of Google's own libraries
  std::string cure = {};    ///< what to do when the server refuses them
  std::vector<std::string> secrets = {};  ///< of the request, which a server may repeat
};

/// A form, as RFC 6749 sends it.
http::Request FormRequest(const std::string& url, const http::Headers& form);

/// {"access_token", "expires_in"}, as RFC 6749 answers. `sent`: expires_in counts from then.
Result<AccessToken> ParseAnswer(const std::string& body, TimePoint sent, const Asker& asker);

/// One exchange, tried up to three times (after 1 s, then 2 s) when there is no answer, at 408,
/// 429, 500, 502, 503, 504, or at an error that says it will pass, as google-auth does it. The
/// answer, whose status is of the 200s. Errors: kUnavailable for what may pass, else
/// kUnauthenticated with the cause and the cure; a clock that is wrong is named. Secrets that the
/// server repeats are left out.
Task<Result<http::Response>> Exchange(Exchanger exchanger, Asker asker, http::Request request);

}  // namespace jobman::auth

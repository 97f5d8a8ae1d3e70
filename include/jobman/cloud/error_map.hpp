#pragma once

#include <optional>
#include <string>

#include "jobman/base/json.hpp"
#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"
#include "jobman/http/transport.hpp"

namespace jobman::cloud {

/// What a failed call was about, for hints.
struct ErrorContext {
  std::string project = {};
  std::string zone = {};
  /// Of this machine, which is compared with the server's if it refuses credentials.
  std::optional<base::TimePoint> now = {};
};

/// Where a google.rpc.Status was found: the same code has different meanings there.
enum class StatusOrigin {
  kOperation,     ///< Operation.error
  kQueuedFailed,  ///< QueuedResource.state.failedData.error
};

/// Turns a response with status 300 or above into an Error. Apart from ErrorFromStatus, the only
/// place that looks at the service's message text. Retry-After and RetryInfo set retry_after.
base::Error ErrorFromResponse(const http::Response& response, const ErrorContext& context);
/// Whether a refusal is about the credentials themselves, whatever service was asked: a token
/// without the scope, or a quota project that refuses. ErrorFromResponse() says what to do then.
bool IsAboutCredentials(const http::Response& response);
/// Adds to the error of refused credentials that this machine's clock is wrong, if it is. What a
/// service account signs itself is refused for its time, and the service does not say so.
void NameWrongClock(const http::Headers& headers, base::TimePoint now, base::Error& error);
/// Of an exchange without an answer. One that is too large is not read, and so no refusal: what was
/// asked for may be done.
base::Error ErrorFromExchange(base::Error error);
/// Turns a google.rpc.Status into an Error.
base::Error ErrorFromStatus(const base::Json& status, StatusOrigin origin,
                            const ErrorContext& context);

}  // namespace jobman::cloud

#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/base/result.hpp"
#include "jobman/http/transport.hpp"

namespace jobman::cloud {

/// What a failed call was about, for messages that say what to do.
struct ErrorContext {
  std::string project = {};
  std::string zone = {};
};

/// Where a google.rpc.Status was found: the same code means different things there.
enum class StatusOrigin {
  kOperation,     ///< Operation.error
  kQueuedFailed,  ///< QueuedResource.state.failedData.error
};

/// An answer with a status of 300 or more as an Error. The only place, with ErrorFromStatus, that
/// looks at the service's message text. Retry-After and RetryInfo go to retry_after.
base::Error ErrorFromResponse(const http::Response& response, const ErrorContext& context);
/// A google.rpc.Status as an Error.
base::Error ErrorFromStatus(const base::Json& status, StatusOrigin origin,
                            const ErrorContext& context);

}  // namespace jobman::cloud

#pragma once

#include <string>

#include "jobman/base/result.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// A refusal in the service's words: an HTTP error body, or the `error` of an operation.
struct ApiError {
  base::Code code = base::Code::kUnknown;
  std::string message = {};
  Json details = Json::array();
};

/// `{"error":{"code":404,"message":..,"status":"NOT_FOUND","details":[..]}}` with its HTTP status.
Reply ToReply(const ApiError& error);
/// google.rpc.Status with the numeric code, as operations and failedData carry it.
Json ToStatus(const ApiError& error);
/// The HTTP status Google's APIs use for a canonical code.
int HttpStatus(base::Code code);

// Where a message was seen verbatim in the field it is repeated verbatim; the rest follows the
// general shape of Google's APIs and is marked "by analogy".

ApiError NotFoundError(const std::string& resource);
/// By analogy with NotFoundError.
ApiError AlreadyExistsError(const std::string& resource);
ApiError StockoutError(const std::string& zone);
ApiError QuotaError(const std::string& quota_id, std::int64_t limit, const std::string& zone,
                    const std::string& project_number);
/// The general shape of Google's request-rate quotas.
ApiError RateLimitError(const std::string& method, const std::string& project_number);
ApiError BadTypeError(const std::string& type, const std::string& zone);
ApiError BadZoneError(const std::string& zone);
/// By analogy with BadTypeError.
ApiError BadRuntimeError(const std::string& runtime, const std::string& zone);
ApiError ZoneNotAllowedError(const std::string& zone, const std::string& project_number);
ApiError PermissionError(const std::string& permission, const std::string& resource);
ApiError ApiDisabledError(const std::string& project);
/// `reason` is an ErrorInfo reason: CREDENTIALS_MISSING, ACCESS_TOKEN_EXPIRED.
ApiError UnauthenticatedError(const std::string& reason);
ApiError NoReservationError();
/// "Cloud TPU received a bad request. <what> [EID: ..]"
ApiError BadRequestError(const std::string& what);
ApiError PreconditionError(const std::string& what);
/// The opaque code 13, which in practice means "no capacity for this size".
ApiError OpaqueError();

}  // namespace jobman::sim

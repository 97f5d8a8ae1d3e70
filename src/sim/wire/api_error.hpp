#pragma once

#include <string>

#include "jobman/base/result.hpp"
#include "sim/wire/request.hpp"

namespace jobman::sim {

/// An error in the service's form: an HTTP error body, or the `error` of an operation.
struct ApiError {
  base::Code code = base::Code::kUnknown;
  std::string message = {};
  Json details = Json::array();
};

/// `{"error":{"code":404,"message":..,"status":"NOT_FOUND","details":[..]}}` with its HTTP status.
Reply ToReply(const ApiError& error);
/// google.rpc.Status with the numeric code, for operations and failedData.
Json ToStatus(const ApiError& error);

// Messages seen in the field are repeated word for word. The others follow the general form of
// Google's APIs and are marked "by analogy".

ApiError NotFoundError(const std::string& resource);
/// By analogy with NotFoundError.
ApiError AlreadyExistsError(const std::string& resource);
ApiError StockoutError(const std::string& zone);
ApiError QuotaError(const std::string& quota_id, std::int64_t limit, const std::string& zone,
                    const std::string& project_number);
/// The general form of Google's request-rate quotas.
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
/// Code 13 without a cause. In practice it means "no capacity for this size".
ApiError OpaqueError();

}  // namespace jobman::sim

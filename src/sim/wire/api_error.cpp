#include "sim/wire/api_error.hpp"

#include <fmt/format.h>

#include <functional>

namespace jobman::sim {

using base::Code;

namespace {

constexpr const char* kTypePrefix = "type.googleapis.com/google.rpc.";

/// Messages of the TPU backend end in an error id. Here it is a hash of the text.
std::string WithEid(const std::string& message) {
  return fmt::format("{} [EID: 0x{:016x}]", message, std::hash<std::string>{}(message));
}

Json ErrorInfo(const std::string& reason, Json metadata) {
  return {{"@type", std::string(kTypePrefix) + "ErrorInfo"},
          {"reason", reason},
          {"domain", "googleapis.com"},
          {"metadata", std::move(metadata)}};
}

Json Consumer(const std::string& project_number) {
  return {{"service", "tpu.googleapis.com"}, {"consumer", "projects/" + project_number}};
}

/// The HTTP status Google's APIs use for a canonical code.
int HttpStatus(Code code) {
  switch (code) {
    case Code::kOk:
      return 200;
    case Code::kCancelled:
      return 499;
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition:
    case Code::kOutOfRange:
      return 400;
    case Code::kUnauthenticated:
      return 401;
    case Code::kPermissionDenied:
      return 403;
    case Code::kNotFound:
      return 404;
    case Code::kAlreadyExists:
    case Code::kAborted:
      return 409;
    case Code::kResourceExhausted:
      return 429;
    case Code::kUnimplemented:
      return 501;
    case Code::kUnavailable:
      return 503;
    case Code::kDeadlineExceeded:
      return 504;
    case Code::kUnknown:
    case Code::kInternal:
    case Code::kDataLoss:
      return 500;
  }
  return 500;
}

}  // namespace

Reply ToReply(const ApiError& error) {
  const int http = HttpStatus(error.code);
  Json body = {{"code", http}, {"message", error.message}, {"status", base::CodeName(error.code)}};
  if (!error.details.empty()) body["details"] = error.details;
  return {.status = http, .body = {{"error", std::move(body)}}};
}

Json ToStatus(const ApiError& error) {
  Json status = {{"code", static_cast<int>(error.code)}, {"message", error.message}};
  if (!error.details.empty()) status["details"] = error.details;
  return status;
}

ApiError NotFoundError(const std::string& resource) {
  return {.code = Code::kNotFound, .message = fmt::format("Resource '{}' was not found", resource)};
}

ApiError AlreadyExistsError(const std::string& resource) {
  return {.code = Code::kAlreadyExists,
          .message = fmt::format("Resource '{}' already exists", resource)};
}

ApiError StockoutError(const std::string& zone) {
  return {.code = Code::kResourceExhausted,
          .message = WithEid(fmt::format(
              "There is no more capacity in the zone \"{}\"; you can try in another zone where "
              "Cloud TPU Nodes are offered (see https://cloud.google.com/tpu/docs/regions)",
              zone))};
}

ApiError QuotaError(const std::string& quota_id, std::int64_t limit, const std::string& zone,
                    const std::string& project_number) {
  const Json violation = {{"subject", "project:" + project_number},
                          {"description", fmt::format("Quota '{}' exhausted. Limit {} in zone {}",
                                                      quota_id, limit, zone)}};
  return {.code = Code::kResourceExhausted,
          .message = fmt::format("Quota limit '{}' has been exceeded. Limit: {} in zone {}.",
                                 quota_id, limit, zone),
          .details = Json::array({{{"@type", std::string(kTypePrefix) + "QuotaFailure"},
                                   {"violations", Json::array({violation})}}})};
}

ApiError RateLimitError(const std::string& method, const std::string& project_number) {
  const std::string metric = "tpu.googleapis.com/" + method;
  Json metadata = Consumer(project_number);
  metadata["quota_metric"] = metric;
  metadata["quota_limit"] = "RequestsPerMinutePerProject";
  return {
      .code = Code::kResourceExhausted,
      .message = fmt::format("Quota exceeded for quota metric '{}' and limit '{} per minute' of "
                             "service 'tpu.googleapis.com' for consumer 'project_number:{}'.",
                             metric, method, project_number),
      .details = Json::array({ErrorInfo("RATE_LIMIT_EXCEEDED", std::move(metadata))})};
}

ApiError BadTypeError(const std::string& type, const std::string& zone) {
  return BadRequestError(
      fmt::format("The requested accelerator configuration for accelerator type, \"{0}\", could "
                  "not be found in the zonal accelerator configurations for \"{1}\".; the "
                  "accelerator {0} was not found in zone {1}",
                  type, zone));
}

ApiError BadZoneError(const std::string& zone) {
  return BadRequestError(fmt::format("The requested zone \"{}\" is not supported.", zone));
}

ApiError BadRuntimeError(const std::string& runtime, const std::string& zone) {
  return BadRequestError(fmt::format(
      "The requested runtime version \"{}\" could not be found in zone \"{}\".", runtime, zone));
}

ApiError ZoneNotAllowedError(const std::string& zone, const std::string& project_number) {
  Json metadata = Consumer(project_number);
  metadata["location"] = zone;
  return {
      .code = Code::kPermissionDenied,
      .message = fmt::format("Permission denied on 'locations/{}' (or it may not exist).", zone),
      .details = Json::array({ErrorInfo("LOCATION_POLICY_VIOLATED", std::move(metadata))})};
}

ApiError PermissionError(const std::string& permission, const std::string& resource) {
  Json metadata = {{"permission", permission}, {"resource", resource}};
  return {.code = Code::kPermissionDenied,
          .message = fmt::format("Permission '{}' denied on '{}'", permission, resource),
          .details = Json::array({ErrorInfo("IAM_PERMISSION_DENIED", std::move(metadata))})};
}

ApiError ApiDisabledError(const std::string& project) {
  const std::string url =
      "https://console.developers.google.com/apis/api/tpu.googleapis.com/overview?project=" +
      project;
  const Json link = {{"description", "Google developers console API activation"}, {"url", url}};
  return {.code = Code::kPermissionDenied,
          .message = fmt::format(
              "Cloud TPU API has not been used in project {} before or it is disabled. Enable it "
              "by visiting {} then retry. If you enabled this API recently, wait a few minutes for "
              "the action to propagate to our systems and retry.",
              project, url),
          .details = Json::array(
              {{{"@type", std::string(kTypePrefix) + "Help"}, {"links", Json::array({link})}},
               ErrorInfo("SERVICE_DISABLED", Consumer(project))})};
}

ApiError UnauthenticatedError(const std::string& reason) {
  return {.code = Code::kUnauthenticated,
          .message =
              "Request had invalid authentication credentials. Expected OAuth 2 access token, "
              "login cookie or other valid authentication credential. See "
              "https://developers.google.com/identity/sign-in/web/devconsole-project.",
          .details = Json::array({ErrorInfo(reason, {{"service", "tpu.googleapis.com"}})})};
}

ApiError NoReservationError() {
  return {.code = Code::kFailedPrecondition,
          .message = WithEid("Insufficient reserved capacity. Contact customer support to increase "
                             "your reservation.")};
}

ApiError BadRequestError(const std::string& what) {
  return {.code = Code::kInvalidArgument,
          .message = WithEid("Cloud TPU received a bad request. " + what)};
}

ApiError PreconditionError(const std::string& what) {
  return {.code = Code::kFailedPrecondition, .message = WithEid(what)};
}

ApiError OpaqueError() {
  return {.code = Code::kInternal, .message = "an internal error has occurred"};
}

}  // namespace jobman::sim

#include "jobman/base/result.hpp"

#include <array>
#include <cerrno>
#include <system_error>

namespace jobman::base {
namespace {

struct CodeWord {
  Code code;
  std::string_view name;
};
constexpr std::array kCodes = {
    CodeWord{Code::kOk, "OK"},
    CodeWord{Code::kCancelled, "CANCELLED"},
    CodeWord{Code::kUnknown, "UNKNOWN"},
    CodeWord{Code::kInvalidArgument, "INVALID_ARGUMENT"},
    CodeWord{Code::kDeadlineExceeded, "DEADLINE_EXCEEDED"},
    CodeWord{Code::kNotFound, "NOT_FOUND"},
    CodeWord{Code::kAlreadyExists, "ALREADY_EXISTS"},
    CodeWord{Code::kPermissionDenied, "PERMISSION_DENIED"},
    CodeWord{Code::kResourceExhausted, "RESOURCE_EXHAUSTED"},
    CodeWord{Code::kFailedPrecondition, "FAILED_PRECONDITION"},
    CodeWord{Code::kAborted, "ABORTED"},
    CodeWord{Code::kOutOfRange, "OUT_OF_RANGE"},
    CodeWord{Code::kUnimplemented, "UNIMPLEMENTED"},
    CodeWord{Code::kInternal, "INTERNAL"},
    CodeWord{Code::kUnavailable, "UNAVAILABLE"},
    CodeWord{Code::kDataLoss, "DATA_LOSS"},
    CodeWord{Code::kUnauthenticated, "UNAUTHENTICATED"},
};

struct ReasonWord {
  Reason reason;
  std::string_view name;
};
constexpr std::array kReasons = {
    ReasonWord{Reason::kNone, "none"},
    ReasonWord{Reason::kStockout, "stockout"},
    ReasonWord{Reason::kQuota, "quota"},
    ReasonWord{Reason::kQuotaZero, "quota_zero"},
    ReasonWord{Reason::kRateLimit, "rate_limit"},
    ReasonWord{Reason::kPermission, "permission"},
    ReasonWord{Reason::kApiDisabled, "api_disabled"},
    ReasonWord{Reason::kZoneNotAllowed, "zone_not_allowed"},
    ReasonWord{Reason::kBadAccelerator, "bad_accelerator"},
    ReasonWord{Reason::kBadZone, "bad_zone"},
    ReasonWord{Reason::kBadRuntime, "bad_runtime"},
    ReasonWord{Reason::kReservation, "reservation"},
    ReasonWord{Reason::kExpired, "expired"},
    ReasonWord{Reason::kNotPublished, "not_published"},
    ReasonWord{Reason::kNoToken, "no_token"},
    ReasonWord{Reason::kUnreachable, "unreachable"},
    ReasonWord{Reason::kHostRefused, "host_refused"},
    ReasonWord{Reason::kHostTimeout, "host_timeout"},
    ReasonWord{Reason::kConnectionBroke, "connection_broke"},
    ReasonWord{Reason::kHostHangs, "host_hangs"},
    ReasonWord{Reason::kHostAuth, "host_auth"},
    ReasonWord{Reason::kHostKeyChanged, "host_key_changed"},
    ReasonWord{Reason::kAgentSilent, "agent_silent"},
    ReasonWord{Reason::kKeyUnreadable, "key_unreadable"},
    ReasonWord{Reason::kChipsBusy, "chips_busy"},
    ReasonWord{Reason::kSetupLapsed, "setup_lapsed"},
    ReasonWord{Reason::kDiskFull, "disk_full"},
    ReasonWord{Reason::kNotWritable, "not_writable"},
    ReasonWord{Reason::kNewerStore, "newer_store"},
    ReasonWord{Reason::kCopiedStore, "copied_store"},
    ReasonWord{Reason::kLeaseLost, "lease_lost"},
    ReasonWord{Reason::kStale, "stale"},
    ReasonWord{Reason::kNotSupported, "not_supported"},
};

struct Cause {
  Code code;
  Reason reason;
};

Cause CauseOf(int error_number) {
  switch (error_number) {
    case ENOENT:
      return {Code::kNotFound, Reason::kNone};
    case EEXIST:
      return {Code::kAlreadyExists, Reason::kNone};
    case EACCES:
    case EPERM:
    case EROFS:
      return {Code::kPermissionDenied, Reason::kNotWritable};
    case ENOSPC:
    case EDQUOT:
      return {Code::kResourceExhausted, Reason::kDiskFull};
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return {Code::kResourceExhausted, Reason::kNone};
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return {Code::kUnavailable, Reason::kUnreachable};
    case ETIMEDOUT:
      return {Code::kDeadlineExceeded, Reason::kUnreachable};
    case EINVAL:
    case ENAMETOOLONG:
      return {Code::kInvalidArgument, Reason::kNone};
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
      return {Code::kFailedPrecondition, Reason::kNone};
    default:
      return {Code::kUnknown, Reason::kNone};
  }
}

/// For errors with the same cure whatever was being done.
std::string HintOf(int error_number) {
  switch (error_number) {
    case EMFILE:
      return "raise the limit of open files (ulimit -n)";
    case ELOOP:
      return "a symbolic link there points to itself: remove it or name another path";
    default:
      return {};
  }
}

}  // namespace

std::string_view CodeName(Code code) {
  for (const CodeWord& word : kCodes) {
    if (word.code == code) return word.name;
  }
  return "UNKNOWN";
}

std::string_view ReasonName(Reason reason) {
  for (const ReasonWord& word : kReasons) {
    if (word.reason == reason) return word.name;
  }
  return "none";
}

Code CodeFromName(std::string_view name) {
  for (const CodeWord& word : kCodes) {
    if (word.name == name) return word.code;
  }
  return Code::kUnknown;
}

Reason ReasonFromName(std::string_view name) {
  for (const ReasonWord& word : kReasons) {
    if (word.name == name) return word.reason;
  }
  return Reason::kNone;
}

Error&& Error::With(std::string frame) && {
  context.push_back(std::move(frame));
  return std::move(*this);
}

std::string Error::ToString() const {
  std::string text;
  for (auto frame = context.rbegin(); frame != context.rend(); ++frame) text += *frame + ": ";
  return text + message;
}

Error InvalidArgument(std::string message, std::string hint) {
  return {.code = Code::kInvalidArgument, .message = std::move(message), .hint = std::move(hint)};
}

Error NotFound(std::string message, std::string hint) {
  return {.code = Code::kNotFound, .message = std::move(message), .hint = std::move(hint)};
}

Error Internal(std::string message) {
  return {.code = Code::kInternal, .message = std::move(message)};
}

Error FromErrno(int error_number, const std::string& doing) {
  const Cause cause = CauseOf(error_number);
  return {.code = cause.code,
          .message = doing + ": " + std::generic_category().message(error_number),
          .reason = cause.reason,
          .hint = HintOf(error_number)};
}

}  // namespace jobman::base

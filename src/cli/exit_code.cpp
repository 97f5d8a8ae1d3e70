#include "cli/exit_code.hpp"

#include <optional>

namespace jobman::cli {
namespace {

using base::Code;
using base::Reason;

// Reasons that are more specific than the code.
std::optional<ExitCode> OfReason(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return std::nullopt;
    case Reason::kStockout:
    case Reason::kQuota:
    case Reason::kRateLimit:
    case Reason::kUnreachable:
    case Reason::kHostRefused:
    case Reason::kHostTimeout:
    case Reason::kConnectionBroke:
    case Reason::kHostHangs:
    case Reason::kNotPublished:
    case Reason::kChipsBusy:
    case Reason::kSetupLapsed:
    case Reason::kDiskFull:
    case Reason::kLeaseLost:
    case Reason::kStale:
      return kTryLater;
    case Reason::kQuotaZero:
    case Reason::kPermission:
    case Reason::kApiDisabled:
    case Reason::kZoneNotAllowed:
    case Reason::kReservation:
    case Reason::kExpired:
      return kRefused;
    // The job file asks for something that does not exist.
    case Reason::kBadAccelerator:
    case Reason::kBadZone:
    case Reason::kBadRuntime:
    case Reason::kNotWritable:
    case Reason::kNewerStore:
    case Reason::kCopiedStore:
    case Reason::kNotSupported:
      return kUsage;
    case Reason::kNoToken:
    case Reason::kHostAuth:
    case Reason::kHostKeyChanged:
    case Reason::kAgentSilent:
    case Reason::kKeyUnreadable:
      return kCredentials;
  }
  return std::nullopt;
}

ExitCode OfCode(Code code) {
  switch (code) {
    case Code::kOk:
      return kSuccess;
    case Code::kCancelled:
      return kInterrupted;
    case Code::kInvalidArgument:
    case Code::kAlreadyExists:
    case Code::kFailedPrecondition:
    case Code::kOutOfRange:
    case Code::kUnimplemented:
      return kUsage;
    case Code::kNotFound:
      return kNotFound;
    case Code::kPermissionDenied:
      return kRefused;
    case Code::kUnauthenticated:
      return kCredentials;
    case Code::kDeadlineExceeded:
    case Code::kResourceExhausted:
    case Code::kAborted:
    case Code::kUnavailable:
      return kTryLater;
    case Code::kUnknown:
    case Code::kInternal:
    case Code::kDataLoss:
      return kInternal;
  }
  return kInternal;
}

}  // namespace

ExitCode ExitCodeOf(const base::Error& error) {
  return OfReason(error.reason).value_or(OfCode(error.code));
}

}  // namespace jobman::cli

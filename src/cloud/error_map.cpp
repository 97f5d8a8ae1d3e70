#include "jobman/cloud/error_map.hpp"

#include <algorithm>
#include <array>

#include "cloud/error_hints.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/http/redact.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using base::Contains;
using base::Error;
using base::GetMember;
using base::GetString;
using base::Json;
using base::Reason;

constexpr std::int64_t kLongestRetryAfter = 3600;
/// Longer messages would fill screens, and the store with every event that quotes them.
constexpr std::size_t kLongestMessage = 2000;
/// Of a text of the service; what decides is at its beginning.
constexpr std::size_t kLongestRead = 16'384;

/// A failure as received, before it is classified.
struct Told {
  Code code = Code::kUnknown;
  std::string message = {};
  std::string info_reason = {};  ///< google.rpc.ErrorInfo.reason
  std::string violations = {};   ///< descriptions of google.rpc.QuotaFailure; "-" when it has none
  std::string retry_delay = {};  ///< google.rpc.RetryInfo.retryDelay
  About about = About::kNothingElse;
};

/// Backend messages end in " [EID: 0x362c45de1b38c529]".
std::string StripEid(const std::string& message) {
  const std::size_t begin = message.find(" [EID:");
  if (begin == std::string::npos) return message;
  const std::size_t end = message.find(']', begin);
  return message.substr(0, begin) + (end == std::string::npos ? "" : message.substr(end + 1));
}

void ReadQuotaFailure(const Json& detail, Told& told) {
  const Json& violations = GetMember(detail, "violations");
  for (std::size_t i = 0; violations.is_array() && i < violations.size(); ++i) {
    if (told.violations.size() > kLongestRead) break;
    told.violations += base::Shorten(GetString(violations[i], "description"), kLongestRead) + " ";
  }
  if (told.violations.empty()) told.violations = "-";
}

void ReadDetails(const Json& details, Told& told) {
  if (!details.is_array()) return;
  for (const Json& detail : details) {
    const std::string type = GetString(detail, "@type");
    if (type.ends_with("google.rpc.ErrorInfo")) told.info_reason = GetString(detail, "reason");
    if (type.ends_with("google.rpc.QuotaFailure")) ReadQuotaFailure(detail, told);
    if (type.ends_with("google.rpc.RetryInfo")) told.retry_delay = GetString(detail, "retryDelay");
  }
}

/// The scope and the project that pays have words of their own, the addresses are only in the text.
About AboutOf(const Told& told) {
  if (Contains(base::ToLower(told.message), "in_use_addresses")) return About::kAddresses;
  if (told.info_reason == "USER_PROJECT_DENIED") return About::kQuotaProject;
  // The constraint of an organisation, which a node with enable-oslogin: FALSE violates.
  if (Contains(told.message, "compute.requireOsLogin")) return About::kOsLogin;
  const bool scope = told.info_reason == "ACCESS_TOKEN_SCOPE_INSUFFICIENT";
  return scope ? About::kTokenScope : About::kNothingElse;
}

Told Read(const Json& status, Code code) {
  Told told{.code = code,
            .message = StripEid(base::Shorten(GetString(status, "message"), kLongestRead))};
  ReadDetails(GetMember(status, "details"), told);
  told.about = AboutOf(told);
  return told;
}

// --- which reason ---

/// google.rpc.ErrorInfo is meant for programs, so it comes first.
Reason ReasonOfInfo(const std::string& info) {
  struct Row {
    std::string_view info;
    Reason reason;
  };
  static constexpr std::array<Row, 8> kRows = {{
      {"RATE_LIMIT_EXCEEDED", Reason::kRateLimit},
      {"SERVICE_DISABLED", Reason::kApiDisabled},
      {"LOCATION_POLICY_VIOLATED", Reason::kZoneNotAllowed},
      {"IAM_PERMISSION_DENIED", Reason::kPermission},
      {"ACCESS_TOKEN_SCOPE_INSUFFICIENT", Reason::kPermission},
      {"USER_PROJECT_DENIED", Reason::kPermission},
      {"CONSUMER_INVALID", Reason::kPermission},
      {"RESOURCE_AVAILABILITY", Reason::kStockout},
  }};
  for (const Row& row : kRows) {
    if (row.info == info) return row.reason;
  }
  return Reason::kNone;
}

/// "Limit: 0 in zone", "Limit 0 in zone": freeing resources cannot help.
bool SaysLimitZero(std::string_view original) {
  const std::string text = base::ToLower(original);
  for (std::size_t at = text.find("limit"); at != std::string::npos;
       at = text.find("limit", at + 1)) {
    const std::size_t number = text.find_first_not_of(": ", at + 5);
    if (number == std::string::npos) return false;
    const std::size_t end = text.find_first_not_of("0123456789", number);
    if (text.substr(number, end - number) == "0") return true;
  }
  return false;
}

bool IsLimitZero(const Told& told) {
  return SaysLimitZero(told.message) || SaysLimitZero(told.violations);
}

Reason QuotaReason(const Told& told) {
  return IsLimitZero(told) ? Reason::kQuotaZero : Reason::kQuota;
}

/// RESOURCE_EXHAUSTED has three meanings with three remedies.
Reason ExhaustedReason(const Told& told, bool in_operation) {
  if (!told.violations.empty()) return QuotaReason(told);
  const std::string text = base::ToLower(told.message);
  if (Contains(text, "no more capacity") || Contains(text, "stockout")) return Reason::kStockout;
  if (Contains(text, "per minute") || Contains(text, "too many requests"))
    return Reason::kRateLimit;
  if (told.about == About::kAddresses || Contains(text, "quota")) return QuotaReason(told);
  return in_operation ? Reason::kStockout : Reason::kRateLimit;
}

Reason InvalidReason(const Told& told) {
  const std::string text = base::ToLower(told.message);
  if (Contains(text, "accelerator") &&
      (Contains(text, "not found in zone") || Contains(text, "zonal accelerator config"))) {
    return Reason::kBadAccelerator;
  }
  if (Contains(text, "requested zone")) return Reason::kBadZone;
  if (Contains(text, "runtime version") || Contains(text, "runtimeversion") ||
      Contains(text, "software version")) {
    return Reason::kBadRuntime;
  }
  return Reason::kNone;
}

Reason DeniedReason(const Told& told) {
  if (Contains(told.message, "has not been used in project")) return Reason::kApiDisabled;
  if (Contains(told.message, "denied on 'locations/")) return Reason::kZoneNotAllowed;
  return Reason::kPermission;
}

Reason ReasonOfText(const Told& told, bool in_operation) {
  const std::string text = base::ToLower(told.message);
  switch (told.code) {
    case Code::kResourceExhausted:
      return ExhaustedReason(told, in_operation);
    case Code::kInvalidArgument:
      return InvalidReason(told);
    case Code::kPermissionDenied:
      return DeniedReason(told);
    case Code::kNotFound:
      // As on Compute Engine: attributes that nobody has written yet are "not found".
      if (Contains(text, "guest attribute")) return Reason::kNotPublished;
      [[fallthrough]];
    case Code::kFailedPrecondition:
      if (Contains(text, "reservation") || Contains(text, "reserved capacity")) {
        return Reason::kReservation;
      }
      return told.about == About::kAddresses ? QuotaReason(told) : Reason::kNone;
    case Code::kOk:
    case Code::kCancelled:
    case Code::kUnknown:
    case Code::kDeadlineExceeded:
    case Code::kAlreadyExists:
    case Code::kAborted:
    case Code::kOutOfRange:
    case Code::kUnimplemented:
    case Code::kInternal:
    case Code::kUnavailable:
    case Code::kDataLoss:
    case Code::kUnauthenticated:
      return told.about == About::kAddresses ? QuotaReason(told) : Reason::kNone;
  }
  return Reason::kNone;
}

Reason ReasonOf(const Told& told, bool in_operation) {
  const Reason reason = ReasonOfInfo(told.info_reason);
  return reason == Reason::kNone ? ReasonOfText(told, in_operation) : reason;
}

// --- code and times ---

Code CodeOfHttp(int status) {
  switch (status) {
    case 400:
    case 405:
    case 411:
    case 413:
    case 414:
      return Code::kInvalidArgument;
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kPermissionDenied;
    case 404:
    case 410:
      return Code::kNotFound;
    case 408:
      return Code::kUnavailable;
    case 409:
      return Code::kAborted;
    case 412:
      return Code::kFailedPrecondition;
    case 429:
      return Code::kResourceExhausted;
    case 499:
      return Code::kCancelled;
    case 500:
      return Code::kInternal;
    case 501:
      return Code::kUnimplemented;
    case 504:
      return Code::kDeadlineExceeded;
    default:
      return status >= 500 ? Code::kUnavailable : Code::kUnknown;
  }
}

/// The service's own code if it names one; 409 and 400 stand for several codes.
Code CodeOf(const http::Response& response, const Json& error) {
  const Code named = base::CodeFromName(GetString(error, "status"));
  if (named != Code::kUnknown && named != Code::kOk) return named;
  // That a slice does not exist has consequences, and a proxy or a web server says 404 of anything.
  const bool missing = response.status == 404 || response.status == 410;
  if (missing && base::GetInt(error, "code") != response.status) return Code::kUnavailable;
  return CodeOfHttp(response.status);
}

std::optional<std::chrono::seconds> Seconds(std::string_view text) {
  const auto number = base::ParseNumber(base::Trim(text));
  if (!number) return {};
  return std::chrono::seconds{std::min(*number, kLongestRetryAfter)};
}

std::optional<std::chrono::seconds> RetryAfter(const http::Headers& headers, const Told& told) {
  const auto header = http::FindHeader(headers, "Retry-After");
  if (const auto from_header = Seconds(header.value_or(""))) return from_header;
  const auto delay = base::ParseDuration(told.retry_delay);
  if (told.retry_delay.empty() || !delay) return {};
  const auto whole = std::chrono::ceil<std::chrono::seconds>(*delay);
  return std::clamp(whole, std::chrono::seconds{0}, std::chrono::seconds{kLongestRetryAfter});
}

Error Classify(const Told& told, bool in_operation, const ErrorContext& context) {
  const Reason reason = ReasonOf(told, in_operation);
  return {
      .code = told.code,
      .message = base::Shorten(base::CleanLine(http::RedactText(told.message)), kLongestMessage),
      .reason = reason,
      .hint = HintFor(told.code, reason, told.about, context)};
}

/// The end of what a tag of a page covers: of itself, or of an element that is no text.
std::size_t EndOfTag(std::string_view lower, std::size_t begin) {
  for (const std::string_view name : {"style", "script"}) {
    if (!lower.substr(begin + 1).starts_with(name)) continue;
    begin = lower.find("</" + std::string(name), begin);
    break;
  }
  const std::size_t end = begin == std::string_view::npos ? begin : lower.find('>', begin);
  return end == std::string_view::npos ? lower.size() : end + 1;
}

/// What a page in HTML says: proxies and load balancers answer with one.
std::string TextOfPage(std::string_view page) {
  const std::string lower = base::ToLower(page);
  std::string text;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t tag = std::min(page.find('<', at), page.size());
    text += std::string(page.substr(at, tag - at)) + " ";
    at = tag == page.size() ? tag : EndOfTag(lower, tag);
  }
  std::vector<std::string> words = base::Split(base::CleanLine(text), ' ');
  std::erase(words, std::string{});
  return base::Join(words, " ");
}

/// The beginning of a body that is not JSON.
std::string Excerpt(std::string_view body) {
  constexpr std::size_t kMost = 200;
  const std::string_view text = base::Trim(body.substr(0, kLongestRead));
  return base::Shorten(text.starts_with('<') ? TextOfPage(text) : std::string(text), kMost);
}

/// " (bad gateway)"; for those that programs in front of the service answer with.
std::string WordsOfHttp(int status) {
  switch (status) {
    case 404:
      return " (not found)";
    case 429:
      return " (too many requests)";
    case 500:
      return " (internal error)";
    case 502:
      return " (bad gateway)";
    case 503:
      return " (unavailable)";
    case 504:
      return " (gateway timeout)";
    default:
      return {};
  }
}

/// See CodeOf().
bool IsNotTheApi(const http::Response& response, Code code) {
  return code == Code::kUnavailable && response.status < 500;
}

/// Of an answer that says nothing itself.
std::string StatusText(const http::Response& response, Code code, bool is_json) {
  std::string text =
      "HTTP status " + std::to_string(response.status) + WordsOfHttp(response.status);
  if (IsNotTheApi(response, code)) text += ", which is not the answer of the Cloud TPU API";
  const std::string said = is_json ? std::string{} : Excerpt(response.body);
  return said.empty() ? text : text + ": " + said;
}

/// The API never redirects: this is something else, such as a login page or a proxy.
Error Redirected(const http::Response& response) {
  const auto target = http::FindHeader(response.headers, "Location");
  return {
      .code = Code::kFailedPrecondition,
      .message = "the endpoint redirects to " +
                 base::Shorten(http::RedactText(http::RedactUrl(target.value_or("nowhere"))), 200) +
                 " (HTTP status " + std::to_string(response.status) + ")",
      .hint = "this is not the Cloud TPU API: check --endpoint and cloud.endpoint"};
}

Json ErrorIn(const http::Response& response) {
  const auto parsed = base::ParseJson(response.body);
  return parsed ? GetMember(*parsed, "error") : Json();
}

}  // namespace

void NameWrongClock(const http::Headers& headers, base::TimePoint now, Error& error) {
  const std::string trouble = http::ClockTrouble(headers, now);
  if (trouble.empty()) return;
  if (error.message.ends_with('.')) error.message.pop_back();
  error.message += "; " + trouble;
  error.hint = std::string(http::kClockCure) + "; if that does not help: " + error.hint;
}

bool IsAboutCredentials(const http::Response& response) {
  const Told told = Read(ErrorIn(response), Code::kUnknown);
  return told.about == About::kTokenScope || told.about == About::kQuotaProject;
}

Error ErrorFromResponse(const http::Response& response, const ErrorContext& context) {
  if (response.status >= 300 && response.status < 400) return Redirected(response);
  const auto parsed = base::ParseJson(response.body);
  const Json& error = parsed ? GetMember(*parsed, "error") : base::GetMember(Json(), "");
  Told told = Read(error, CodeOf(response, error));
  const bool mute = told.message.empty();
  if (mute) told.message = StatusText(response, told.code, parsed.ok());
  const auto retry_after = RetryAfter(response.headers, told);
  Error classified = Classify(told, false, context);
  if (mute && IsNotTheApi(response, told.code)) {
    classified.hint = "check --endpoint, cloud.endpoint and what proxies are in between";
  }
  if (response.status == 401 && context.now) {
    NameWrongClock(response.headers, *context.now, classified);
  }
  classified.retry_after = retry_after;
  return classified;
}

Error ErrorFromExchange(Error error) {
  if (error.code != Code::kOutOfRange) return error;
  error.code = Code::kUnavailable;
  error.hint = kAskElsewhere;
  return error;
}

Error ErrorFromStatus(const Json& status, StatusOrigin origin, const ErrorContext& context) {
  const std::int64_t number = base::GetInt(status, "code");
  constexpr std::int64_t kLastCode = 16;
  const bool known = number > 0 && number <= kLastCode;
  Told told = Read(status, known ? static_cast<Code>(number) : Code::kUnknown);
  if (told.message.empty()) told.message = "code " + std::to_string(number) + " without a message";
  const auto retry_after = RetryAfter({}, told);
  Error error = Classify(told, true, context);
  // Field reports: "an internal error has occurred" on a spot queued resource means a lack of
  // capacity. The words alone would send the user to look for a fault.
  if (origin == StatusOrigin::kQueuedFailed && error.code == Code::kInternal &&
      error.reason == Reason::kNone) {
    error.reason = Reason::kStockout;
    if (error.message.ends_with('.')) error.message.pop_back();
    error.message += ", which mostly means that there is no capacity";
    error.hint = HintFor(error.code, error.reason, About::kNothingElse, context);
  }
  error.retry_after = retry_after;
  return error;
}

}  // namespace jobman::cloud

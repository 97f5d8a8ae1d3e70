#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "jobman/base/check.hpp"
#include "jobman/base/rare.hpp"

namespace jobman::base {

/// The canonical codes of google.rpc.Code, with their numbers: the Cloud TPU API speaks them.
enum class Code {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

/// Why it failed, where one code has several remedies. Only reasons that code acts on.
enum class Reason {
  kNone,
  kStockout,         ///< no capacity now: another zone, or later
  kQuota,            ///< the project's limit is reached: the user decides
  kQuotaZero,        ///< the project's limit is 0: waiting does not help
  kRateLimit,        ///< too many requests: slow down
  kPermission,       ///< IAM refuses
  kApiDisabled,      ///< the Cloud TPU API is off in the project
  kZoneNotAllowed,   ///< LOCATION_POLICY_VIOLATED
  kBadAccelerator,   ///< this type is not offered in this zone
  kBadZone,          ///< no such zone
  kBadRuntime,       ///< no such runtime version
  kReservation,      ///< reservation absent or exhausted
  kExpired,          ///< tpu.valid_until has passed: no slice may be requested any more
  kNotPublished,     ///< the host has not written its SSH host keys yet
  kNoToken,          ///< no access token found here; nothing was sent
  kUnreachable,      ///< no answer at all: refused, reset, DNS
  kHostRefused,      ///< SSH: nobody listens yet
  kHostTimeout,      ///< SSH: no answer in time
  kConnectionBroke,  ///< SSH: while a command ran, which may go on
  kHostHangs,        ///< SSH: a command, which may go on, did not answer in time
  kHostAuth,         ///< SSH: our key is not accepted (yet)
  kHostKeyChanged,   ///< SSH: the host shows another key than the pinned one
  kAgentSilent,      ///< SSH: the ssh-agent of this machine does not answer
  kKeyUnreadable,    ///< SSH: the private key cannot be used
  kChipsBusy,        ///< a process that is not ours holds the host's chips
  kSetupLapsed,      ///< the host was restarted since its setup, or a step has changed
  kDiskFull,         ///< ENOSPC, SQLITE_FULL
  kNotWritable,      ///< EACCES, EROFS
  kNewerStore,       ///< written by a newer jobman
  kCopiedStore,      ///< the store was moved or copied since it was used last
  kLeaseLost,        ///< another controller took over
  kStale,            ///< the row changed since it was read
  kNotSupported,     ///< known, but not implemented yet
};

/// "RESOURCE_EXHAUSTED" for kResourceExhausted.
std::string_view CodeName(Code code);
/// "stockout" for kStockout; the words of docs/guide/errors.md, `--json` and the journal.
std::string_view ReasonName(Reason reason);
/// The inverses; kUnknown and kNone for unknown words.
Code CodeFromName(std::string_view name);
Reason ReasonFromName(std::string_view name);

/// What failed, why, and what was being done. Names the thing, the cause and the cure.
struct [[nodiscard]] Error {
  Code code = Code::kUnknown;
  std::string message = {};
  Reason reason = Reason::kNone;
  std::string hint = {};  ///< what to do about it; may be empty
  std::optional<std::chrono::seconds> retry_after = {};
  std::vector<std::string> context = {};  ///< what was being done, innermost first

  /// Adds what was being done: `return std::move(e).With("creating slice train-7-a2")`.
  Error&& With(std::string frame) &&;
  /// "creating slice train-7-a2: no capacity", outermost frame first.
  std::string ToString() const;

  friend bool operator==(const Error&, const Error&) = default;
};

/// A T or an Error; no third state. jobman throws nothing itself; exceptions of third-party
/// libraries are caught in the function that calls them. Hardly larger than its T: the error is
/// kept apart, since a coroutine holds a handful of them and thousands may wait. Moved from, a
/// failed one has no error any more: to ask for it is a bug.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : data_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : data_(std::in_place_index<1>, std::move(error)) {}
  // The constraint keeps the copies and moves that the check warns about.
  // NOLINTBEGIN(bugprone-forwarding-reference-overload)
  template <class U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Error> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result>) Result(U&& value)
      : data_(std::in_place_index<0>, std::forward<U>(value)) {}
  // NOLINTEND(bugprone-forwarding-reference-overload)

  bool ok() const { return data_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return Checked(); }
  const T& value() const& { return const_cast<Result*>(this)->Checked(); }
  T&& value() && { return std::move(Checked()); }
  T& operator*() & { return Checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(Checked()); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &value(); }
  T value_or(T other) const& { return ok() ? value() : std::move(other); }

  Error& error() & { return Failed(); }
  const Error& error() const& { return const_cast<Result*>(this)->Failed(); }
  Error&& error() && { return std::move(Failed()); }

 private:
  T& Checked() {
    JM_CHECK(ok(), "value() of a failed Result");
    return *std::get_if<0>(&data_);
  }
  Error& Failed() {
    JM_CHECK(!ok(), "error() of a good Result");
    Rare<Error>& error = *std::get_if<1>(&data_);
    JM_CHECK(error.has_value(), "error() of a Result that was moved from");
    return *error;
  }
  std::variant<T, Rare<Error>> data_;
};

using Status = Result<std::monostate>;
inline Status Ok() {
  return std::monostate{};
}

Error InvalidArgument(std::string message, std::string hint = {});
Error NotFound(std::string message, std::string hint = {});
Error Internal(std::string message);
/// From errno, with a reason where code acts on it (disk full, not writable): "opening F:
/// Permission denied".
Error FromErrno(int error_number, const std::string& doing);

}  // namespace jobman::base

#define JM_CONCAT_INNER(a, b) a##b
#define JM_CONCAT(a, b) JM_CONCAT_INNER(a, b)
/// Returns the Error of a Status (or Result) expression.
#define JM_TRY(expr)                                                                   \
  do {                                                                                 \
    if (auto jm_status = (expr); !jm_status.ok()) return std::move(jm_status).error(); \
  } while (false)
/// JM_ASSIGN_OR_RETURN(auto token, tokens.Get()); declares, or returns the Error.
#define JM_ASSIGN_OR_RETURN(decl, expr) \
  JM_ASSIGN_IMPL(JM_CONCAT(jm_result_, __LINE__), decl, expr, return )
/// The same inside a coroutine; `expr` may contain co_await.
#define JM_CO_TRY(expr)                                                                   \
  do {                                                                                    \
    if (auto jm_status = (expr); !jm_status.ok()) co_return std::move(jm_status).error(); \
  } while (false)
#define JM_CO_ASSIGN_OR_RETURN(decl, expr) \
  JM_ASSIGN_IMPL(JM_CONCAT(jm_result_, __LINE__), decl, expr, co_return )
// `decl` and `give_back` are not expressions.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define JM_ASSIGN_IMPL(result, decl, expr, give_back)    \
  auto result = (expr);                                  \
  if (!result.ok()) give_back std::move(result).error(); \
  decl = std::move(result).value()
// NOLINTEND(bugprone-macro-parentheses)

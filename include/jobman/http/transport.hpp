#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobman/base/task.hpp"

namespace jobman::http {

using base::Duration;
using base::Result;
using base::Task;

/// Header fields in wire order. Names are case-insensitive.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// The value of the first field of that name, if any.
std::optional<std::string> FindHeader(const Headers& headers, std::string_view name);
/// Replaces all fields of that name by one.
void SetHeader(Headers& headers, std::string_view name, std::string value);
/// The time of the server, from its Date field (RFC 9110 §6.6.1).
std::optional<base::TimePoint> DateOf(const Headers& headers);
/// "this machine's clock is 12m ahead of the server's"; empty if the two agree to a minute, or if
/// the server does not say its time.
std::string ClockTrouble(const Headers& headers, base::TimePoint now);
/// What to do then.
inline constexpr const char* kClockCure =
    "set the clock, for instance with timedatectl set-ntp true";

struct Request {
  std::string method = "GET";
  std::string url = {};  ///< absolute, http or https, already percent-encoded
  Headers headers = {};
  std::string body = {};
  Duration timeout = std::chrono::seconds{60};  ///< for the whole exchange
  bool direct = false;  ///< through no proxy, whatever the environment names
};

struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};  ///< decompressed
};

/// Carries one HTTP exchange. Any complete response, 404 and 500 included, is a Response.
///
/// Errors: kUnavailable with kUnreachable without a complete response (refused, reset, DNS, TLS,
/// garbage), kDeadlineExceeded on timeout, kInvalidArgument for an invalid URL, kOutOfRange for a
/// response that is too large. Messages name host, port and cause. Cancelling a call ends its
/// exchange at once. The object must outlive its coroutines.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Task<Result<Response>> Send(Request request) = 0;
};

}  // namespace jobman::http

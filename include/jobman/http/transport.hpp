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

/// Header fields in the order of the wire. Names compare without regard to case.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// The value of the first field of that name; nothing when there is none.
std::optional<std::string> FindHeader(const Headers& headers, std::string_view name);
/// Replaces every field of that name by one.
void SetHeader(Headers& headers, std::string_view name, std::string value);

struct Request {
  std::string method = "GET";
  std::string url = {};  ///< absolute, http or https, already percent-encoded
  Headers headers = {};
  std::string body = {};
  Duration timeout = std::chrono::seconds{60};  ///< for the whole exchange
};

struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};  ///< decompressed
};

/// Carries one HTTP exchange. Any status that arrives whole, 404 and 500 included, is a Response.
///
/// Errors: kUnavailable with kUnreachable when there was no whole answer (refused, reset, DNS, TLS,
/// garbage), kDeadlineExceeded when the time ran out, kInvalidArgument for a URL that is none,
/// kOutOfRange for an answer that is too large. Messages name host, port and cause.
/// A cancelled call ends its exchange at once. The object must outlive its coroutines.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Task<Result<Response>> Send(Request request) = 0;
};

}  // namespace jobman::http

#include "auth/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "auth/no_token.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/url.hpp"
#include "jobman/http/redact.hpp"
#include "jobman/http/url.hpp"

namespace jobman::auth {
namespace {

using base::Duration;
using base::Error;
using base::GetMember;
using base::GetString;
using base::Json;
using http::Response;

constexpr int kTries = 3;
constexpr Duration kFirstPause = std::chrono::seconds{1};
constexpr std::size_t kLongestSaid = 300;

/// What a server says of an error: RFC 6749 §5.2, or google.rpc.Status of Google's other APIs.
struct Said {
  std::string error = {};
  std::string subtype = {};
  std::string text = {};
};

Said SaidIn(const std::string& body) {
  const auto json = base::ParseJson(body);
  if (!json || !json->is_object()) return {};
  const Json& error = GetMember(*json, "error");
  if (error.is_object())
    return {.error = GetString(error, "status"), .text = GetString(error, "message")};
  return {.error = GetString(*json, "error"),
          .subtype = GetString(*json, "error_subtype"),
          .text = GetString(*json, "error_description")};
}

bool MayPass(const Response& response, const Said& said) {
  constexpr std::array<int, 6> kStatus = {408, 429, 500, 502, 503, 504};
  constexpr std::array<std::string_view, 3> kErrors = {"internal_failure", "server_error",
                                                       "temporarily_unavailable"};
  return std::find(kStatus.begin(), kStatus.end(), response.status) != kStatus.end() ||
         std::find(kErrors.begin(), kErrors.end(), said.error) != kErrors.end();
}

/// "HTTP 400 invalid_grant: Token has been expired or revoked."
std::string Quoted(const Response& response, const Said& said, const Asker& asker) {
  std::string text = fmt::format("HTTP {}", response.status);
  if (!said.error.empty()) text += " " + said.error;
  if (!said.text.empty()) text += ": " + said.text;
  for (const std::string& secret : asker.secrets) {
    if (secret.empty()) continue;
    // As it is, and as a form has it.
    for (const std::string& form : {secret, http::PercentEncode(secret)})
      text = base::ReplaceAll(std::move(text), form, std::string(http::kRedacted));
  }
  return base::Shorten(base::CleanLine(http::RedactText(text)), kLongestSaid);
}

Error Refused(const Response& response, const Said& said, const Asker& asker,
              const std::string& host, TimePoint now) {
  const std::string quoted = Quoted(response, said, asker);
  if (said.subtype == "invalid_rapt" || said.error == "invalid_rapt") {
    return NoToken(asker.origin + ": Google asks for a new login (" + quoted + ")", asker.cure);
  }
  const std::string clock = http::ClockTrouble(response.headers, now);
  if (!clock.empty() && said.error == "invalid_grant") {
    return NoToken(asker.origin + ": " + clock + " (" + quoted + ")", http::kClockCure);
  }
  return NoToken(asker.origin + ": " + host + " gives no token: " + quoted, asker.cure);
}

/// `cure`: of who could not reach the server, if that is known.
Error Passing(const std::string& why, const Asker& asker, const std::string& host,
              const std::string& cure) {
  return {.code = base::Code::kUnavailable,
          .message = asker.origin + ": " + host + " gives no token: " + why,
          .reason = base::Reason::kUnreachable,
          .hint = cure.empty() ? "check the network, or wait: it is tried again" : cure};
}

std::string HostOf(const std::string& url) {
  const auto parsed = base::ParseUrl(url);
  return parsed ? parsed->host : "the server of tokens";
}

}  // namespace

http::Request FormRequest(const std::string& url, const http::Headers& form) {
  return {.method = "POST",
          .url = url,
          .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
          .body = http::EncodeQuery(form)};
}

Result<AccessToken> ParseAnswer(const std::string& body, TimePoint sent, const Asker& asker) {
  if (!base::Trim(body).starts_with('{')) {
    return NoToken(asker.origin + ": the answer has no access token: it is no JSON", asker.cure);
  }
  return ParseToken(body, sent, asker.origin);
}

Task<Result<http::Response>> Exchange(Exchanger exchanger, Asker asker, http::Request request) {
  const std::string host = HostOf(request.url);
  request.timeout = exchanger.limit;
  http::SetHeader(request.headers, "Accept", "application/json");
  http::SetHeader(request.headers, "x-goog-api-client",
                  "gl-cpp/20 auth-request-type/at cred-type/" + asker.kind);
  Duration pause = kFirstPause;
  for (int attempt = 1;; ++attempt) {
    http::Request copy = request;
    const auto answer = co_await exchanger.transport->Send(std::move(copy));
    if (answer && answer->status >= 200 && answer->status < 300) co_return answer;
    const Said said = answer ? SaidIn(answer->body) : Said{};
    if (answer && !MayPass(*answer, said)) {
      co_return Refused(*answer, said, asker, host, exchanger.clock->Now());
    }
    const std::string why = answer ? Quoted(*answer, said, asker) : answer.error().ToString();
    const std::string cure = answer ? std::string() : answer.error().hint;
    if (attempt == kTries) co_return Passing(why, asker, host, cure);
    base::Log(base::LogLevel::kDebug, "auth", "{}: {}; trying again", host, why);
    co_await exchanger.sleep(pause);
    pause *= 2;
  }
}

}  // namespace jobman::auth

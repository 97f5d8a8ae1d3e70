#include "jobman/http/logging_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jobman::http {
namespace {

using base::LogLevel;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Canned final : public Transport {
 public:
  explicit Canned(Result<Response> answer) : answer_(std::move(answer)) {}
  Task<Result<Response>> Send(Request) override { co_return answer_; }

 private:
  Result<Response> answer_;
};

std::string LogOf(Result<Response> answer, LogLevel from) {
  std::string text;
  LogSink sink{
      .enabled = [from](LogLevel level) { return level >= from; },
      .line = [&text](LogLevel, std::string_view line) { text.append(line).append("\n"); }};
  auto logging = MakeLoggingTransport(std::make_unique<Canned>(answer), sink);
  asio::io_context loop;
  Request request{.method = "POST",
                  .url = "https://h/v2/x?access_token=SECRET",
                  .headers = {{"Authorization", "Bearer SECRET"}},
                  .body = R"({"metadata":{"ssh-keys":"SECRET"},"acceleratorType":"v4-8"})"};
  const auto got = base::RunTask(loop, logging->Send(std::move(request)));
  EXPECT_EQ(got.ok(), answer.ok());
  return text;
}

TEST(LoggingTransport, WritesOneLineAtDebugLevel) {
  const std::string text =
      LogOf(Response{.status = 404, .body = R"({"error":{}})"}, LogLevel::kDebug);
  EXPECT_THAT(text, ContainsRegex("^POST https://h/v2/x\\?access_token=.redacted. -> 404 in "
                                  "[0-9]+ ms, 59 bytes out, 12 bytes in\n$"));
}

TEST(LoggingTransport, WritesBodiesWithoutSecretsAtTraceLevel) {
  const Response answer{.status = 200,
                        .headers = {{"Set-Cookie", "SECRET"}},
                        .body = R"({"access_token":"SECRET","state":"READY"})"};
  const std::string text = LogOf(answer, LogLevel::kTrace);
  EXPECT_THAT(text, HasSubstr("v4-8"));
  EXPECT_THAT(text, HasSubstr("READY"));
  EXPECT_THAT(text, Not(HasSubstr("SECRET")));
}

TEST(LoggingTransport, WritesTheErrorOfAFailedExchange) {
  const base::Error error{.code = base::Code::kUnavailable, .message = "no answer from h port 443"};
  EXPECT_THAT(LogOf(error, LogLevel::kDebug), HasSubstr("no answer from h port 443"));
}

TEST(LoggingTransport, ShowsTheBeginningOfALargeBody) {
  const Response answer{.status = 200, .body = "[\"" + std::string(1'000'000, 'x') + "\"]"};
  EXPECT_LT(LogOf(answer, LogLevel::kTrace).size(), 70'000U);
}

TEST(LoggingTransport, IsSilentWithoutTheTopic) {
  EXPECT_EQ(LogOf(Response{.status = 200}, LogLevel::kError), "");
}

}  // namespace
}  // namespace jobman::http

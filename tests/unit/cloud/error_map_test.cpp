// The service's errors are in tests/data/errors: one recorded body per file, with the expected
// result.

#include "jobman/cloud/error_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "jobman/base/files.hpp"
#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using base::GetInt;
using base::GetMember;
using base::GetString;
using base::Json;
using base::Reason;
using test::Parse;
using testing::HasSubstr;
using testing::Not;

const ErrorContext kContext{.project = "my-project", .zone = "us-east5-a"};

std::vector<std::string> DataFiles() {
  std::vector<std::string> files;
  const base::Path folder = base::Path(JOBMAN_SOURCE_DIR) / "tests/data/errors";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

base::Error ErrorOf(const Json& sample) {
  const std::string origin = GetString(sample, "origin");
  const Json& body = GetMember(sample, "body");
  if (origin == "operation") return ErrorFromStatus(body, StatusOrigin::kOperation, kContext);
  if (origin == "queued") return ErrorFromStatus(body, StatusOrigin::kQueuedFailed, kContext);
  http::Response response{.status = static_cast<int>(GetInt(sample, "http_status"))};
  response.body = body.is_string() ? body.get<std::string>() : body.dump();
  for (const auto& [name, value] : GetMember(sample, "headers").items()) {
    response.headers.emplace_back(name, value.get<std::string>());
  }
  return ErrorFromResponse(response, kContext);
}

class RecordedError : public testing::TestWithParam<std::string> {};

TEST_P(RecordedError, IsClassifiedAndSaysWhatToDo) {
  const auto text = base::ReadFile(GetParam());
  ASSERT_TRUE(text.ok());
  const Json sample = Parse(*text);
  const Json& expect = GetMember(sample, "expect");
  const base::Error error = ErrorOf(sample);

  EXPECT_EQ(base::CodeName(error.code), GetString(expect, "code"));
  EXPECT_EQ(base::ReasonName(error.reason), GetString(expect, "reason"));
  EXPECT_THAT(error.message, HasSubstr(GetString(expect, "message_has")));
  EXPECT_THAT(error.hint, HasSubstr(GetString(expect, "hint_has")));
  EXPECT_EQ(error.hint.empty(), GetString(expect, "hint_has").empty());
  EXPECT_THAT(error.message, Not(HasSubstr("EID")));
  const std::int64_t wait = error.retry_after ? error.retry_after->count() : 0;
  EXPECT_EQ(wait, GetInt(expect, "retry_after"));
}

INSTANTIATE_TEST_SUITE_P(Data, RecordedError, testing::ValuesIn(DataFiles()), [](const auto& file) {
  return std::filesystem::path(file.param).stem().string();
});

TEST(ErrorFromResponse, FallsBackToTheHttpStatus) {
  const auto code = [](int status) { return ErrorFromResponse({.status = status}, kContext).code; };
  EXPECT_EQ(code(400), Code::kInvalidArgument);
  EXPECT_EQ(code(401), Code::kUnauthenticated);
  EXPECT_EQ(code(403), Code::kPermissionDenied);
  EXPECT_EQ(code(409), Code::kAborted);
  EXPECT_EQ(code(418), Code::kUnknown);
  EXPECT_EQ(code(429), Code::kResourceExhausted);
  EXPECT_EQ(code(500), Code::kInternal);
  EXPECT_EQ(code(502), Code::kUnavailable);
  EXPECT_EQ(code(503), Code::kUnavailable);
  EXPECT_EQ(code(504), Code::kDeadlineExceeded);
}

TEST(ErrorFromResponse, OnlyTheApiSaysThatSomethingIsNotThere) {
  const auto code = [](int status, const char* body) {
    return ErrorFromResponse({.status = status, .body = body}, kContext).code;
  };
  for (const char* body : {"", "<html>Not Found</html>", "{}", R"({"error":"not_found"})",
                           R"({"error":{"message":"x"}})", R"({"error":{"code":500}})", "[404]"}) {
    EXPECT_EQ(code(404, body), Code::kUnavailable) << body;
    EXPECT_EQ(code(410, body), Code::kUnavailable) << body;
  }
  EXPECT_EQ(code(404, R"({"error":{"code":404,"message":"x"}})"), Code::kNotFound);
  EXPECT_EQ(code(404, R"({"error":{"status":"NOT_FOUND"}})"), Code::kNotFound);
  EXPECT_THAT(ErrorFromResponse({.status = 404}, kContext).hint, HasSubstr("cloud.endpoint"));
  const auto message = [](const char* body) {
    return ErrorFromResponse({.status = 404, .body = body}, kContext).message;
  };
  EXPECT_EQ(message("<html>"),
            "HTTP status 404 (not found), which is not the answer of the Cloud TPU API");
  EXPECT_EQ(
      message("<html>No such page</html>"),
      "HTTP status 404 (not found), which is not the answer of the Cloud TPU API: No such page");
}

TEST(ErrorFromResponse, ShowsThePlainTextOfAPage) {
  const auto message = [](const std::string& body) {
    return ErrorFromResponse({.status = 502, .body = body}, kContext).message;
  };
  EXPECT_EQ(message("<!DOCTYPE html>\n<title>Error 502</title><STYLE>*{margin:0}</STYLE>\n"
                    "<p>Try  again <b>later</b>.<script>if (1<2) {}</script>"),
            "HTTP status 502 (bad gateway): Error 502 Try again later .");
  for (const char* unfinished : {"<", "<style", "<style>*{", "<script", "<p", "<html></html>"}) {
    EXPECT_EQ(message(unfinished), "HTTP status 502 (bad gateway)") << unfinished;
  }
  EXPECT_EQ(message("<p>" + std::string(300, 'x')),
            "HTTP status 502 (bad gateway): " + std::string(200, 'x') + "...");
}

TEST(ErrorFromResponse, ReadsEveryShapeOfBody) {
  for (const char* body : {"", "null", "[]", "{}", R"({"error":"x"})", R"({"error":{"details":7}})",
                           R"({"error":{"details":[null,{"@type":1}],"message":5}})"}) {
    const base::Error error = ErrorFromResponse({.status = 503, .body = body}, kContext);
    EXPECT_EQ(error.code, Code::kUnavailable) << body;
    EXPECT_EQ(error.message, "HTTP status 503 (unavailable)") << body;
  }
}

TEST(ErrorFromResponse, AnOrganisationThatRequiresOsLoginIsNamedWithTheCure) {
  const base::Error error = ErrorFromResponse(
      {.status = 412, .body = R"({"error":{"code":412,"status":"FAILED_PRECONDITION","message":
                   "Constraint constraints/compute.requireOsLogin violated for project lab."}})"},
      kContext);
  EXPECT_EQ(error.code, Code::kFailedPrecondition);
  EXPECT_TRUE(error.hint.starts_with("your organisation requires OS Login: set ssh.os_login: true"))
      << error.hint;
}

TEST(ErrorFromResponse, DoesNotRepeatATokenFromAnErrorPage) {
  const base::Error error =
      ErrorFromResponse({.status = 400, .body = "you sent Authorization: Bearer SECRET"}, kContext);
  EXPECT_THAT(error.message, Not(HasSubstr("SECRET")));
}

TEST(ErrorFromResponse, BoundsRetryAfter) {
  const base::Error error =
      ErrorFromResponse({.status = 429, .headers = {{"retry-after", "999999999"}}}, kContext);
  EXPECT_EQ(error.retry_after, std::chrono::seconds{3600});
  const base::Error nonsense =
      ErrorFromResponse({.status = 429, .headers = {{"Retry-After", "soon"}}}, kContext);
  EXPECT_FALSE(nonsense.retry_after.has_value());
}

TEST(ErrorFromStatus, SurvivesUnknownCodes) {
  for (const char* text : {R"({"code":99,"message":"m"})", R"({"code":-1,"message":"m"})",
                           R"({"message":"m"})", R"({"code":0,"message":"m"})"}) {
    const base::Error error = ErrorFromStatus(Parse(text), StatusOrigin::kOperation, kContext);
    EXPECT_EQ(error.code, Code::kUnknown) << text;
    EXPECT_EQ(error.message, "m");
  }
}

TEST(ErrorFromStatus, KeepsAnInternalErrorOfAnOperation) {
  const Json status = Parse(R"({"code":13,"message":"an internal error has occurred"})");
  EXPECT_EQ(ErrorFromStatus(status, StatusOrigin::kOperation, kContext).reason, Reason::kNone);
}

TEST(ErrorFromResponse, NamesTheTargetOfARedirection) {
  const base::Error error = ErrorFromResponse(
      {.status = 302, .headers = {{"Location", "https://login.example/"}}}, kContext);
  EXPECT_EQ(error.code, Code::kFailedPrecondition);
  EXPECT_EQ(error.message, "the endpoint redirects to https://login.example/ (HTTP status 302)");
  EXPECT_THAT(error.hint, HasSubstr("--endpoint"));
}

TEST(ErrorFromResponse, CutsAnEndlessMessage) {
  const std::string body = R"({"error":{"message":")" + std::string(200'000, 'x') + R"("}})";
  EXPECT_EQ(ErrorFromResponse({.status = 500, .body = body}, kContext).message,
            std::string(2000, 'x') + "...");
}

TEST(ErrorFromResponse, ReadsAndShowsTheBeginningOfALongMessage) {
  std::string message;
  for (int i = 0; i < 100'000; ++i) message += "bearer abc ";
  const Json body = {{"error", {{"status", "RESOURCE_EXHAUSTED"}, {"message", message}}}};
  const auto error = ErrorFromResponse({.status = 429, .body = body.dump()}, kContext);
  EXPECT_EQ(error.message.size(), 2003U);
  EXPECT_THAT(error.message, Not(HasSubstr("abc")));
}

TEST(ErrorFromResponse, ARedirectShowsNoSecretOfItsTarget) {
  const auto error = ErrorFromResponse(
      {.status = 302, .headers = {{"Location", "https://x/?access_token=SECRET"}}}, kContext);
  EXPECT_THAT(error.message, Not(HasSubstr("SECRET")));
}

}  // namespace
}  // namespace jobman::cloud

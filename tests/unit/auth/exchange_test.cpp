// Servers of tokens that refuse, stumble, or are hostile.
#include "tests/unit/auth/credentials_fixture.hpp"

namespace jobman::auth {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class ExchangeTest : public CredentialsTest {
 protected:
  std::string Refusal(int status, const std::string& body, http::Headers headers = {}) {
    server->answers.clear();
    server->Answer(status, body, std::move(headers));
    return TokenOf(User());
  }
};

TEST_F(ExchangeTest, WhatIsRefusedSaysWhatToDo) {
  const std::string revoked = Refusal(
      400, R"({"error":"invalid_grant","error_description":"Token has been expired or revoked."})");
  EXPECT_THAT(revoked, HasSubstr("oauth2.googleapis.com gives no token: HTTP 400 invalid_grant: "
                                 "Token has been expired or revoked."));
  EXPECT_THAT(revoked, HasSubstr("gcloud auth application-default login"));
  EXPECT_THAT(server->requests, SizeIs(1)) << "it is not tried again";
  EXPECT_THAT(Refusal(400, R"({"error":"invalid_grant","error_subtype":"invalid_rapt"})"),
              HasSubstr("Google asks for a new login"));
  EXPECT_THAT(Refusal(401, R"({"error":"invalid_client"})"), HasSubstr("HTTP 401 invalid_client"));
  EXPECT_THAT(Refusal(404, "<html>not here</html>"), HasSubstr("gives no token: HTTP 404"));
}

TEST_F(ExchangeTest, AWrongClockIsNamed) {
  const std::string body =
      R"({"error":"invalid_grant","error_description":"Invalid JWT: Token must be short-lived"})";
  // The clock of the test says 00:00.
  EXPECT_THAT(Refusal(400, body, {{"Date", "Thu, 01 Jan 2026 00:12:00 GMT"}}),
              HasSubstr("this machine's clock is 12m behind the server's"));
  EXPECT_THAT(Refusal(400, body, {{"Date", "Wed, 31 Dec 2025 22:00:00 GMT"}}),
              HasSubstr("this machine's clock is 2h ahead of the server's"));
  EXPECT_THAT(Refusal(400, body, {{"Date", "Thu, 01 Jan 2026 00:00:30 GMT"}}),
              Not(HasSubstr("clock")));
  EXPECT_THAT(Refusal(400, body, {{"Date", "tomorrow"}}), Not(HasSubstr("clock")));
}

TEST_F(ExchangeTest, WhatPassesIsTriedThreeTimes) {
  server->Answer(503, "");
  server->Answer(400, R"({"error":"temporarily_unavailable"})");
  Grant("t");
  EXPECT_EQ(TokenOf(User()), "t");
  EXPECT_THAT(server->requests, SizeIs(3));
  EXPECT_THAT(pauses, testing::ElementsAre(std::chrono::seconds{1}, std::chrono::seconds{2}));
  for (int i = 0; i < 3; ++i) server->Answer(500, "");
  auto identity = Choose(User());
  const auto token = Get(*identity);
  ASSERT_FALSE(token.ok());
  EXPECT_EQ(token.error().code, base::Code::kUnavailable) << "it may pass";
  EXPECT_THAT(token.error().message, HasSubstr("HTTP 500"));
  EXPECT_THAT(server->requests, SizeIs(6));
}

TEST_F(ExchangeTest, AServerThatCannotBeReachedIsNamed) {
  for (int i = 0; i < 3; ++i) {
    server->Fail({.code = base::Code::kUnavailable, .message = "connection refused"});
  }
  const std::string why = TokenOf(User());
  EXPECT_THAT(why, HasSubstr("oauth2.googleapis.com gives no token: connection refused"));
}

TEST_F(ExchangeTest, WhyAServerCannotBeReachedIsCuredAsItsCauseSays) {
  for (int i = 0; i < 3; ++i) {
    server->Fail({.code = base::Code::kUnavailable,
                  .message = "certificate has expired",
                  .hint = "check the CA certificates"});
  }
  EXPECT_THAT(TokenOf(User()), HasSubstr("; check the CA certificates"));
}

TEST_F(ExchangeTest, ATokenThatIsValidOutlivesATroubledServer) {
  Grant("one");
  auto identity = Choose(User());
  EXPECT_EQ(Get(*identity)->value, "one");
  clock.Advance(std::chrono::minutes{56});
  for (int i = 0; i < 3; ++i) server->Answer(503, "");
  EXPECT_EQ(Get(*identity)->value, "one");
  clock.Advance(std::chrono::minutes{5});
  for (int i = 0; i < 3; ++i) server->Answer(503, "");
  EXPECT_FALSE(Get(*identity).ok()) << "it has expired";
}

TEST_F(ExchangeTest, NothingThatIsSecretIsRepeated) {
  const std::string why = Refusal(
      400,
      R"({"error":"invalid_grant","error_description":)"
      R"("no 1//refresh/secret of GOCSPX-secret, ya29.abcdefghijklmnop, 1%2F%2Frefresh%2Fsecret"})");
  EXPECT_THAT(why, HasSubstr("no [redacted] of [redacted], [redacted], [redacted]"));
}

TEST_F(ExchangeTest, AnswersThatAreNoneAreRefused) {
  for (const char* body : {"", "<html>", "[]", "{}", R"({"access_token":""})",
                           R"({"access_token":"a b"})", R"({"access_token":7})"}) {
    const std::string why = Refusal(200, body);
    EXPECT_THAT(why, HasSubstr("credentials.json")) << body;
    EXPECT_THAT(why, HasSubstr("access")) << body;
  }
}

}  // namespace
}  // namespace jobman::auth

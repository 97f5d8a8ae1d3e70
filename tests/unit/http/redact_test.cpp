#include "jobman/http/redact.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jobman::http {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(IsSecretName, KnowsTheNames) {
  for (const char* name :
       {"Authorization", "access_token", "refresh_token", "id_token", "assertion", "client_secret",
        "ssh-keys", "startup-script", "shutdown-script", "MY_PASSWORD", "db_passwd",
        "WANDB_API_KEY", "privateKey", "Set-Cookie", "AWS_CREDENTIALS", "subject_token", "rapt"}) {
    EXPECT_TRUE(IsSecretName(name)) << name;
  }
  for (const char* name : {"name", "pageToken", "nextPageToken", "state", "labels", "key"}) {
    EXPECT_FALSE(IsSecretName(name)) << name;
  }
}

TEST(RedactBody, LeavesNoSecretOfAJsonBody) {
  const std::string body = R"({"tpu":{"nodeSpec":[{"node":{"acceleratorType":"v4-8","metadata":{
      "ssh-keys":"me:ssh-ed25519 SECRETKEY me","startup-script":"export T=SECRETSCRIPT",
      "HF_TOKEN":"SECRETHF"}}}]},"items":[{"key":"ssh-keys","value":"SECRETITEM"}],
      "access_token":"SECRETACCESS","nested":[[{"client_secret":{"deep":"SECRETDEEP"}}]],
      "message":"sent Bearer SECRETBEARER and ya29.SECRETYA"})";
  const std::string shown = RedactBody(body);
  EXPECT_THAT(shown, Not(HasSubstr("SECRET")));
  EXPECT_THAT(shown, HasSubstr(R"("acceleratorType":"v4-8")"));
  EXPECT_THAT(shown, HasSubstr(kRedacted));
}

TEST(RedactBody, LeavesNoSecretOfAForm) {
  const std::string shown =
      RedactBody("grant_type=refresh_token&refresh_token=SECRET1&client_secret=SECRET2&x=1");
  EXPECT_THAT(shown, Not(HasSubstr("SECRET")));
  EXPECT_THAT(shown, HasSubstr("grant_type=refresh_token"));
  EXPECT_THAT(shown, HasSubstr("x=1"));
}

TEST(RedactBody, HidesBodiesThatItCannotRead) {
  EXPECT_EQ(RedactBody("access_token: SECRET\nfoo"), "(24 bytes, not JSON)");
  EXPECT_EQ(RedactBody(R"("SECRET")"), "(8 bytes, not JSON)");
  EXPECT_EQ(RedactBody(R"({"access_token":"SECRET")"), "(24 bytes, not JSON)");
  EXPECT_EQ(RedactBody(""), "");
}

TEST(RedactBody, SurvivesBytesThatAreNotText) {
  EXPECT_THAT(RedactBody("{\"a\":\"\xff\"}"), Not(HasSubstr("\xff")));
}

TEST(RedactUrl, HidesSecretParameters) {
  EXPECT_EQ(RedactUrl("https://h/p?access_token=SECRET&pageToken=abc"),
            "https://h/p?access_token=[redacted]&pageToken=abc");
  EXPECT_EQ(RedactUrl("https://h/p#access_token=SECRET&x=1"),
            "https://h/p#access_token=[redacted]&x=1");
  EXPECT_EQ(RedactUrl("https://h/p"), "https://h/p");
}

TEST(RedactHeaders, HidesAuthorization) {
  const Headers shown =
      RedactHeaders({{"authorization", "Bearer SECRET"}, {"Accept", "application/json"}});
  EXPECT_EQ(FindHeader(shown, "Authorization"), "[redacted]");
  EXPECT_EQ(FindHeader(shown, "accept"), "application/json");
}

TEST(RedactText, HidesEveryBearerToken) {
  EXPECT_EQ(RedactText("a BEARER x1 b bearer x2"), "a BEARER [redacted] b bearer [redacted]");
  EXPECT_EQ(RedactText("bearer "), "bearer ");
  EXPECT_EQ(RedactText("Bearer bearer x"), "Bearer [redacted] x");
  EXPECT_EQ(RedactText("see YA29.a-b_c, or bearer ya29.x"), "see [redacted], or bearer [redacted]");
}

/// Tokens of other identity providers, which a program or a server of theirs may repeat.
TEST(RedactText, LeavesNoJwt) {
  const std::string jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl-_";
  EXPECT_EQ(RedactText("got " + jwt + ", and '" + jwt + "'"), "got [redacted], and '[redacted]'");
  EXPECT_THAT(RedactBody(R"({"value":")" + jwt + R"("})"), HasSubstr(R"({"value":"[redacted]"})"));
  for (const char* plain : {"eyJ", "see eyJust.a.word", "keyJhbGciOiJSUzI1NiJ9.a.b.c.d.e.f"})
    EXPECT_EQ(RedactText(plain), plain);
}

/// Once per token over the whole text, this would take hours.
TEST(RedactText, GoesOverATextOnce) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "bearer x ya29.y ";
  const std::string shown = RedactText(text);
  EXPECT_THAT(shown.substr(0, 100), HasSubstr("bearer [redacted] [redacted] bearer [redacted]"));
  EXPECT_EQ(shown.size(), text.size() + 1'000'000 * (9 + 4));
}

}  // namespace
}  // namespace jobman::http

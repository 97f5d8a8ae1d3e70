// What every request must show before any path sees it.
#include "sim/wire/gate.hpp"

#include <gtest/gtest.h>

namespace jobman::sim {
namespace {

int StatusOf(const Envelope& envelope, const std::string& token = "secret") {
  const auto refusal = Gate(token).Refusal(envelope);
  return refusal ? refusal->status : 200;
}

Envelope Ours() {
  return {.host = "127.0.0.1:8400", .token = "secret"};
}

TEST(Gate, WantsTheToken) {
  EXPECT_EQ(StatusOf(Ours()), 200);
  Envelope envelope = Ours();
  for (const char* token : {"", "secre", "secret ", "secrets", "Secret"}) {
    envelope.token = token;
    EXPECT_EQ(StatusOf(envelope), 401) << token;
  }
  envelope.token = "";
  EXPECT_EQ(StatusOf(envelope, ""), 401) << "no token opens nothing";
}

TEST(Gate, RefusesInTheFormOfTheApi) {
  Envelope envelope = Ours();
  envelope.token = "wrong";
  const Json wrong = Gate("secret").Refusal(envelope)->body["error"];
  EXPECT_EQ(wrong["code"], 401);
  EXPECT_EQ(wrong["status"], "UNAUTHENTICATED");
  EXPECT_EQ(wrong["details"][0]["reason"], "ACCESS_TOKEN_EXPIRED");
  envelope.token = "";
  EXPECT_EQ(Gate("secret").Refusal(envelope)->body["error"]["details"][0]["reason"],
            "CREDENTIALS_MISSING");
}

TEST(Gate, WantsAHostThatIsThisMachine) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:80", "localhost", "LocalHost:1", "[::1]", "[::1]:8400"}) {
    EXPECT_TRUE(IsThisMachine(host)) << host;
  }
  Envelope envelope = Ours();
  for (const char* host : {"", "example.org", "example.org:8400", "127.0.0.1.example.org",
                           "localhost.example.org", "127.0.0.1:", "127.0.0.1:8400x",
                           "127.0.0.1:8400@example.org", "127.0.0.2", "::1", "0.0.0.0:8400"}) {
    envelope.host = host;
    EXPECT_EQ(StatusOf(envelope), 403) << host;
  }
}

TEST(Gate, RefusesBrowsers) {
  Envelope envelope = Ours();
  envelope.has_origin = true;
  EXPECT_EQ(StatusOf(envelope), 403);
}

TEST(Gate, WantsBodiesOfJson) {
  Envelope envelope = Ours();
  envelope.has_body = true;
  for (const char* type :
       {"application/json", "application/json; charset=UTF-8", "Application/JSON;charset=utf-8"}) {
    envelope.content = type;
    EXPECT_EQ(StatusOf(envelope), 200) << type;
  }
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded",
                           "multipart/form-data; boundary=x", "application/jsonx"}) {
    envelope.content = type;
    EXPECT_EQ(StatusOf(envelope), 415) << type;
  }
  envelope.has_body = false;
  EXPECT_EQ(StatusOf(envelope), 200);
}

}  // namespace
}  // namespace jobman::sim

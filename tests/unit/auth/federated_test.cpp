// Workloads that another identity provider knows.
#include "tests/unit/auth/credentials_fixture.hpp"

namespace jobman::auth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class FederatedTest : public CredentialsTest {
 protected:
  FederatedTest() { Write("subject", "the-subject\n"); }
  void Write(const std::string& name, const std::string& text, bool program = false) {
    ASSERT_TRUE(base::WriteFileAtomic(dir / name, text, program ? 0700 : 0600).ok());
  }
  base::Json File(base::Json source) const {
    return {{"type", "external_account"},
            {"audience", "//iam.googleapis.com/pools/p"},
            {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"},
            {"token_url", "https://sts.googleapis.com/v1/token"},
            {"credential_source", std::move(source)}};
  }
  base::Json OfFile() const { return File({{"file", (dir / "subject").string()}}); }
  base::Json OfProgram(const std::string& script) {
    Write("program", "#!/bin/sh\n" + script, true);
    const base::Json run = {{"command", (dir / "program").string() + " one  two"},
                            {"timeout_millis", 5000},
                            {"output_file", (dir / "kept").string()}};
    return File({{"executable", run}});
  }
};

TEST_F(FederatedTest, TheTokenOfAFileIsExchanged) {
  Grant("federated");
  EXPECT_EQ(TokenOf(OfFile()), "federated");
  EXPECT_EQ(Sent(0).url, "https://sts.googleapis.com/v1/token");
  const std::map<std::string, std::string> form = {
      {"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
      {"audience", "//iam.googleapis.com/pools/p"},
      {"scope", "https://www.googleapis.com/auth/cloud-platform"},
      {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
      {"subject_token", "the-subject"},
      {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"}};
  EXPECT_EQ(Form(0), form);
}

TEST_F(FederatedTest, AsAServiceAccountItAsksForLess) {
  Grant("federated");
  server->Answer(200, R"({"accessToken":"robot","expireTime":"2026-01-01T01:00:00Z"})");
  base::Json file = OfFile();
  file["service_account_impersonation_url"] =
      "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/r@p:generateAccessToken";
  EXPECT_EQ(TokenOf(file), "robot");
  EXPECT_EQ(Form(0).at("scope"), "https://www.googleapis.com/auth/iam");
  EXPECT_EQ(Header(1, "Authorization"), "Bearer federated");
}

TEST_F(FederatedTest, TheFileSaysHowLongTokensToActAsAnAccountLive) {
  base::Json file = OfFile();
  file["service_account_impersonation_url"] =
      "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/r@p:generateAccessToken";
  const auto lifetime = [this, &file](const base::Json& seconds) {
    file["service_account_impersonation"] = {{"token_lifetime_seconds", seconds}};
    server->answers.clear();
    Grant("federated");
    server->Answer(200, R"({"accessToken":"robot","expireTime":"2026-01-01T01:00:00Z"})");
    const std::string got = TokenOf(file);
    if (got != "robot") return got;
    const auto asked = base::ParseJson(server->requests.back().body).value_or(base::Json());
    return base::GetString(asked, "lifetime");
  };
  EXPECT_EQ(lifetime(2800), "2800s");
  EXPECT_EQ(lifetime(600), "600s");
  EXPECT_EQ(lifetime(43200), "43200s");
  EXPECT_EQ(lifetime(nullptr), "3600s");
  for (const base::Json& wrong : {base::Json(599), base::Json(43201), base::Json(-1),
                                  base::Json("long"), base::Json::object()}) {
    EXPECT_THAT(lifetime(wrong), HasSubstr("its \"token_lifetime_seconds\" is no number from 600"))
        << wrong.dump();
  }
}

TEST_F(FederatedTest, AWorkforcePoolIsToldWhichProjectPays) {
  constexpr const char* kPool =
      "//iam.googleapis.com/locations/global/workforcePools/p/providers/q";
  base::Json file = OfFile();
  file["workforce_pool_user_project"] = "payer";
  EXPECT_THAT(TokenOf(file),
              HasSubstr("its \"workforce_pool_user_project\" needs the \"audience\""));
  file["audience"] = kPool;
  Grant("t");
  EXPECT_EQ(TokenOf(file), "t");
  EXPECT_EQ(Form(0).at("options"), R"({"userProject":"payer"})");
  file["client_id"] = "the-client";
  file["client_secret"] = "the-secret";
  Grant("t");
  EXPECT_EQ(TokenOf(file), "t");
  EXPECT_FALSE(Form(1).contains("options")) << "the client has a project";
}

TEST_F(FederatedTest, AFieldOfJson) {
  Write("subject", R"({"access_token":"inside"})");
  Grant("t");
  const base::Json format = {{"type", "json"}, {"subject_token_field_name", "access_token"}};
  base::Json file = File({{"file", (dir / "subject").string()}, {"format", format}});
  EXPECT_EQ(TokenOf(file), "t");
  EXPECT_EQ(Form(0).at("subject_token"), "inside");
  file["credential_source"]["format"]["subject_token_field_name"] = "other";
  EXPECT_THAT(TokenOf(file), HasSubstr("there is no \"other\""));
  file["credential_source"]["format"]["type"] = "xml";
  EXPECT_THAT(TokenOf(file), HasSubstr("neither text nor json"));
}

TEST_F(FederatedTest, TheTokenOfAUrl) {
  server->Answer(200, "from-url");
  Grant("t");
  EXPECT_EQ(
      TokenOf(File({{"url", "http://169.254.169.254/token"}, {"headers", {{"Metadata", "true"}}}})),
      "t");
  EXPECT_EQ(Sent(0).url, "http://169.254.169.254/token");
  EXPECT_EQ(Header(0, "Metadata"), "true");
  EXPECT_EQ(Form(1).at("subject_token"), "from-url");
}

TEST_F(FederatedTest, AUrlThatOthersCanReadOnTheWayIsRefused) {
  for (const char* open : {"http://idp.example.com/token", "HTTP://169.254.169.254.example.com/",
                           "http://169.255.0.1/token", "http://10.0.0.1/token"}) {
    EXPECT_THAT(
        WhyNot(File({{"url", open}})),
        testing::AllOf(HasSubstr("its source is plain http to "), HasSubstr("use an https")))
        << open;
  }
  EXPECT_THAT(WhyNot(File({{"url", "ftp://idp.example.com/"}})),
              HasSubstr("is no http or https URL"));
  for (const char* safe :
       {"https://idp.example.com/token", "http://127.0.0.1:8080/token", "http://169.254.1.2/token",
        "http://metadata.google.internal/computeMetadata/v1/identity"}) {
    EXPECT_EQ(WhyNot(File({{"url", safe}})), "") << safe;
  }
}

TEST_F(FederatedTest, AProgramIsRunOnlyIfThatIsAllowed) {
  const base::Json file = OfProgram("echo called >>" + (dir / "calls").string());
  EXPECT_THAT(TokenOf(file), HasSubstr("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1"));
  EXPECT_FALSE(std::filesystem::exists(dir / "calls"));
}

TEST_F(FederatedTest, AProgramIsToldWhatItsTokenIsFor) {
  env["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
  Grant("t");
  EXPECT_EQ(TokenOf(OfProgram(R"(
echo "$1 $2 $GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE $GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE" >&2
printf '{"version":1,"success":true,"token_type":"%s","id_token":"%s"}' \
  "$GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE" "$1-$2"
)")),
            "t");
  EXPECT_EQ(Form(0).at("subject_token"), "one-two");
}

TEST_F(FederatedTest, WhatAProgramKeptIsUsedWhileItIsValid) {
  env["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
  const base::Json file = OfProgram("exit 9\n");
  const auto keep = [this](std::int64_t until) {
    Write("kept", R"({"version":1,"success":true,"token_type":"x","id_token":"kept",)"
                  R"("expiration_time":)" +
                      std::to_string(until) + "}");
  };
  keep(1'767'225'660);
  Grant("t");
  EXPECT_EQ(TokenOf(file), "t");
  EXPECT_EQ(Form(0).at("subject_token"), "kept");
  keep(1'767'225'500);
  EXPECT_THAT(TokenOf(file), HasSubstr("ended with exit code 9")) << "it has expired";
  keep(std::numeric_limits<std::int64_t>::max());
  Grant("t");
  EXPECT_EQ(TokenOf(file), "t");
}

TEST_F(FederatedTest, WhatOthersCanWriteIsNoKeptToken) {
  env["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
  const base::Json file = OfProgram("exit 9\n");
  Write("kept", R"({"version":1,"success":true,"token_type":"x","id_token":"kept",)"
                R"("expiration_time":1767225660})");
  std::filesystem::permissions(dir / "kept", std::filesystem::perms{0666});
  Grant("t");
  EXPECT_THAT(TokenOf(file), testing::AllOf(HasSubstr("the output file of the program of "),
                                            HasSubstr("put it into a folder of your own")));
  EXPECT_THAT(server->requests, testing::IsEmpty());
}

TEST_F(FederatedTest, AServerThatRepeatsTheHeadersIsNotQuotedWithThem) {
  const base::Json headers = {{"Authorization", "Bearer idp/secret"}, {"X-Key", "other-secret"}};
  server->Answer(403, R"({"error":"denied","error_description":)"
                      R"("no idp/secret, no idp%2Fsecret, no other-secret"})");
  EXPECT_THAT(TokenOf(File({{"url", "https://idp.example.com/"}, {"headers", headers}})),
              testing::AllOf(HasSubstr("denied: no [redacted], no [redacted], no [redacted]"),
                             Not(HasSubstr("secret"))));
}

TEST_F(FederatedTest, AProgramThatFailsOrHangsIsNamed) {
  env["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
  EXPECT_THAT(
      TokenOf(OfProgram("echo ya29.abcdefghijklmnop no >&2; exit 3\n")),
      testing::AllOf(HasSubstr("ended with exit code 3: [redacted] no"), Not(HasSubstr("ya29"))));
  EXPECT_THAT(
      TokenOf(OfProgram(R"(echo '{"version":1,"success":false,"code":"401","message":"who?"}')")),
      HasSubstr("says 401: who?"));
  EXPECT_THAT(TokenOf(OfProgram("echo hello\n")), HasSubstr("answers with no JSON"));
  EXPECT_THAT(TokenOf(OfProgram("sleep 60\n")), HasSubstr("program one  two"));
}

TEST_F(FederatedTest, WhatIsNotThereIsNamed) {
  EXPECT_THAT(TokenOf(File({{"file", "/nowhere/token"}})), HasSubstr("/nowhere/token"));
  EXPECT_THAT(TokenOf(File({{"environment_id", "aws1"}})),
              HasSubstr("Amazon's cloud, which is not supported yet"));
  EXPECT_THAT(TokenOf(File({{"certificate", {{"use_default_certificate_config", true}}}})),
              HasSubstr("an X.509 certificate, which is not supported yet"));
  EXPECT_THAT(TokenOf(File({{"other", 1}})), HasSubstr("names no file, url or executable"));
  Write("subject", "  \n");
  EXPECT_THAT(TokenOf(OfFile()), HasSubstr("it is empty"));
}

}  // namespace
}  // namespace jobman::auth

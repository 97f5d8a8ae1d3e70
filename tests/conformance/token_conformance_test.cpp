// The requests for tokens whose services have a document: STS and IAM Credentials.
#include "tests/conformance/side_wire.hpp"
#include "tests/unit/auth/credentials_fixture.hpp"

namespace jobman::conformance {
namespace {

/// The exchange is sent as a form, as RFC 8693 has it; the document names its fields as JSON does.
Sent ExchangeIn(const http::Request& request, const std::map<std::string, std::string>& form) {
  Json body = Json::object();
  for (const auto& [name, value] : form) body[CamelCase(name)] = value;
  Sent sent = SentIn(request);
  sent.body = body.dump();
  return sent;
}

class TokenConformance : public auth::CredentialsTest {
 protected:
  TokenConformance() {
    EXPECT_TRUE(base::WriteFileAtomic(dir / "subject", "the-subject\n", 0600).ok());
  }
  Json Federated() const {
    return {{"type", "external_account"},
            {"audience", "//iam.googleapis.com/locations/global/workforcePools/p/providers/q"},
            {"subject_token_type", "urn:ietf:params:oauth:token-type:id_token"},
            {"token_url", "https://sts.googleapis.com/v1/token"},
            {"workforce_pool_user_project", "payer"},
            {"credential_source", {{"file", (dir / "subject").string()}}}};
  }
  void CheckActing(const http::Request& request) {
    EXPECT_EQ(ServiceAt(request.url), "iamcredentials.v1") << request.url;
    const Verdict verdict = JudgeRequest("iamcredentials.v1", SentIn(request));
    EXPECT_EQ(verdict.id, kActing) << request.url;
    EXPECT_THAT(verdict.faults, testing::IsEmpty()) << request.body;
  }

  static constexpr const char* kActing =
      "iamcredentials.projects.serviceAccounts.generateAccessToken";
  const std::string granted_ =
      R"({"access_token":"federated","expires_in":3599,"token_type":"Bearer"})";
  const std::string acting_ = R"({"accessToken":"robot","expireTime":"2026-01-01T01:00:00Z"})";
};

TEST_F(TokenConformance, AnExchangeAndWhatFollowsItAreOfTheDocuments) {
  impersonate = "robot@lab.iam.gserviceaccount.com";
  server->Answer(200, granted_);
  server->Answer(200, acting_);
  EXPECT_EQ(TokenOf(Federated()), "robot");
  ASSERT_EQ(server->requests.size(), 2U);
  EXPECT_TRUE(Form(0).contains("options"));
  const Verdict verdict = JudgeRequest("sts.v1", ExchangeIn(Sent(0), Form(0)));
  EXPECT_EQ(verdict.id, "sts.token");
  EXPECT_THAT(verdict.faults, testing::IsEmpty());
  CheckActing(Sent(1));
}

TEST_F(TokenConformance, AFileThatNamesDelegatesSendsThem) {
  server->Answer(200, granted_);
  server->Answer(200, acting_);
  const Json file = {{"type", "impersonated_service_account"},
                     {"source_credentials", User()},
                     {"delegates", {"a@lab.iam.gserviceaccount.com"}},
                     {"service_account_impersonation_url",
                      "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
                      "r@p:generateAccessToken"}};
  EXPECT_EQ(TokenOf(file), "robot");
  ASSERT_EQ(server->requests.size(), 2U);
  CheckActing(Sent(1));
}

TEST_F(TokenConformance, TheAnswersThatAreReadAreOfTheDocuments) {
  EXPECT_THAT(JudgeSideReply("sts.v1", "sts.token", Json::parse(granted_)), testing::IsEmpty());
  EXPECT_THAT(JudgeSideReply("iamcredentials.v1", kActing, Json::parse(acting_)),
              testing::IsEmpty());
}

}  // namespace
}  // namespace jobman::conformance

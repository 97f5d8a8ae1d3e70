#include "jobman/cloud/oslogin_api.hpp"

#include <gmock/gmock.h>

#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using test::Loop;
using test::Parse;
using testing::AllOf;
using testing::HasSubstr;

class OsLoginApiTest : public testing::Test {
 protected:
  Result<ports::ImportedLogin> Import(const std::string& account = "bot@lab.iam.example") {
    OsLoginApi api(std::make_unique<test::FakeTransport>(script),
                   {.endpoint = "https://oslogin.googleapis.com/",
                    .token_info = "https://oauth2.googleapis.com/tokeninfo",
                    .account = account});
    const ports::KeyToImport key{.project = "example.com:lab",
                                 .line = "ssh-ed25519 AAAA me",
                                 .expires = base::FromMillis(1'767'268'800'123)};
    return loop.Run(api.ImportKey(key));
  }
  Loop loop;
  std::shared_ptr<test::FakeTransport::Script> script =
      std::make_shared<test::FakeTransport::Script>();
};

constexpr const char* kProfile = R"({"loginProfile": {"name": "1", "posixAccounts": [
    {"username": "win", "operatingSystemType": "WINDOWS", "primary": true},
    {"username": "other", "operatingSystemType": "LINUX"},
    {"username": "sa_117", "operatingSystemType": "LINUX", "primary": true, "uid": "117"}]}})";

TEST_F(OsLoginApiTest, TheKeyIsImportedUntilItExpiresAndTheProfileNamesTheUser) {
  script->Answer(200, kProfile);
  const auto login = Import();
  ASSERT_TRUE(login.ok()) << login.error().ToString();
  EXPECT_EQ(login->account, "bot@lab.iam.example");
  EXPECT_EQ(login->user, "sa_117");
  ASSERT_EQ(script->requests.size(), 1U);
  EXPECT_EQ(script->requests[0].method, "POST");
  EXPECT_EQ(script->requests[0].url,
            "https://oslogin.googleapis.com/v1/users/bot%40lab.iam.example:importSshPublicKey"
            "?projectId=example.com%3Alab");
  EXPECT_EQ(Parse(script->requests[0].body),
            Parse(R"({"key":"ssh-ed25519 AAAA me","expirationTimeUsec":"1767268800123000"})"));
}

TEST_F(OsLoginApiTest, AnAccountThatIsNotKnownIsAskedFor) {
  script->Answer(200, R"({"email": "ann@example.com", "scope": "email"})");
  script->Answer(200, R"({"loginProfile": {"posixAccounts": [{"username": "ann_example_com"}]}})");
  const auto login = Import("");
  ASSERT_TRUE(login.ok()) << login.error().ToString();
  EXPECT_EQ(login->account, "ann@example.com");
  EXPECT_EQ(login->user, "ann_example_com");
  EXPECT_EQ(script->requests.at(0).url, "https://oauth2.googleapis.com/tokeninfo");
  EXPECT_EQ(script->requests.at(0).body, "") << "the token is in the header";
  EXPECT_THAT(script->requests.at(1).url, HasSubstr("/users/ann%40example.com:import"));
}

TEST_F(OsLoginApiTest, ATokenTellsWhoseItIsIfItMay) {
  test::FakeTransport transport(script);
  script->Answer(200, R"({"email": "ann@example.com"})");
  EXPECT_EQ(*loop.Run(AccountOfToken(&transport, "https://oauth2.googleapis.com/tokeninfo")),
            "ann@example.com");
  script->Answer(200, R"({"scope": "https://www.googleapis.com/auth/cloud-platform"})");
  EXPECT_EQ(*loop.Run(AccountOfToken(&transport, "https://oauth2.googleapis.com/tokeninfo")), "");
  EXPECT_EQ(script->requests.at(1).method, "POST");
  EXPECT_EQ(script->requests.at(1).body, "") << "the token is in the header";
}

TEST_F(OsLoginApiTest, OnlyGooglesCloudHasItsServerOfTokens) {
  const auth::Env nothing = [](const std::string&) { return std::optional<std::string>(); };
  EXPECT_EQ(*TokenInfoOf({}, nothing), "https://oauth2.googleapis.com/tokeninfo");
  core::CloudSpec other;
  other.endpoint = "http://127.0.0.1:8080";
  EXPECT_EQ(*TokenInfoOf(other, nothing), "");
}

TEST_F(OsLoginApiTest, WithoutAnAccountOrANameNobodyLogsIn) {
  script->Answer(200, R"({"scope": "https://www.googleapis.com/auth/cloud-platform"})");
  const auto unknown = Import("");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(unknown.error().hint, HasSubstr("cloud.credentials_file"));
  script->Answer(200, R"({"loginProfile": {"posixAccounts": []}})");
  EXPECT_THAT(Import().error().message, HasSubstr("gives bot@lab.iam.example no login name"));
}

TEST_F(OsLoginApiTest, ARefusalIsTheServices) {
  script->Answer(403, R"({"error": {"code": 403, "message": "OS Login API has not been used"}})");
  const auto refused = Import();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kPermissionDenied);
  EXPECT_THAT(refused.error().ToString(),
              AllOf(HasSubstr("importSshPublicKey"), HasSubstr("has not been used")));
  script->Answer(200, "<html>");
  const auto strange = Import();
  ASSERT_FALSE(strange.ok());
  EXPECT_EQ(strange.error().code, Code::kUnavailable);
  EXPECT_THAT(strange.error().message, HasSubstr("the answer is not that of OS Login: "));
  EXPECT_THAT(strange.error().hint, HasSubstr("JOBMAN_OSLOGIN_ENDPOINT"));
}

}  // namespace
}  // namespace jobman::cloud

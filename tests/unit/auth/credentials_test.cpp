// What each kind of credentials asks of whom.
#include "tests/unit/auth/credentials_fixture.hpp"

namespace jobman::auth {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kScope = "https://www.googleapis.com/auth/cloud-platform";
constexpr const char* kIam = "https://www.googleapis.com/auth/iam";
constexpr const char* kActs =
    "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
    "robot@lab.iam.gserviceaccount.com:generateAccessToken";

TEST_F(CredentialsTest, AUserIsARefreshToken) {
  Grant("ya29.user");
  auto identity = Choose(User());
  ASSERT_TRUE(identity.ok()) << identity.error().ToString();
  EXPECT_EQ(identity->quota_project, "payer");
  const auto token = Get(*identity);
  ASSERT_TRUE(token.ok()) << token.error().ToString();
  EXPECT_EQ(token->value, "ya29.user");
  EXPECT_EQ(token->expires, clock.Now() + std::chrono::seconds{3599});
  EXPECT_EQ(Sent(0).method, "POST");
  EXPECT_EQ(Sent(0).url, "https://oauth2.googleapis.com/token");
  EXPECT_EQ(Header(0, "x-goog-api-client"), "gl-cpp/20 auth-request-type/at cred-type/u");
  const std::map<std::string, std::string> form = {{"grant_type", "refresh_token"},
                                                   {"client_id", "the-client"},
                                                   {"client_secret", "GOCSPX-secret"},
                                                   {"refresh_token", "1//refresh/secret"}};
  EXPECT_EQ(Form(0), form);
}

TEST_F(CredentialsTest, TheAddressInAUsersFileIsNotFollowed) {
  Grant("t");
  base::Json file = User();
  file["token_uri"] = "https://evil.example.com/token";
  EXPECT_EQ(TokenOf(file), "t");
  EXPECT_EQ(Sent(0).url, "https://oauth2.googleapis.com/token");
}

TEST_F(CredentialsTest, ATokenIsCachedUntilFiveMinutesBeforeItsEnd) {
  Grant("one");
  Grant("two");
  auto identity = Choose(User());
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(Get(*identity)->value, "one");
  clock.Advance(std::chrono::minutes{54});
  EXPECT_EQ(Get(*identity)->value, "one");
  clock.Advance(std::chrono::minutes{1});
  EXPECT_EQ(Get(*identity)->value, "two");
  EXPECT_THAT(server->requests, SizeIs(2));
}

TEST_F(CredentialsTest, AServiceAccountSignsItsTokenItself) {
  auto identity = Choose(ServiceAccount());
  ASSERT_TRUE(identity.ok()) << identity.error().ToString();
  EXPECT_EQ(identity->account, "runner@lab.iam.gserviceaccount.com");
  const auto token = Get(*identity);
  ASSERT_TRUE(token.ok()) << token.error().ToString();
  EXPECT_THAT(server->requests, IsEmpty()) << "no exchange";
  base::Json header;
  const base::Json claims = Key().Verify(token->value, &header);
  const base::Json signed_by = {{"alg", "RS256"}, {"typ", "JWT"}, {"kid", "k1"}};
  EXPECT_EQ(header, signed_by);
  EXPECT_EQ(claims.value("iss", ""), "runner@lab.iam.gserviceaccount.com");
  EXPECT_EQ(claims.value("sub", ""), "runner@lab.iam.gserviceaccount.com");
  EXPECT_EQ(claims.value("scope", ""), kScope);
  EXPECT_EQ(claims.value("exp", 0) - claims.value("iat", 0), 3600);
  EXPECT_FALSE(claims.contains("aud")) << "a scope and an audience exclude each other";
  EXPECT_EQ(token->expires,
            base::FromMillis(std::int64_t{1000} * claims.value("exp", std::int64_t{0})));
}

TEST_F(CredentialsTest, AServiceAccountActsAsAnother) {
  Grant("source");
  server->Answer(200, R"({"accessToken":"robot-token","expireTime":"2026-01-01T01:00:00.5Z"})");
  const base::Json file = {{"type", "impersonated_service_account"},
                           {"service_account_impersonation_url", kActs},
                           {"delegates", {"projects/-/serviceAccounts/mid@lab.com"}},
                           {"source_credentials", ServiceAccount()}};
  auto identity = Choose(file);
  ASSERT_TRUE(identity.ok()) << identity.error().ToString();
  EXPECT_EQ(identity->account, "robot@lab.iam.gserviceaccount.com");
  const auto token = Get(*identity);
  ASSERT_TRUE(token.ok()) << token.error().ToString();
  EXPECT_EQ(token->value, "robot-token");
  EXPECT_EQ(token->expires, base::FromMillis(1'767'229'200'500));

  const auto form = Form(0);
  EXPECT_EQ(form.at("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer");
  const base::Json claims = Key().Verify(form.at("assertion"));
  EXPECT_EQ(claims.value("aud", ""), "https://oauth2.googleapis.com/token");
  EXPECT_EQ(claims.value("scope", ""), kIam);
  EXPECT_EQ(Sent(1).url, kActs);
  EXPECT_EQ(Header(1, "Authorization"), "Bearer source");
  const base::Json asked = base::ParseJson(Sent(1).body).value_or(base::Json());
  const base::Json wanted = {{"delegates", {"projects/-/serviceAccounts/mid@lab.com"}},
                             {"lifetime", "3600s"},
                             {"scope", {kScope}}};
  EXPECT_EQ(asked, wanted);
}

TEST_F(CredentialsTest, AnyoneMayActAsAServiceAccount) {
  Grant("user-token");
  server->Answer(200, R"({"accessToken":"robot-token","expireTime":"2026-01-01T01:00:00Z"})");
  impersonate = "mid@lab.com, robot@lab.iam.gserviceaccount.com";
  auto identity = Choose(User());
  ASSERT_TRUE(identity.ok()) << identity.error().ToString();
  EXPECT_EQ(identity->account, "robot@lab.iam.gserviceaccount.com");
  EXPECT_EQ(Get(*identity)->value, "robot-token");
  EXPECT_EQ(Sent(1).url, kActs);
  EXPECT_THAT(Sent(1).body, HasSubstr("projects/-/serviceAccounts/mid@lab.com"));
  impersonate = "robot";
  EXPECT_THAT(WhyNot(User()), HasSubstr("\"robot\" names no service account to act as"));
}

/// Google's IAM API takes no token that is signed here.
TEST_F(CredentialsTest, AKeyThatActsByAnOptionIsExchangedToo) {
  Grant("source");
  server->Answer(200, R"({"accessToken":"robot-token","expireTime":"2026-01-01T01:00:00Z"})");
  impersonate = "robot@lab.iam.gserviceaccount.com";
  EXPECT_EQ(TokenOf(ServiceAccount()), "robot-token");
  EXPECT_EQ(Sent(0).url, "https://oauth2.googleapis.com/token");
  EXPECT_EQ(Key().Verify(Form(0).at("assertion")).value("scope", ""), kIam);
  EXPECT_EQ(Header(1, "Authorization"), "Bearer source");
}

TEST_F(CredentialsTest, WhoMayNotActIsTold) {
  Grant("user-token");
  server->Answer(403, R"({"error":{"code":403,"status":"PERMISSION_DENIED",)"
                      R"("message":"Permission 'iam.serviceAccounts.getAccessToken' denied"}})");
  impersonate = "robot@lab.iam.gserviceaccount.com";
  const std::string why = TokenOf(User());
  EXPECT_THAT(why, HasSubstr("acting as robot@lab.iam.gserviceaccount.com: "
                             "iamcredentials.googleapis.com gives no token: HTTP 403 "
                             "PERMISSION_DENIED: Permission 'iam.serviceAccounts.getAccessToken'"));
  EXPECT_THAT(why, HasSubstr("roles/iam.serviceAccountTokenCreator"));
  EXPECT_THAT(why, Not(HasSubstr("user-token")));
}

TEST_F(CredentialsTest, AWorkforceLoginNamesItsClientInAHeader) {
  Grant("t");
  base::Json file = User();
  file["type"] = "external_account_authorized_user";
  file["token_url"] = "https://sts.googleapis.com/v1/oauthtoken";
  EXPECT_EQ(TokenOf(file), "t");
  EXPECT_EQ(Sent(0).url, "https://sts.googleapis.com/v1/oauthtoken");
  EXPECT_EQ(Header(0, "Authorization"), "Basic dGhlLWNsaWVudDpHT0NTUFgtc2VjcmV0");
  EXPECT_FALSE(Form(0).contains("client_secret"));
}

TEST_F(CredentialsTest, AFileDoesNotWriteToTheTerminal) {
  for (const char* key : {"type", "universe_domain"}) {
    base::Json file = ServiceAccount();
    file[key] = "\x1b[2Jodd\nword";
    const std::string why = WhyNot(file);
    EXPECT_THAT(why, HasSubstr("odd word")) << key;
    EXPECT_THAT(why, Not(HasSubstr("\x1b"))) << key;
  }
}

struct BadCase {
  const char* what;
  std::function<void(base::Json&)> spoil;
  const char* why;
};

TEST_F(CredentialsTest, WhatCannotBeUsedIsNamedAndNotQuoted) {
  const BadCase cases[] = {
      {"no type", [](base::Json& j) { j.erase("type"); }, "it has no \"type\""},
      {"type", [](base::Json& j) { j["type"] = "gdch_service_account"; },
       "its type is gdch_service_account, which is not supported"},
      {"email", [](base::Json& j) { j.erase("client_email"); }, "it has no \"client_email\""},
      {"key", [](base::Json& j) { j["private_key"] = 7; }, "it has no \"private_key\""},
      {"open", [](base::Json& j) { j["token_uri"] = "http://h.example.com/SECRET"; },
       "its \"token_uri\" is no https URL"},
      {"universe", [](base::Json& j) { j["universe_domain"] = "other.cloud"; },
       "it is for another cloud, other.cloud"},
  };
  for (const BadCase& one : cases) {
    base::Json file = ServiceAccount();
    one.spoil(file);
    const std::string why = WhyNot(file);
    EXPECT_THAT(why, HasSubstr("the credentials in " + (dir / "credentials.json").string() +
                               " cannot be used: " + one.why))
        << one.what;
    EXPECT_THAT(why, Not(HasSubstr("SECRET")));
    EXPECT_THAT(why, Not(HasSubstr("PRIVATE KEY")));
  }
  EXPECT_THAT(WhyNot(base::Json::array()), HasSubstr("it is no JSON object"));
  base::Json file = ServiceAccount();
  file["private_key"] = "-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n";
  const std::string why = TokenOf(file);
  EXPECT_THAT(why, HasSubstr("\"private_key\" is no RSA key in PEM"));
  EXPECT_THAT(why, Not(HasSubstr("SECRET")));
}

TEST_F(CredentialsTest, SourcesOfSourcesEnd) {
  base::Json file = User();
  for (int i = 0; i < 10; ++i) {
    file = {{"type", "impersonated_service_account"},
            {"service_account_impersonation_url", kActs},
            {"source_credentials", file}};
  }
  EXPECT_THAT(WhyNot(file), HasSubstr("its sources are nested too deep"));
}

TEST_F(CredentialsTest, AKeyThatIsExchangedIsUsedForTheNextToken) {
  Grant("one");
  auto identity = Choose(User());
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(Get(*identity)->value, "one");
  base::Json other = User();
  other["client_id"] = "other-client";
  ASSERT_TRUE(Choose(other).ok());
  clock.Advance(std::chrono::minutes{56});
  Grant("two");
  EXPECT_EQ(Get(*identity)->value, "two");
  EXPECT_EQ(Form(1).at("client_id"), "other-client");
}

TEST_F(CredentialsTest, AFileThatOthersCanReadIsNamedOnce) {
  const std::string file = (dir / "credentials.json").string();
  ASSERT_TRUE(base::WriteFileAtomic(file, User().dump()).ok());
  std::filesystem::permissions(dir.path(), std::filesystem::perms{0755});
  const auto choose = [this](const TokenSettings& settings) {
    const auto identity = ChooseIdentity(settings, machine);
    return identity ? identity->open_file : identity.error().ToString();
  };
  const TokenSettings key{.endpoint = "https://tpu.googleapis.com", .credentials_file = file};
  const TokenSettings token{.endpoint = "https://tpu.googleapis.com", .token_file = file};
  EXPECT_EQ(choose(key), "");
  EXPECT_EQ(choose(token), "");
  std::filesystem::permissions(file, std::filesystem::perms{0644});
  testing::internal::CaptureStderr();
  EXPECT_EQ(choose(key), file);
  EXPECT_EQ(choose(token), file);
  const std::string log = testing::internal::GetCapturedStderr();
  const std::string warning = "others may read " + file + "; chmod 600 " + file;
  EXPECT_THAT(log, HasSubstr(warning));
  EXPECT_EQ(log.find(warning), log.rfind(warning));
}

TEST_F(CredentialsTest, AFileThatOthersCanWriteIsRefused) {
  const base::Path path = dir / "credentials.json";
  ASSERT_TRUE(base::WriteFileAtomic(path, User().dump(), 0666).ok());
  std::filesystem::permissions(path, static_cast<std::filesystem::perms>(0666));
  const auto identity = ChooseIdentity(
      {.endpoint = "https://tpu.googleapis.com", .credentials_file = path.string()}, machine);
  ASSERT_FALSE(identity.ok());
  EXPECT_THAT(identity.error().message, HasSubstr(path.string()));
}

}  // namespace
}  // namespace jobman::auth

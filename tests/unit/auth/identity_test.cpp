// Which credentials are taken: the order of Application Default Credentials.
#include <sys/stat.h>

#include "tests/unit/auth/credentials_fixture.hpp"

namespace jobman::auth {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class IdentityTest : public CredentialsTest {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const base::Path path = dir / name;
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(base::WriteFileAtomic(path, text).ok());
    return path.string();
  }
  base::Json UserNamed(const std::string& client) const {
    base::Json user = User();
    user["client_id"] = client;
    return user;
  }
  Result<Identity> Default(const std::string& endpoint = "https://tpu.googleapis.com") {
    return ChooseIdentity({.endpoint = endpoint}, machine);
  }
  /// Which client the token was asked for with.
  std::string ClientOf(Result<Identity> identity) {
    if (!identity) return identity.error().ToString();
    Grant("t");
    const auto token = Get(*identity);
    return token ? Form(server->requests.size() - 1)["client_id"] : token.error().ToString();
  }
  void InstallGcloud() {
    const std::string gcloud = Write("bin/gcloud", "#!/bin/sh\necho from-gcloud\n");
    ASSERT_EQ(::chmod(gcloud.c_str(), 0700), 0);
    env["PATH"] = (dir / "bin").string();
  }
};

TEST_F(IdentityTest, TheVariableComesBeforeTheFileOfGcloud) {
  Write(".config/gcloud/application_default_credentials.json", UserNamed("well-known").dump());
  EXPECT_EQ(ClientOf(Default()), "well-known");
  env["CLOUDSDK_CONFIG"] = (dir / "other").string();
  EXPECT_THAT(ClientOf(Default()), HasSubstr("no credentials"));
  Write("other/application_default_credentials.json", UserNamed("configured").dump());
  EXPECT_EQ(ClientOf(Default()), "configured");
  env["GOOGLE_APPLICATION_CREDENTIALS"] = Write("named.json", UserNamed("named").dump());
  EXPECT_EQ(ClientOf(Default()), "named");
}

/// A login of long ago comes before that of gcloud, which may be of today.
TEST_F(IdentityTest, AForgottenLoginThatIsRefusedIsNamedWithBothWaysOut) {
  const std::string file =
      Write(".config/gcloud/application_default_credentials.json", User().dump());
  const auto refusal = [this] {
    auto identity = Default();
    if (!identity) return identity.error();
    server->Answer(400, R"({"error":"invalid_grant",
        "error_description":"Token has been expired or revoked."})");
    return Get(*identity).error();
  };
  EXPECT_EQ(refusal().hint, "log in again: gcloud auth application-default login")
      << "without gcloud there is no other login";
  InstallGcloud();
  EXPECT_THAT(refusal().message, HasSubstr("the credentials in " + file + ": "));
  EXPECT_EQ(refusal().hint, "log in again: gcloud auth application-default login; or delete " +
                                file + ": then gcloud's own login (gcloud auth login) is used");
  Write(".config/gcloud/application_default_credentials.json", "{");
  EXPECT_THAT(refusal().message, HasSubstr(file + " cannot be used"));
  EXPECT_THAT(refusal().hint, HasSubstr("; or delete " + file + ": then gcloud's own login"));
  env["PATH"] = "";
  EXPECT_THAT(refusal().hint, Not(HasSubstr("delete")));
  Write("product_name", "Google Compute Engine\n");
  EXPECT_THAT(refusal().hint,
              HasSubstr("or delete " + file + ": then this machine's service account is used"));
}

/// Who named a file wants that one.
TEST_F(IdentityTest, ANamedFileThatIsRefusedIsNotToBeDeleted) {
  InstallGcloud();
  env["GOOGLE_APPLICATION_CREDENTIALS"] = Write("named.json", User().dump());
  auto identity = Default();
  ASSERT_TRUE(identity.ok());
  server->Answer(400, R"({"error":"invalid_grant"})");
  EXPECT_EQ(Get(*identity).error().hint, "log in again: gcloud auth application-default login");
}

TEST_F(IdentityTest, AFileThatIsNamedAndCannotBeUsedIsAnError) {
  Write(".config/gcloud/application_default_credentials.json", User().dump());
  env["GOOGLE_APPLICATION_CREDENTIALS"] = "/nowhere/key.json";
  const auto missing = Default();
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, base::Code::kUnauthenticated);
  EXPECT_THAT(missing.error().message, HasSubstr("/nowhere/key.json cannot be read"));
  EXPECT_THAT(missing.error().hint, HasSubstr("check GOOGLE_APPLICATION_CREDENTIALS"));
  env["GOOGLE_APPLICATION_CREDENTIALS"] = Write("broken.json", "{");
  EXPECT_FALSE(Default().ok());
}

TEST_F(IdentityTest, GcloudsLoginComesNextAndThenTheMachine) {
  Write("product_name", "Google Compute Engine\n");
  auto identity = Default();
  ASSERT_TRUE(identity.ok()) << identity.error().ToString();
  server->Answer(200, R"({"access_token":"of-machine","expires_in":300})",
                 {{"Metadata-Flavor", "Google"}});
  EXPECT_EQ(Get(*identity)->value, "of-machine");
  EXPECT_EQ(Sent(0).url,
            "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/"
            "token?scopes=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform");
  EXPECT_EQ(Header(0, "Metadata-Flavor"), "Google");
  EXPECT_TRUE(Sent(0).direct) << "through no proxy";
  InstallGcloud();
  EXPECT_EQ(Default()->origin, "the token command 'gcloud auth print-access-token'");
}

TEST_F(IdentityTest, AFolderNamedGcloudIsNoProgram) {
  Write("gcloud/README", "of an unpacked archive");
  env["PATH"] = dir.path().string();
  EXPECT_EQ(Default().error().reason, base::Reason::kNoToken);
}

TEST_F(IdentityTest, WhoeverAnswersLikeAMetadataServerMustBeOne) {
  env["GCE_METADATA_HOST"] = "127.0.0.1:9";
  auto identity = Default();
  ASSERT_TRUE(identity.ok());
  server->Answer(200, R"({"access_token":"t","expires_in":300})");
  const auto token = Get(*identity);
  ASSERT_FALSE(token.ok());
  EXPECT_THAT(token.error().message, HasSubstr("127.0.0.1:9 is no metadata server of Google"));
}

TEST_F(IdentityTest, TheAddressOfAMetadataServerGetsItsBrackets) {
  for (const char* host : {"fd20:ce::254", "[fd20:ce::254]"}) {
    env["GCE_METADATA_HOST"] = host;
    EXPECT_EQ(MetadataHost(machine), "[fd20:ce::254]");
  }
  env["GCE_METADATA_HOST"] = "169.254.169.254:80";
  EXPECT_EQ(MetadataHost(machine), "169.254.169.254:80");
}

TEST_F(IdentityTest, ElsewhereNobodyIsAskedForAMachinesAccount) {
  EXPECT_THAT(MetadataHost(machine), IsEmpty());
  Write("product_name", "Standard PC\n");
  EXPECT_THAT(MetadataHost(machine), IsEmpty());
  Write("product_name", "Google Compute Engine\n");
  EXPECT_EQ(MetadataHost(machine), "metadata.google.internal");
  env["NO_GCE_CHECK"] = "true";
  EXPECT_THAT(MetadataHost(machine), IsEmpty());
  EXPECT_FALSE(Default().ok());
  EXPECT_THAT(server->requests, IsEmpty());
}

TEST_F(IdentityTest, AMachineOfGooglesKnowsItsProject) {
  const auto project = [this] { return loop.Run(ProjectOfMachine(machine)); };
  EXPECT_EQ(project(), std::nullopt);
  EXPECT_THAT(server->requests, IsEmpty());
  Write("product_name", "Google Compute Engine\n");
  server->Answer(200, "lab\n", {{"Metadata-Flavor", "Google"}});
  EXPECT_EQ(project(), "lab");
  EXPECT_EQ(Sent(0).url, "http://metadata.google.internal/computeMetadata/v1/project/project-id");
  server->Answer(200, "lab");
  EXPECT_EQ(project(), std::nullopt) << "no metadata server of Google's";
  server->Answer(200, "<html>", {{"Metadata-Flavor", "Google"}});
  EXPECT_EQ(project(), std::nullopt);
  server->Answer(404, "lab", {{"Metadata-Flavor", "Google"}});
  EXPECT_EQ(project(), std::nullopt);
  EXPECT_EQ(project(), std::nullopt) << "no answer";
}

TEST_F(IdentityTest, LoginsOfThisMachineAreForGoogleAlone) {
  env["GOOGLE_APPLICATION_CREDENTIALS"] = Write("named.json", User().dump());
  env["CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT"] = "robot@lab.com";
  for (const char* endpoint : {"https://tpu.example.com", "https://googleapis.com.evil.org"}) {
    EXPECT_FALSE(Default(endpoint).ok()) << endpoint;
  }
  auto local = Default("http://127.0.0.1:8080");
  ASSERT_TRUE(local.ok());
  EXPECT_EQ(Get(*local)->value, "");
  EXPECT_THAT(server->requests, IsEmpty());
  const auto google = Default();
  ASSERT_TRUE(google.ok());
  EXPECT_EQ(google->account, "robot@lab.com");
}

TEST_F(IdentityTest, TheVariableSaysWhoseQuotaPays) {
  EXPECT_EQ(Choose(User())->quota_project, "payer");
  env["GOOGLE_CLOUD_QUOTA_PROJECT"] = "other";
  EXPECT_EQ(Choose(User())->quota_project, "other");
}

}  // namespace
}  // namespace jobman::auth

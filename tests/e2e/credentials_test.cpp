// The key of a service account, from the job file to the cloud: a server of tokens checks what the
// key has signed, another lets its account act as the one that the cloud knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/listener.hpp"
#include "tests/e2e/place.hpp"
#include "tests/support/test_key.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class CredentialsOfAKey : public testing::Test {
 protected:
  void SetUp() override {
    place_.StartSim({"--delays", "0"});
    place_.StartController({"--poll", "1"});
    sim_token_ = base::Trim(*base::ReadFile(place_.SimTokenFile()));
  }

  /// The server of tokens: an access token for what the key has signed, and one of the simulator's
  /// for that.
  std::string Answer(const std::string& request) {
    if (base::Contains(request, ":generateAccessToken")) {
      if (!base::Contains(request, "Authorization: Bearer of-the-key\r\n")) return {};
      return R"({"accessToken":")" + sim_token_ + R"(","expireTime":"2100-01-01T00:00:00Z"})";
    }
    const std::string mark = "&assertion=";
    const std::size_t at = request.find(mark);
    if (at == std::string::npos) return {};
    const base::Json claims = key_.Verify(request.substr(at + mark.size()));
    if (base::GetString(claims, "iss") != "runner@lab.com") return {};
    return R"({"access_token":"of-the-key","expires_in":3600})";
  }
  std::string KeyFile(const std::string& private_key) {
    const std::string url = "http://127.0.0.1:" + std::to_string(server_.port());
    const base::Json source = {{"type", "service_account"},
                               {"client_email", "runner@lab.com"},
                               {"private_key", private_key},
                               {"token_uri", url + "/token"}};
    const base::Json file = {
        {"type", "impersonated_service_account"},
        {"service_account_impersonation_url",
         url + "/v1/projects/-/serviceAccounts/robot@lab.com:generateAccessToken"},
        {"source_credentials", source}};
    const base::Path path = place_.path() / "key.json";
    EXPECT_TRUE(base::WriteFileAtomic(path, file.dump()).ok());
    return path.string();
  }
  Ran Create(const std::string& key_file) {
    const auto sim = base::ParseJson(*base::ReadFile(place_.home() / "sim" / "sim.json"));
    const std::string file =
        place_.JobFile("train", 1, "true",
                       "ssh: {port: " + std::to_string(base::GetInt(*sim, "ssh_port")) + "}\n");
    return place_.Jobman({"--endpoint", place_.SimEndpoint(), "create", file, "--set",
                          "tpu.project=sim", "--set", "cloud.credentials_file=" + key_file});
  }

  Place place_;
  TestKey key_;
  std::string sim_token_ = {};
  Listener server_{
      ServiceThatFinds([this](const std::string& request) { return Answer(request); })};
};

TEST_F(CredentialsOfAKey, AJobRunsWithThem) {
  const Ran created = Create(KeyFile(key_.pem()));
  ASSERT_EQ(created.code, 0) << created.All();
  ASSERT_TRUE(place_.Reaches("train", "SUCCEEDED"));
  EXPECT_THAT(server_.heard(), Contains(HasSubstr("cred-type/sa")));
  EXPECT_THAT(server_.heard(), Contains(HasSubstr("cred-type/imp")));
  const std::string log = base::ReadFile(place_.home() / "controller.log").value_or("");
  EXPECT_THAT(log, AllOf(Not(HasSubstr(sim_token_)), Not(HasSubstr("of-the-key"))));
}

TEST_F(CredentialsOfAKey, WithAnotherKeyNothingIsCreated) {
  const TestKey other;
  const Ran refused = Create(KeyFile(other.pem()));
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("key.json: 127.0.0.1 gives no token: HTTP 404"),
                                 HasSubstr("check that runner@lab.com has this key"),
                                 Not(HasSubstr("PRIVATE KEY"))));
  EXPECT_EQ(place_.Jobman({"--quiet", "list"}).out, "");
}

}  // namespace
}  // namespace jobman::test

// create looks at the project first: how many external addresses it may use, and how its hosts let
// people in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Project : public testing::Test {
 protected:
  void SetUp() override {
    if (RunProgram({"curl", "--version"}).code != 0) GTEST_SKIP() << "curl is not installed";
    place_.StartSim({"--delays", "0"});
    token_ = std::string(base::Trim(base::ReadFile(place_.SimTokenFile()).value_or("")));
    ::setenv("GOOGLE_OAUTH_ACCESS_TOKEN", token_.c_str(), 1);
    ::setenv("JOBMAN_COMPUTE_ENDPOINT", place_.SimEndpoint().c_str(), 1);
    ::setenv("JOBMAN_OSLOGIN_ENDPOINT", place_.SimEndpoint().c_str(), 1);
    place_.StartController({"--poll", "1"});
  }
  ~Project() override {
    for (const char* name :
         {"JOBMAN_COMPUTE_ENDPOINT", "JOBMAN_OSLOGIN_ENDPOINT", "GOOGLE_OAUTH_ACCESS_TOKEN"})
      ::unsetenv(name);
  }
  /// Creates the job "train" in project lab.
  Ran Create(int hosts, const std::vector<std::string>& more = {}) {
    const auto sim = base::ParseJson(*base::ReadFile(place_.home() / "sim" / "sim.json"));
    const std::string port = std::to_string(base::GetInt(*sim, "ssh_port"));
    const std::string file = place_.JobFile("train", hosts, "true", "ssh: {port: " + port + "}\n");
    std::vector<std::string> args = {"--endpoint", place_.SimEndpoint(), "create", file,
                                     "--set",      "tpu.project=lab"};
    args.insert(args.end(), more.begin(), more.end());
    return place_.Jobman(args);
  }
  /// Calls the simulator's API; what it answers.
  base::Json Call(const std::string& path, const base::Json& body = {}) {
    std::vector<std::string> words = {"curl", "-sS", "-H", "Authorization: Bearer " + token_,
                                      place_.SimEndpoint() + path};
    if (!body.is_null())
      words.insert(words.end(), {"-H", "Content-Type: application/json", "-d", body.dump()});
    return base::ParseJson(RunProgram(words).out).value_or(base::Json::object());
  }

  std::string token_ = {};
  Place place_;
};

TEST_F(Project, TooFewAddressesAreKnownBeforeAJobIsStored) {
  ASSERT_EQ(place_.Sim({"set", "addresses=1"}).code, 0);
  const Ran refused = Create(2);
  EXPECT_EQ(refused.code, 4) << refused.All();
  EXPECT_THAT(refused.err, HasSubstr("the slice needs 2 external addresses in us-central2, and the "
                                     "project's limit IN_USE_ADDRESSES is 1 (0 in use)"));
  EXPECT_THAT(refused.err, HasSubstr("iam-admin/quotas?project=lab"));
  EXPECT_THAT(place_.Jobman({"--json", "list", "--all"}).out, Not(HasSubstr("\"id\"")));
  const Ran unasked = Create(2, {"--no-preflight"});
  EXPECT_EQ(unasked.code, 0) << unasked.All();
  EXPECT_THAT(unasked.err, Not(HasSubstr("note:")));
}

TEST_F(Project, WhereOsLoginIsRequiredTheJobLogsInByTheAccountsProfile) {
  if (RunProgram({"bwrap", "--ro-bind", "/", "/", "true"}).code != 0)
    GTEST_SKIP() << "without bubblewrap simulated hosts have only the user of this test";
  const Ran created = Create(1, {"--set", "ssh.os_login=true"});
  ASSERT_EQ(created.code, 0) << created.All();
  EXPECT_THAT(created.err, HasSubstr("the login profile of sim@example.com"));
  ASSERT_TRUE(place_.Reaches("train", "SUCCEEDED"));
  const Ran who = place_.Jobman({"exec", "train", "--", "echo in as $(basename $HOME)"});
  EXPECT_THAT(who.out, HasSubstr("in as sim_example_com"));
}

TEST_F(Project, OnANodeOfTheUsersWithOsLoginTheJobLogsInByTheProfile) {
  if (RunProgram({"bwrap", "--ro-bind", "/", "/", "true"}).code != 0)
    GTEST_SKIP() << "without bubblewrap simulated hosts have only the user of this test";
  Call("/v2/projects/lab/locations/us-central2-b/nodes?nodeId=theirs",
       {{"acceleratorType", "v4-8"},
        {"runtimeVersion", "tpu-ubuntu2204-base"},
        {"metadata", {{"enable-oslogin", "TRUE"}}}});
  const std::string node = "/v2/projects/lab/locations/us-central2-b/nodes/theirs";
  ASSERT_TRUE(place_.Until("the node", [&] { return Call(node)["state"] == "READY"; }));
  const Ran created = Create(1, {"--set", "tpu.existing=theirs"});
  ASSERT_EQ(created.code, 0) << created.All();
  EXPECT_THAT(created.err, HasSubstr("node theirs asks for OS Login, by its own metadata"));
  ASSERT_TRUE(place_.Reaches("train", "SUCCEEDED"));
  const Ran who = place_.Jobman({"exec", "train", "--", "echo in as $(basename $HOME)"});
  EXPECT_THAT(who.out, HasSubstr("in as sim_example_com"));
}

TEST_F(Project, OsLoginIsTurnedOffForTheSliceAndTheJobRuns) {
  const base::Json item = {{"key", "enable-oslogin"}, {"value", "TRUE"}};
  Call("/compute/v1/projects/lab/setCommonInstanceMetadata",
       {{"items", base::Json::array({item})}});
  const Ran created = Create(1);
  ASSERT_EQ(created.code, 0) << created.All();
  EXPECT_THAT(created.err, HasSubstr("note: the project asks for OS Login"));
  ASSERT_TRUE(place_.Reaches("train", "SUCCEEDED"));
  const base::Json nodes = Call("/v2/projects/lab/locations/us-central2-b/nodes");
  const base::Json& list = base::GetMember(nodes, "nodes");
  ASSERT_TRUE(list.is_array() && !list.empty()) << nodes.dump();
  const base::Json& metadata = base::GetMember(list[0], "metadata");
  EXPECT_EQ(base::GetString(metadata, "enable-oslogin"), "FALSE");
}

}  // namespace
}  // namespace jobman::test

// tpu.existing: a job on a node that somebody else made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Existing : public testing::Test {
 protected:
  void SetUp() override {
    if (RunProgram({"curl", "--version"}).code != 0) GTEST_SKIP() << "curl is not installed";
    place_.StartSim({"--delays", "0"});
  }
  /// Calls the simulator's API; what it answers.
  base::Json Call(const std::string& method, const std::string& path, const base::Json& body = {}) {
    const std::string token(base::Trim(base::ReadFile(place_.SimTokenFile()).value_or("")));
    std::vector<std::string> words = {"curl",
                                      "-sS",
                                      "-X",
                                      method,
                                      "-H",
                                      "Authorization: Bearer " + token,
                                      place_.SimEndpoint() + kNodes + path};
    if (!body.is_null())
      words.insert(words.end(), {"-H", "Content-Type: application/json", "-d", body.dump()});
    return base::ParseJson(RunProgram(words).out).value_or(base::Json::object());
  }
  /// A node of two hosts with a key and labels that are not ours.
  void MakeNode() {
    Call("POST", "?nodeId=theirs",
         {{"acceleratorType", "v4-16"},
          {"runtimeVersion", "tpu-ubuntu2204-base"},
          {"labels", {{"team", "vision"}}},
          {"schedulingConfig", {{"spot", true}}},
          {"metadata", {{"ssh-keys", "eve:ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 eve"}, {"a", "b"}}}});
    ASSERT_TRUE(place_.Until("the node", [&] { return Node()["state"] == "READY"; }));
  }
  base::Json Node() { return Call("GET", "/theirs"); }
  std::string File(const std::string& cmd) {
    const std::string file = place_.JobFile("guest", 2, cmd);
    std::string text = base::ReadFile(file).value_or("");
    text = base::ReplaceAll(text, "  pricing: spot\n", "  existing: theirs\n  project: p\n");
    EXPECT_TRUE(base::WriteFileAtomic(file, text).ok());
    return file;
  }
  static constexpr const char* kNodes = "/v2/projects/p/locations/us-central2-b/nodes";
  Place place_;
};

TEST_F(Existing, AJobRunsOnItAndLeavesIt) {
  MakeNode();
  const std::string uid = base::GetString(Node(), "id");
  const std::string file = File("echo on $JOBMAN_SLICE");
  const Ran dry = place_.Jobman({"create", file, "--dry-run"});
  EXPECT_THAT(dry.out,
              HasSubstr(std::string("GET ") + place_.SimEndpoint() + kNodes + "/theirs\n"));
  const Ran ran = place_.Jobman({"run", file});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.All(), HasSubstr("on node theirs, which stays when the job is over"));
  EXPECT_EQ(place_.Show("guest")["slice"]["hosts"].size(), 2u);
  const base::Json metadata = Node()["metadata"];
  EXPECT_EQ(metadata["a"], "b");
  EXPECT_THAT(base::GetString(metadata, "ssh-keys"),
              AllOf(testing::StartsWith("eve:"), HasSubstr("\n")));
  const Ran list = place_.Jobman({"list"});
  EXPECT_THAT(list.All(), testing::Not(HasSubstr("holds a slice"))) << "it is not the job's";

  EXPECT_EQ(place_.Jobman({"exec", "guest", "--", "echo here"}).code, 0);
  const Ran requeued = place_.Jobman({"requeue", "guest", "--wait"});
  EXPECT_EQ(requeued.code, 0) << requeued.All();
  EXPECT_EQ(place_.Show("guest")["attempt"], 2);
  const Ran gone = place_.Jobman({"delete", "guest", "--wait"});
  EXPECT_EQ(gone.code, 0) << gone.All();
  EXPECT_THAT(gone.All(), HasSubstr("node theirs is left as it is"));
  EXPECT_EQ(base::GetString(Node(), "id"), uid);
  EXPECT_EQ(Node()["state"], "READY");
  EXPECT_EQ(place_.Jobman({"gc"}).code, 0) << "nor is it garbage";
}

TEST_F(Existing, AJobWhoseNodeIsLostSaysSo) {
  const Ran none = place_.Jobman({"run", File("true")});
  EXPECT_NE(none.code, 0);
  EXPECT_THAT(place_.Jobman({"why", "guest"}).out,
              AllOf(HasSubstr("there is no node theirs in us-central2-b"),
                    HasSubstr("once node theirs is READY: jobman resume 000001")));
  MakeNode();
  EXPECT_EQ(place_.Jobman({"resume", "guest", "--wait"}).code, 0);
  EXPECT_EQ(place_.StateOf("guest"), "SUCCEEDED");

  ASSERT_EQ(place_.Jobman({"create", File("sleep 600"), "--name", "long"}).code, 0);
  ASSERT_TRUE(place_.Reaches("long", "RUNNING"));
  const Ran other = place_.Jobman({"create", File("true"), "--name", "other"});
  EXPECT_THAT(other.All(), HasSubstr("node theirs is also used by job 000002, which is RUNNING"));
  EXPECT_EQ(place_.Jobman({"delete", "other", "--yes", "--wait"}).code, 0);
  ASSERT_EQ(place_.Sim({"preempt", "theirs"}).code, 0);
  EXPECT_TRUE(place_.Reaches("long", "FAILED"));
  EXPECT_EQ(Node()["state"], "PREEMPTED") << "deleted by nobody";
}

}  // namespace
}  // namespace jobman::test

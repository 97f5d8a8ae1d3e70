// jobman gc deletes slices that no job owns, but no owned or foreign ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"
#include "tests/e2e/terminal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr const char* kZone = "us-central2-b";

class Gc : public testing::Test {
 protected:
  void SetUp() override {
    if (RunProgram({"curl", "--version"}).code != 0) GTEST_SKIP() << "curl is not installed";
    place_.StartSim({"--delays", "0"});
    place_.StartController({"--poll", "1"});
  }

  /// Calls the simulator's API directly.
  base::Json Call(const std::string& method, const std::string& path, const base::Json& body = {}) {
    const std::string token(base::Trim(base::ReadFile(place_.SimTokenFile()).value_or("")));
    std::vector<std::string> words = {"curl",
                                      "-sS",
                                      "-X",
                                      method,
                                      "-H",
                                      "Authorization: Bearer " + token,
                                      place_.SimEndpoint() + path};
    if (!body.is_null())
      words.insert(words.end(), {"-H", "Content-Type: application/json", "-d", body.dump()});
    const Ran ran = RunProgram(words);
    const auto json = base::ParseJson(ran.out);
    EXPECT_TRUE(json.ok()) << ran.All();
    if (!json.ok()) return base::Json::object();
    EXPECT_FALSE(json->contains("error")) << json->dump(2);
    return *json;
  }
  std::string Parent() const { return "/v2/projects/" + project_ + "/locations/" + kZone; }

  /// A finished job that holds its slice, whose labels are copied.
  void HoldASlice() {
    ASSERT_EQ(place_.Jobman({"run", place_.JobFile("kept", 1, "echo done")}).code, 0);
    project_ = base::GetString(place_.Show("kept")["slice"], "project");
    ASSERT_NE(project_, "") << place_.Show("kept").dump(2);
    labels_ = Call("GET", Parent() + "/nodes/kept-000001-a1")["labels"];
    ASSERT_EQ(labels_["jobman-job"], "000001") << labels_.dump();
  }
  base::Json NodeBody(const base::Json& labels) const {
    return {
        {"acceleratorType", "v4-8"}, {"runtimeVersion", "tpu-ubuntu2204-base"}, {"labels", labels}};
  }
  void MakeNode(const std::string& name, const base::Json& labels) {
    Call("POST", Parent() + "/nodes?nodeId=" + name, NodeBody(labels));
  }
  void MakeQueued(const std::string& name, const base::Json& labels) {
    const base::Json spec = {{"parent", "projects/" + project_ + "/locations/" + kZone},
                             {"nodeId", name},
                             {"node", NodeBody(labels)}};
    Call("POST", Parent() + "/queuedResources?queuedResourceId=" + name,
         {{"tpu", {{"nodeSpec", base::Json::array({spec})}}}});
  }
  base::Json With(const std::string& key, const std::string& value) const {
    base::Json labels = labels_;
    labels[key] = value;
    return labels;
  }
  std::vector<std::string> Nodes() {
    const base::Json status = Call("GET", "/sim/status");
    std::vector<std::string> names;
    for (const auto& node : status["nodes"]) names.push_back(node["id"]);
    return names;
  }
  bool OnlyTheseAreLeft(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return place_.Until("only these nodes to be left: " + base::Join(names, ", "), [&] {
      auto left = Nodes();
      std::sort(left.begin(), left.end());
      return left == names;
    });
  }

  Place place_;
  std::string project_;
  base::Json labels_;
};

/// What is on no record may belong to a copy of the store: a running controller leaves it alone.
TEST_F(Gc, IsNeededForWhatOnlyLabelsSayIsOurs) {
  HoldASlice();
  MakeNode("theirs", base::Json::object());
  MakeQueued("kept-000001-a0", labels_);
  ASSERT_EQ(place_.Jobman({"run", place_.JobFile("next", 1, "echo done")}).code, 0);
  ASSERT_EQ(place_.Jobman({"delete", "next", "--wait"}).code, 0);
  EXPECT_THAT(Nodes(), UnorderedElementsAre("kept-000001-a1", "kept-000001-a0", "theirs"));
  EXPECT_EQ(place_.Jobman({"gc", "--yes"}).code, 0);
  EXPECT_TRUE(OnlyTheseAreLeft({"kept-000001-a1", "theirs"}));
}

TEST_F(Gc, DeletesOrphansButNoOwnedOrForeignSlices) {
  HoldASlice();
  ASSERT_EQ(place_.Jobman({"controller", "stop"}).code, 0);
  MakeQueued("kept-000001-a9", labels_);                       // the job holds another slice
  MakeNode("lost-000099-a1", With("jobman-job", "000099"));    // an unknown job
  MakeNode("laptop-000001-a1", With("jobman-store", "else"));  // another store of this user
  MakeNode("colleague", {{"jobman-job", "000001"}, {"jobman-store", "x"}, {"jobman-owner", "zoe"}});
  MakeNode("zoes-000099-a1", With("jobman-owner", "zoe"));  // of this store, by its label
  MakeNode("theirs", base::Json::object());
  const auto all = Nodes();

  const Ran listed = place_.Jobman({"gc"});
  EXPECT_EQ(listed.code, 1) << listed.All();
  EXPECT_THAT(listed.out, AllOf(HasSubstr("kept-000001-a9"), HasSubstr("lost-000099-a1"),
                                HasSubstr("job 000001 is SUCCEEDED and holds slice kept-000001-a1"),
                                HasSubstr("there is no job 000099")));
  EXPECT_THAT(listed.out, HasSubstr("laptop-000001-a1"));
  EXPECT_THAT(listed.out, Not(HasSubstr("theirs")));
  EXPECT_THAT(listed.out, Not(HasSubstr("colleague")));
  EXPECT_THAT(listed.out, Not(HasSubstr("zoes")));
  EXPECT_THAT(listed.err, HasSubstr("nothing is deleted without --yes"));
  EXPECT_EQ(Nodes(), all);
  const Ran json = place_.Jobman({"--json", "gc"});
  EXPECT_EQ(json.code, 1);
  EXPECT_EQ((*base::ParseJson(json.out))["slices"].size(), 3u) << json.out;

  const Ran deleted = place_.Jobman({"gc", "--yes"});
  EXPECT_EQ(deleted.code, 0) << deleted.All();
  EXPECT_TRUE(OnlyTheseAreLeft(
      {"kept-000001-a1", "laptop-000001-a1", "colleague", "zoes-000099-a1", "theirs"}));
  EXPECT_EQ(place_.Jobman({"gc"}).code, 0) << "no orphan of this store is left";
  EXPECT_EQ(place_.StateOf("kept"), "SUCCEEDED");

  EXPECT_EQ(place_.Jobman({"gc", "--all-stores", "--yes"}).code, 0);
  EXPECT_TRUE(OnlyTheseAreLeft({"kept-000001-a1", "colleague", "zoes-000099-a1", "theirs"}));
  EXPECT_EQ(place_.Jobman({"gc", "--name", "zoes*", "--unlabelled", "--yes"}).code, 0);
  EXPECT_THAT(Nodes(), Contains("zoes-000099-a1"));
}

TEST_F(Gc, AsksOnATerminal) {
  HoldASlice();
  MakeNode("lost-000099-a1", With("jobman-job", "000099"));
  const auto answer = [&](const std::string& word) {
    const std::vector<std::string> gc = {std::string(JOBMAN_BIN_DIR) + "/jobman", "--home",
                                         place_.home().string(), "gc"};
    return AnswerOnTerminal(gc, "delete 1 slice?", word);
  };
  const Ran no = answer("n");
  EXPECT_EQ(no.code, 1) << no.All();
  EXPECT_THAT(Nodes(), UnorderedElementsAre("kept-000001-a1", "lost-000099-a1"));
  const Ran yes = answer("y");
  EXPECT_EQ(yes.code, 0) << yes.All();
  EXPECT_TRUE(OnlyTheseAreLeft({"kept-000001-a1"}));
}

TEST_F(Gc, DeletesSlicesWithoutLabelsOnlyByNameAndOption) {
  HoldASlice();
  MakeNode("theirs", base::Json::object());
  const Ran named = place_.Jobman({"gc", "--name", "the*", "--yes"});
  EXPECT_EQ(named.code, 0) << named.All();
  EXPECT_THAT(named.out, HasSubstr("theirs"));
  EXPECT_THAT(Nodes(), UnorderedElementsAre("kept-000001-a1", "theirs"));
  EXPECT_EQ(place_.Jobman({"gc", "--unlabelled", "--yes"}).code, 2);
  EXPECT_EQ(place_.Jobman({"gc", "--name", "other*", "--unlabelled", "--yes"}).code, 0);
  EXPECT_THAT(Nodes(), UnorderedElementsAre("kept-000001-a1", "theirs"));
  EXPECT_EQ(place_.Jobman({"gc", "--name", "the*", "--unlabelled", "--yes"}).code, 0);
  EXPECT_TRUE(OnlyTheseAreLeft({"kept-000001-a1"}));
}

TEST_F(Gc, DeletesNothingWhenAPlaceCannotBeListed) {
  HoldASlice();
  MakeNode("lost-000099-a1", With("jobman-job", "000099"));
  EXPECT_EQ(place_.Jobman({"gc", "--yes", "--zone", "us-nowhere9"}).code, 2) << "a region";
  const Ran elsewhere = place_.Jobman({"gc", "--yes", "--zone", "us-nowhere9-z"});
  EXPECT_NE(elsewhere.code, 0) << elsewhere.All();
  EXPECT_THAT(elsewhere.err, HasSubstr("nothing is deleted: listing zone us-nowhere9-z"));
  ASSERT_EQ(place_.Sim({"fault", "queuedResources.list", "denied", "--times", "1000"}).code, 0);
  const Ran denied = place_.Jobman({"gc", "--yes"});
  EXPECT_EQ(denied.code, 4) << denied.All();
  EXPECT_THAT(denied.err, HasSubstr(std::string("listing zone ") + kZone));
  EXPECT_THAT(Nodes(), UnorderedElementsAre("kept-000001-a1", "lost-000099-a1"));
}

TEST_F(Gc, EndsRunsThatBelongToNoAttempt) {
  const std::string file = place_.JobFile("busy", 2, "echo up; exec sleep 7111");
  ASSERT_EQ(place_.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(
      place_.Until("the command to run", [&] { return place_.Log(1, 1, "run", 1) == "up\n"; }));
  EXPECT_EQ(place_.Jobman({"gc", "--yes"}).code, 0);
  // Like a run of an earlier attempt that could not be stopped.
  const std::string leave =
      "printf \"jm_workdir=''\\njm_script='exec sleep 7222'\\njm_env=''\\njobman-end\\n\" "
      ">~/order; "
      "now=$(echo ~/.jobman/runs/*.a1) id=$(basename ${now%1}0); "
      "setsid sh ~/.jobman/bin/host-*.sh run $id 0 <~/order >/dev/null 2>&1 & "
      "until [ -s ~/.jobman/runs/*.a0/pid ]; do sleep 0.5; done";
  const Ran begun = place_.Jobman({"exec", "busy", "-w", "1", "--", leave});
  ASSERT_EQ(begun.code, 0) << begun.All();
  const Ran listed = place_.Jobman({"gc"});
  EXPECT_EQ(listed.code, 1) << listed.All();
  EXPECT_THAT(listed.out, AllOf(HasSubstr(".j000001.busy-000001-a1.h1.a0"),
                                HasSubstr("job 000001 is at attempt 1")));
  EXPECT_THAT(listed.out, Not(HasSubstr(".h1.a1")));
  const Ran ended = place_.Jobman({"gc", "--yes"});
  EXPECT_EQ(ended.code, 0) << ended.All();
  EXPECT_EQ(place_.Jobman({"exec", "busy", "-w", "1", "--", "pgrep -f '[s]leep 7222'"}).code, 1);
  EXPECT_EQ(place_.Jobman({"exec", "busy", "--", "pgrep -f '[s]leep 7111'"}).code, 0);
  EXPECT_EQ(place_.StateOf("busy"), "RUNNING");
  EXPECT_EQ(place_.Jobman({"delete", "busy", "--wait"}).code, 0);
}

}  // namespace
}  // namespace jobman::test

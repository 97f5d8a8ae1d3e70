// A copy of a store touches nothing of the original until somebody says which of the two it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kUsage = 2;

/// A job that runs, and a copy of the home folder made meanwhile. Jobs name the simulator by its
/// address, so that both homes reach the same cloud.
class CopiedStore : public testing::Test {
 protected:
  void SetUp() override {
    place_.StartSim({"--delays", "0"});
    place_.StartController({"--poll", "1"});
    ASSERT_EQ(Create(place_, "train", "echo up; exec sleep 7333").code, 0);
    ASSERT_TRUE(
        place_.Until("the command to run", [&] { return place_.Log(1, 1, "run", 0) == "up\n"; }));
    const base::Path folder = place_.path() / "copy";
    // A file that the controller is replacing may be gone when cp comes to it.
    ASSERT_TRUE(place_.Until("a copy of the home", [&] {
      return RunProgram({"cp", "-aT", place_.home().string(), folder.string()}).code == 0;
    }));
    for (const char* name : {"sim", "controller.sock", "shell.sock", "controller.log"}) {
      ASSERT_TRUE(base::RemoveAll(folder / name).ok());
    }
    copy_ = std::make_unique<Place>(folder);
  }
  Ran Create(Place& at, const std::string& name, const std::string& cmd) {
    const auto sim = base::ParseJson(*base::ReadFile(place_.home() / "sim" / "sim.json"));
    const std::string more =
        "ssh: {port: " + std::to_string(base::GetInt(*sim, "ssh_port")) + "}\n";
    return at.Jobman({"--endpoint", place_.SimEndpoint(), "create", at.JobFile(name, 1, cmd, more),
                      "--set", "tpu.project=sim", "--set",
                      "cloud.token_file=" + place_.SimTokenFile().string()});
  }
  std::int64_t Deletes() {
    const auto log = base::ParseJson(place_.Sim({"requests"}).out);
    return base::GetInt(base::GetMember(*log, "counts"), "queuedResources.delete");
  }
  std::string Slices() { return place_.Sim({"status"}).out; }

  Place place_;
  std::unique_ptr<Place> copy_;
};

TEST_F(CopiedStore, ACopyActsOnNothingAndSaysWhatToDo) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"controller", "run"},
                                             {"controller", "stop"},
                                             {"tick"},
                                             {"cancel", "train"},
                                             {"delete", "train", "--wait"},
                                             {"clean", "train"},
                                             {"wait", "train"},
                                             {"exec", "train", "--", "true"},
                                             {"gc", "--yes"}}) {
    const Ran refused = copy_->Jobman(command);
    EXPECT_EQ(refused.code, kUsage) << command[0] << refused.All();
    EXPECT_THAT(refused.err, AllOf(HasSubstr("this store was moved or copied: it was used in " +
                                             place_.home().string()),
                                   HasSubstr("if it was moved: jobman store adopt;"),
                                   HasSubstr("jobman store adopt --new-id")))
        << command[0];
  }
  const Ran json = copy_->Jobman({"--json", "cancel", "train"});
  EXPECT_EQ(json.code, kUsage);
  EXPECT_THAT(json.out, HasSubstr("\"copied_store\""));
  for (const std::string command : {"list", "show", "why", "history", "logs"}) {
    std::vector<std::string> words = {command};
    if (command != "list") words.emplace_back("train");
    const Ran read = copy_->Jobman(words);
    EXPECT_EQ(read.code, 0) << read.All();
    EXPECT_THAT(read.err, HasSubstr("warning: this store was moved or copied")) << command;
    EXPECT_NE(read.out, "") << command;
  }
  EXPECT_THAT(copy_->Jobman({"-q", "list"}).err, IsEmpty());
  EXPECT_EQ(place_.Jobman({"controller", "status"}).code, 0) << "the original's controller lives";
  EXPECT_EQ(place_.StateOf("train"), "RUNNING");
  EXPECT_EQ(Deletes(), 0);

  ASSERT_EQ(copy_->Jobman({"store", "adopt", "--new-id"}).code, 0);
  EXPECT_EQ(place_.Jobman({"delete", "train", "--wait"}).code, 0);
}

TEST_F(CopiedStore, ACopyWithANewIdLivesBesideTheOriginal) {
  const Ran adopted = copy_->Jobman({"store", "adopt", "--new-id"});
  ASSERT_EQ(adopted.code, 0) << adopted.All();
  EXPECT_THAT(adopted.err, HasSubstr("1 job left to the original, with what they hold: 000001"));
  EXPECT_EQ(copy_->StateOf("train"), "CANCELLED");
  EXPECT_THAT(copy_->Jobman({"why", "train"}).out,
              HasSubstr("left to the store that this one is a copy of"));
  copy_->StartController({"--poll", "1"});
  ASSERT_EQ(Create(*copy_, "other", "echo there; exec sleep 7444").code, 0);
  ASSERT_TRUE(copy_->Reaches("other", "RUNNING"));
  EXPECT_THAT(Slices(), AllOf(HasSubstr("train-000001-a1"), HasSubstr("other-000002-a1")));
  EXPECT_EQ(copy_->Jobman({"delete", "train", "--wait"}).code, 0);
  EXPECT_EQ(copy_->Jobman({"gc"}).code, 0) << "the original's slice is not garbage";
  EXPECT_EQ(place_.StateOf("train"), "RUNNING");
  EXPECT_EQ(Deletes(), 0);
  EXPECT_EQ(copy_->Jobman({"delete", "other", "--wait"}).code, 0);
  EXPECT_THAT(Slices(), HasSubstr("train-000001-a1"));
  EXPECT_EQ(place_.Jobman({"delete", "train", "--wait"}).code, 0);
}

/// Each folder is where the other one was: the path says nothing.
TEST_F(CopiedStore, TheOriginalIsKnownByItsFileWhereverItIs) {
  place_.KillController();
  const auto swap = [this] {
    const base::Path home = place_.home() / "store";
    const base::Path copy = copy_->home() / "store";
    const base::Path aside = place_.path() / "aside";
    std::filesystem::rename(home, aside);
    std::filesystem::rename(copy, home);
    std::filesystem::rename(aside, copy);
  };
  swap();
  const Ran refused = place_.Jobman({"tick"});
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, HasSubstr("it is not the file that was used in "));
  EXPECT_EQ(copy_->Jobman({"tick"}).code, 0);
  EXPECT_EQ(copy_->StateOf("train"), "RUNNING");
  EXPECT_EQ(copy_->Jobman({"delete", "train", "--wait"}).code, 0);
  EXPECT_EQ(copy_->Jobman({"controller", "stop"}).code, 0);
  swap();
  ASSERT_EQ(copy_->Jobman({"store", "adopt", "--new-id"}).code, 0);
}

TEST_F(CopiedStore, AStoreThatWasMovedGoesOnWithItsJobs) {
  place_.KillController();
  ASSERT_TRUE(base::RemoveAll(place_.home() / "store").ok());
  EXPECT_EQ(copy_->Jobman({"tick"}).code, kUsage);
  const Ran adopted = copy_->Jobman({"store", "adopt"});
  ASSERT_EQ(adopted.code, 0) << adopted.All();
  EXPECT_THAT(adopted.err, AllOf(HasSubstr("is now at home in " + copy_->home().string()),
                                 Not(HasSubstr("left"))));
  copy_->StartController({"--poll", "1"});
  EXPECT_EQ(copy_->StateOf("train"), "RUNNING");
  EXPECT_THAT(copy_->Jobman({"exec", "train", "--", "pgrep -f '[s]leep 7333'"}).code, 0);
  EXPECT_EQ(copy_->Jobman({"delete", "train", "--wait"}).code, 0);
  EXPECT_THAT(Slices(), HasSubstr("no nodes, no queued resources"));
}

}  // namespace
}  // namespace jobman::test

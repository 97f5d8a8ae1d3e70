// The archive of the code on its way to the hosts.
#include "controller/file_sender.hpp"

#include "controller/stage_follower.hpp"
#include "jobman/base/hash.hpp"
#include "tests/unit/controller/stage_fixture.hpp"

namespace jobman::controller {
namespace {

using core::HostPhase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class FileSenderTest : public StageFixture {
 protected:
  FileSenderTest() {
    job_.spec.code.dir = "/home/ada/proj";
    job_.spec.code.path = "~/proj";
    content_ = std::string(600'000, 'x') + "end";
    core::CodeSnapshot& code = job_.spec.code.snapshot;
    code.sha256 = base::Sha256Hex(content_);
    code.packed = static_cast<std::int64_t>(content_.size());
    job_.stage->id = core::SetupStage{0};
    job_.stage->name = "setup-0-code";
    EXPECT_TRUE(base::EnsureDir(Archive().parent_path()).ok());
    EXPECT_TRUE(base::WriteFileAtomic(Archive(), content_).ok());
  }
  base::Path Archive() { return options_.paths.CodeFile(1, job_.spec.code.snapshot.sha256); }
  void Start() {
    const StageContext& context = Context();
    hosts_.emplace(context);
    watch_.emplace(context, *hosts_);
    follower_.emplace(context, *hosts_, *watch_);
    follower_->Start();
    Turn();
  }
  void HostLacksIt() {
    for (int i = 0; i < 2; ++i) shell_.Add("have", {.err = "jobman: absent\n"});
  }
  void StepSucceeds() { shell_.Add("run", {.err = "jobman: running\njobman: exited 0\n"}); }

  std::string content_ = {};
  std::optional<StageHosts> hosts_;
  std::optional<OutputWatch> watch_;
  std::optional<StageFollower> follower_;
};

TEST_F(FileSenderTest, AHostThatHasItIsSentNothing) {
  shell_.Add("have", {.err = "jobman: exited 0\n"});
  StepSucceeds();
  Start();
  EXPECT_THAT(shell_.verbs, ElementsAre("have", "run"));
  EXPECT_EQ(Last().phase, HostPhase::kExited);
}

TEST_F(FileSenderTest, AHostWithoutItGetsItBeforeTheStepStarts) {
  HostLacksIt();
  shell_.Add("put", {.err = "jobman: exited 0\n"});
  StepSucceeds();
  Start();
  ASSERT_THAT(shell_.verbs, ElementsAre("have", "have", "put", "run"));
  const std::string sha = job_.spec.code.snapshot.sha256;
  EXPECT_EQ(shell_.commands[2],
            "put store1.j000001." + sha + ".tar.gz 600003 " + sha + " store1.j000001.");
  EXPECT_EQ(shell_.inputs[2], content_);
  EXPECT_EQ(Last().phase, HostPhase::kExited);
  ASSERT_EQ(reports_.size(), 2u) << "the host counts as running from the step's start";
}

TEST_F(FileSenderTest, AHostWithoutTheScriptIsGivenIt) {
  shell_.Add("have", {.code = remote::kExitNotInstalled});
  shell_.Add("install", {});
  HostLacksIt();
  shell_.Add("put", {.err = "jobman: exited 0\n"});
  StepSucceeds();
  Start();
  EXPECT_THAT(shell_.verbs, ElementsAre("have", "install", "have", "have", "put", "run"));
}

TEST_F(FileSenderTest, ABrokenTransferIsTriedAgain) {
  HostLacksIt();
  shell_.Add("put", {.code = Broken()});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kPending);
  EXPECT_EQ(Last().error->message, "the connection broke");
  HostLacksIt();
  shell_.Add("put", {.err = "jobman: exited 0\n"});
  StepSucceeds();
  ASSERT_TRUE(Until([&] { return Last().phase == HostPhase::kExited; }));
}

TEST_F(FileSenderTest, WhatAHostTakesIsNoTimeWithoutContact) {
  options_.unreachable_limit = std::chrono::minutes{5};
  shell_.takes = std::chrono::minutes{4};
  HostLacksIt();
  shell_.Add("put", {.code = Broken()});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kPending) << "four minutes since it took something";
}

TEST_F(FileSenderTest, AHostThatCannotKeepItFailsTheStepThere) {
  HostLacksIt();
  shell_.Add("put", {.code = remote::kExitHostError, .err = "jobman: error no room for it\n"});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kLost);
  EXPECT_EQ(Last().error->message, "no room for it");
}

TEST_F(FileSenderTest, AnArchiveThatIsGoneHereFailsTheJobUnlessTheHostHasIt) {
  std::filesystem::remove(Archive());
  HostLacksIt();
  shell_.Add("follow", {.err = "jobman: absent\n"});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kLost);
  EXPECT_EQ(Last().error->code, base::Code::kFailedPrecondition) << "which is not tried again";
  EXPECT_THAT(Last().error->message, StartsWith(Archive().string() + ", the code of the job, is"));
  EXPECT_THAT(Last().error->hint, HasSubstr("jobman resume 000001"));
}

TEST_F(FileSenderTest, AnArchiveThatIsGoneHereDoesNotMatterToARunThatGoesOn) {
  std::filesystem::remove(Archive());
  HostLacksIt();
  shell_.Add("follow", {.err = "jobman: running\njobman: exited 0\n"});
  Start();
  EXPECT_EQ(Last().phase, HostPhase::kExited) << "an earlier controller has started it";
}

TEST_F(FileSenderTest, NoMoreThanTheGateLetsInAreSentAtATime) {
  job_.stage->hosts = {{.host = 0}, {.host = 0}, {.host = 0}};
  for (int i = 0; i < 6; ++i) shell_.Add("have", {.err = "jobman: absent\n"});
  Start();  // no `put` is answered
  const auto count = [this](const std::string& verb) {
    return std::count(shell_.verbs.begin(), shell_.verbs.end(), verb);
  };
  EXPECT_EQ(count("put"), 2);
  EXPECT_EQ(count("have"), 5) << "the third one waits";
}

/// Two hosts that may log in to each other.
class CodeRelayTest : public FileSenderTest {
 protected:
  CodeRelayTest() {
    job_.spec.ssh.host_to_host = true;
    job_.stage->id = core::SetupStage{1};
    job_.stage->name = "setup-1-code";
    job_.slice->hosts = {{.internal = "10.0.0.1"}, {.internal = "10.0.0.2"}};
    job_.stage->hosts = {{.host = 0}, {.host = 1}};
    CodeHas(2'000'000);
    for (int i = 0; i < 4; ++i) shell_.Add("have", {.err = "jobman: absent\n"});
    for (int i = 0; i < 2; ++i) StepSucceeds();
  }
  void CodeHas(std::size_t bytes) {
    content_ = std::string(bytes, 'y');
    core::CodeSnapshot& code = job_.spec.code.snapshot;
    code.sha256 = base::Sha256Hex(content_);
    code.packed = static_cast<std::int64_t>(content_.size());
    EXPECT_TRUE(base::WriteFileAtomic(Archive(), content_).ok());
  }
  std::int64_t Count(const std::string& verb) const {
    return std::count(shell_.verbs.begin(), shell_.verbs.end(), verb);
  }
};

TEST_F(CodeRelayTest, OneHostIsSentTheCodeAndGivesItToTheOther) {
  shell_.Add("put", {.err = "jobman: exited 0\n"});
  shell_.Add("fetch", {.err = "jobman: exited 0\n"});
  Start();
  EXPECT_EQ(Count("put"), 1);
  ASSERT_EQ(Count("fetch"), 1);
  const auto at = std::find(shell_.verbs.begin(), shell_.verbs.end(), "fetch");
  const std::string sha = job_.spec.code.snapshot.sha256;
  const std::string name = "store1.j000001." + sha + ".tar.gz";
  EXPECT_EQ(shell_.commands[static_cast<std::size_t>(at - shell_.verbs.begin())],
            "fetch " + name + " 2000000 " + sha + " store1.j000001. 10.0.0.1 " + name);
  EXPECT_EQ(Count("run"), 2);
}

TEST_F(CodeRelayTest, AHostThatWasGivenNothingIsSentTheCode) {
  for (int i = 0; i < 2; ++i) shell_.Add("put", {.err = "jobman: exited 0\n"});
  shell_.Add("fetch", {.err = "jobman: absent\n"});
  Start();
  EXPECT_EQ(Count("fetch"), 1);
  EXPECT_EQ(Count("put"), 2);
  EXPECT_EQ(Count("run"), 2);
}

TEST_F(CodeRelayTest, AHostWithoutRoomFailsTheStepThere) {
  shell_.Add("put", {.err = "jobman: exited 0\n"});
  shell_.Add("fetch", {.code = remote::kExitHostError, .err = "jobman: error no room for it\n"});
  Start();
  EXPECT_EQ(Count("put"), 1);
  EXPECT_EQ(Last().error->message, "no room for it");
}

TEST_F(CodeRelayTest, ASmallArchiveIsSentToEachHost) {
  CodeHas(1000);
  for (int i = 0; i < 2; ++i) shell_.Add("put", {.err = "jobman: exited 0\n"});
  Start();
  EXPECT_EQ(Count("fetch"), 0);
  EXPECT_EQ(Count("put"), 2);
}

TEST_F(CodeRelayTest, HostsThatMayNotLogInToEachOtherAreEachSentTheCode) {
  job_.spec.ssh.host_to_host = false;
  job_.stage->id = core::SetupStage{0};
  for (int i = 0; i < 2; ++i) shell_.Add("put", {.err = "jobman: exited 0\n"});
  Start();
  EXPECT_EQ(Count("fetch"), 0);
  EXPECT_EQ(Count("put"), 2);
}

}  // namespace
}  // namespace jobman::controller

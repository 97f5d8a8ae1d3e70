#include "controller/effects.hpp"

#include <set>

#include "tests/support/public_keys.hpp"
#include "tests/support/scripted_shell.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/controller/cloud_fixture.hpp"

namespace jobman::controller {
namespace {

using core::RunStage;
using core::StopStage;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// A job that runs on the two hosts of its slice.
class EffectsTest : public CloudFixture {
 protected:
  EffectsTest() {
    options_.paths.home = dir_.path();
    ports_.shell = &shell_;
    ports_.get_env = [](const std::string& name) {
      return name == "FROM_ENV" ? std::optional<std::string>("of-env") : std::nullopt;
    };
    job_ = test::SampleJob("train");
    job_.id = core::JobId{1};
    job_.state = core::Running{};
    job_.attempt = 1;
    job_.slice = test::SampleSlice("train-000001-a1");
    job_.stage = core::Stage{.name = "run", .hosts = {{.host = 0}, {.host = 1}}};
    core::SliceRequest node{.ref = job_.slice->ref, .tpu = job_.spec.tpu};
    node.ref.mode = core::AllocationMode::kTpuVm;
    Grant(std::move(node));
    for (const int host : {0, 1}) {
      api_->PublishHostKey("train-000001-a1", host, "ssh-ed25519", "AAAA");
    }
    effects_.emplace(loop_, ports_, options_, clouds_, *book_, *watch_);
  }
  void Do(core::Effect effect) {
    effects_->Do(job_, {std::move(effect)});
    Turn();
  }

  test::TempDir dir_;
  test::ScriptedShell shell_{clock_};
  core::Job job_;
  std::optional<Effects> effects_;
};

TEST_F(EffectsTest, AStageRunsOnceOnEveryHost) {
  Do(RunStage{.attempt = 1});
  Do(RunStage{.attempt = 1});
  EXPECT_THAT(shell_.verbs, ElementsAre("run", "run"));
}

TEST_F(EffectsTest, GuestsAreLetInWhenAStageBegins) {
  ASSERT_TRUE(store_.SetGuest({}, test::Ann()).ok());
  Do(RunStage{.attempt = 1});
  EXPECT_THAT(api_->LoginsOf("train-000001-a1"), ElementsAre(core::LoginOf(test::Ann())));
  EXPECT_THAT(shell_.verbs, ElementsAre("run", "run"));
}

TEST_F(EffectsTest, EffectsOnAnEarlierStageAreDropped) {
  Do(RunStage{.attempt = 0});
  Do(StopStage{.attempt = 1, .stage = core::SetupStage{0}});
  EXPECT_THAT(shell_.verbs, IsEmpty());
}

/// A new controller may have to stop what an earlier one started.
TEST_F(EffectsTest, AStageOfAnotherControllerCanBeStopped) {
  Do(StopStage{.attempt = 1});
  EXPECT_THAT(shell_.verbs, UnorderedElementsAre("run", "run", "stop", "stop"));
}

TEST_F(EffectsTest, ANoticeIsPassedToEveryHost) {
  Do(core::PassNotice{.attempt = 1, .notice = {.text = "PENDING"}, .signal = "TERM"});
  EXPECT_EQ(std::count(shell_.verbs.begin(), shell_.verbs.end(), "notice"), 2);
}

TEST_F(EffectsTest, AnAbandonedStageIsNoLongerFollowed) {
  Do(RunStage{.attempt = 1});
  EXPECT_FALSE(effects_->Quiet(clock_.Now()));
  Do(core::AbandonStage{.attempt = 1});
  EXPECT_TRUE(effects_->Quiet(clock_.Now()));
}

TEST_F(EffectsTest, ConnectionsToALostSliceAreClosed) {
  Do(RunStage{.attempt = 1});
  EXPECT_THAT(shell_.dropped, IsEmpty());
  job_.stage.reset();
  job_.slice.reset();
  Do(core::TellHooks{});
  EXPECT_THAT(shell_.dropped, UnorderedElementsAre("8123456789/0", "8123456789/1"));
}

TEST_F(EffectsTest, SecretsComeFromANudgeAFileOrTheEnvironment) {
  ASSERT_TRUE(base::WriteFileAtomic(dir_.path() / "token", "of-file\n").ok());
  job_.spec.command.secrets = {{.name = "FROM_NUDGE"},
                               {.name = "FROM_FILE", .file = (dir_.path() / "token").string()},
                               {.name = "FROM_ENV"}};
  effects_->Remember({{1, {{"FROM_NUDGE", "of-nudge"}}}});
  Do(RunStage{.attempt = 1});
  ASSERT_THAT(shell_.verbs, ElementsAre("run", "run"));
  for (const char* value : {"of-nudge", "of-file", "of-env"}) {
    EXPECT_THAT(shell_.inputs[0], HasSubstr(value));
  }
}

/// What the order to start the command asks its host for.
std::string SetupAskedFor(const std::string& order) {
  const std::size_t from = order.find("jm_setup='");
  return from == std::string::npos ? "" : order.substr(from, order.find('\n', from) - from);
}

TEST_F(EffectsTest, ARotatedKeyMakesTheHostsAskForTheirSetupAgain) {
  const std::string key = (dir_.path() / "key").string();
  job_.spec.ssh.identities = {{.private_key = key}};
  const auto asked_with = [&](const std::string& content) {
    EXPECT_TRUE(base::WriteFileAtomic(key, content).ok());
    shell_.inputs.clear();
    Do(RunStage{.attempt = job_.attempt});
    ++job_.attempt;
    EXPECT_EQ(shell_.inputs.size(), 2U) << "one call per host";
    std::set<std::string> asked;
    for (const std::string& order : shell_.inputs) asked.insert(SetupAskedFor(order));
    return asked;
  };
  const auto first = asked_with("one");
  EXPECT_THAT(first, testing::Each(HasSubstr(".s0-")));
  EXPECT_EQ(asked_with("one"), first);
  EXPECT_NE(asked_with("two"), first);
}

TEST_F(EffectsTest, SecretsOfAForgottenJobAreForgotten) {
  job_.spec.command.secrets = {{.name = "FROM_NUDGE"}};
  effects_->Remember({{1, {{"FROM_NUDGE", "of-nudge"}}}});
  effects_->Forget(job_.id);
  Do(RunStage{.attempt = 1});
  EXPECT_THAT(shell_.verbs, ElementsAre("follow", "follow")) << "nothing is started";
}

}  // namespace
}  // namespace jobman::controller

// Stages, without decisions.
#include "jobman/core/stage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jobman::core {
namespace {

const Alarm kEnd{.rule = "bad_output", .action = WatchdogAction::kFail};
const Alarm kAgain{.rule = "no_output", .action = WatchdogAction::kRestart};

TEST(StopCause, ALaterCauseDecidesOnlyWhenItOutranksTheEarlier) {
  const std::vector<StopCause> rising = {
      HostFailed{}, NoticeGraceOver{}, StepTimedOut{}, MachinesReplaced{},
      kAgain,       NodeLost{},        StoppedByUser{}};
  for (std::size_t i = 0; i < rising.size(); ++i) {
    for (std::size_t j = 0; j < rising.size(); ++j) {
      EXPECT_EQ(Outranks(rising[i], rising[j]), i > j) << i << " over " << j;
    }
  }
}

TEST(StopCause, AnAlarmThatEndsTheJobYieldsOnlyToTheUser) {
  EXPECT_FALSE(Outranks(NodeLost{}, kEnd));
  EXPECT_FALSE(Outranks(kAgain, kEnd));
  EXPECT_FALSE(Outranks(kEnd, NodeLost{})) << "output of a dying command is not its own fault";
  EXPECT_TRUE(Outranks(kEnd, HostFailed{}));
  EXPECT_TRUE(Outranks(StoppedByUser{}, kEnd));
}

TEST(Stage, TheCulpritIsTheFirstHostThatFailed) {
  Stage stage{.hosts = {{.host = 0, .phase = HostPhase::kExited, .exit_code = 143},
                        {.host = 1, .phase = HostPhase::kExited, .exit_code = 1}}};
  EXPECT_EQ(Culprit(stage)->host, 0);
  stage.stop = HostFailed{1};
  EXPECT_EQ(Culprit(stage)->host, 1);
  stage.hosts = {{.host = 0, .phase = HostPhase::kRunning}};
  stage.stop.reset();
  EXPECT_EQ(Culprit(stage), nullptr);
}

TEST(Stage, AStoppedStageIsOverWhenNothingIsLeftOfIt) {
  Stage stage{.hosts = {{.phase = HostPhase::kExited}}};
  EXPECT_TRUE(stage.Over());
  stage.stop = StoppedByUser{};
  EXPECT_FALSE(stage.Over());
  stage.hosts[0].settled = true;
  EXPECT_TRUE(stage.Over());
}

TEST(Stage, NamesSayStepAndCommand) {
  const JobSpec spec{.setup = {{.name = "install"}, {.name = "data"}}};
  EXPECT_EQ(StageName(spec, SetupStage{1}), "setup-1-data");
  EXPECT_EQ(StageName(spec, CommandStage{}), "run");
  EXPECT_EQ(StepOf(spec, CommandStage{}), nullptr);
  EXPECT_EQ(StepOf(spec, SetupStage{0})->name, "install");
}

TEST(Stage, BuiltInStepsComeBeforeThoseOfTheJobFile) {
  JobSpec spec{.env_type = EnvType::kVenv,
               .ssh = {.identities = {{.private_key = "/k"}}},
               .gcsfuse = {.bucket_name = "b", .mount_path = "/b"},
               .venv = {.name = "env"},
               .setup = {{.name = "install"}}};
  EXPECT_EQ(StepNames(spec),
            (std::vector<std::string>{"identities", "gcsfuse", "venv", "install"}));
  EXPECT_EQ(BuiltInOf(spec, SetupStage{1}), BuiltIn::kGcsfuse);
  EXPECT_EQ(BuiltInOf(spec, SetupStage{3}), std::nullopt);
  EXPECT_EQ(BuiltInOf(spec, CommandStage{}), std::nullopt);
  EXPECT_EQ(StageName(spec, SetupStage{2}), "setup-2-venv");
  EXPECT_TRUE(StepOf(spec, SetupStage{2})->hosts.all);
  spec.env_type = EnvType::kNone;
  EXPECT_EQ(CountSteps(spec), 3);
}

TEST(IsStageCalled, ByItsOwnNameOrThatOfItsSetupStep) {
  EXPECT_TRUE(IsStageCalled("setup-0-fetch-data", "setup-0-fetch-data"));
  EXPECT_TRUE(IsStageCalled("setup-0-fetch-data", "fetch-data"));
  EXPECT_FALSE(IsStageCalled("setup-0-fetch-data", "data"));
  EXPECT_FALSE(IsStageCalled("setup-0-fetch-data", "run"));
  EXPECT_TRUE(IsStageCalled("run", "run"));
  EXPECT_FALSE(IsStageCalled("run", ""));
  EXPECT_FALSE(IsStageCalled("setup-0", ""));
}

TEST(RunsBefore, SetupStepsByNumberThenTheCommand) {
  EXPECT_TRUE(RunsBefore("setup-2-z", "setup-10-a"));
  EXPECT_TRUE(RunsBefore("setup-10-a", "run"));
  EXPECT_FALSE(RunsBefore("run", "setup-0-a"));
  EXPECT_FALSE(RunsBefore("run", "run"));
}

}  // namespace
}  // namespace jobman::core

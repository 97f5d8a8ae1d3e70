#include "controller/run_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "controller/task_order.hpp"
#include "tests/support/sample_job.hpp"

namespace jobman::controller {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Pair;

class RunOrderTest : public testing::Test {
 protected:
  RunOrderTest() {
    job_ = test::SampleJob("train");
    job_.id = core::JobId{1};
    job_.attempt = 1;
    job_.slice = test::SampleSlice("train-000001-a1");
    job_.stage = core::Stage{.name = "run", .generation = 2, .hosts = {{.host = 0}, {.host = 1}}};
  }
  std::string Id() const { return core::FormatRunId(RunOn(job_, "store1", 0, keys_)); }
  base::Result<remote::RunOrder> Order() const {
    return OrderWith([](const core::SecretRef& secret) {
      return secret.name == "KNOWN" ? std::optional<std::string>("value") : std::nullopt;
    });
  }
  base::Result<remote::RunOrder> OrderWith(
      std::function<std::optional<std::string>(const core::SecretRef&)> secret) const {
    return OrderFor(
        job_, 0,
        {.store_id = "store1", .job_dir = "/jobs/1", .secret = std::move(secret), .keys = keys_});
  }
  core::Job job_;
  KeyDigest keys_ = "digest";
};

TEST_F(RunOrderTest, TheCommandIsANewRunInEachAttemptAndReplacesTheEarlierOnes) {
  const std::string first = Id();
  EXPECT_THAT(Order()->replaces, IsEmpty());
  job_.attempt = 2;
  EXPECT_NE(Id(), first);
  EXPECT_EQ(Order()->replaces, Id());
  EXPECT_FALSE(Order()->chips_of.empty());
}

TEST_F(RunOrderTest, AWorkersTaskIsARunOfItsOwnAndEndsWhatOtherRunsLeft) {
  job_.spec.queue = core::QueueSpec{.enabled = true, .config = "/tasks.yaml"};
  job_.stage->id = core::TaskStage{.task = "lr1", .run = 3};
  job_.task_runs = 7;
  job_.stage->task = core::TaskInHand{.definition = {.id = "lr1", .run = "python train.py"}};
  const auto order = Order();
  EXPECT_EQ(order->run_id, TaskRunOn(job_, "store1", 0));
  EXPECT_EQ(order->run_id, StageRunOn(job_, "store1", 0, keys_));
  EXPECT_THAT(order->script, testing::HasSubstr("python train.py"));
  EXPECT_EQ(order->replaces, OlderRunsOn(job_, "store1", 0));
  EXPECT_THAT(order->run_id, testing::EndsWith(".h0.t7"));
  EXPECT_EQ(order->replaces, order->run_id) << "a late order ends nothing that began since";
  EXPECT_EQ(order->env.at("JOBMAN_RUN_ID"), order->run_id);
}

TEST_F(RunOrderTest, TheSetupOfAWorkersLaterAttemptEndsTheRunsOfTasks) {
  job_.spec.queue = core::QueueSpec{.enabled = true, .config = "/tasks.yaml"};
  job_.stage->id = core::SetupStage{0};
  job_.attempt = 2;
  job_.task_runs = 7;
  EXPECT_EQ(StageRunOn(job_, "store1", 0, keys_), Id());
  EXPECT_THAT(Order()->replaces, testing::EndsWith(".h0.t8"));
}

/// They are made once for all hosts of a stage.
TEST_F(RunOrderTest, RunsOfStepsThatWereMadeBeforeChangeNothing) {
  const StepRuns steps = StepRunsOf(job_, keys_);
  const OrderSources here = {.store_id = "store1",
                             .job_dir = "/jobs/1",
                             .secret = [](const core::SecretRef&) { return "value"; },
                             .keys = keys_};
  OrderSources with_steps = here;
  with_steps.steps = steps;
  ASSERT_FALSE(steps->empty());
  for (const core::StageId& stage :
       {core::StageId{core::SetupStage{0}}, core::StageId{core::CommandStage{}}}) {
    job_.stage->id = stage;
    const auto order = OrderFor(job_, 1, with_steps);
    const auto anew = OrderFor(job_, 1, here);
    ASSERT_TRUE(order.ok() && anew.ok());
    EXPECT_EQ(order->setup, anew->setup);
    EXPECT_EQ(order->run_id, anew->run_id);
    EXPECT_EQ(StageRunOn(job_, "store1", 1, keys_, steps), order->run_id);
  }
}

TEST_F(RunOrderTest, NamesTheSliceThatTheAttemptHas) {
  job_.spec.command.cmd = "echo ${tpu.name} '${tpu.name}' $HOME";
  job_.spec.environment["PREFIX"] = "gs://x/${tpu.name}";
  job_.spec.command.env["NAME"] = "${tpu.name}";
  EXPECT_EQ(Order()->script, "echo train-000001-a1 'train-000001-a1' $HOME");
  EXPECT_THAT(Order()->env, Contains(Pair("PREFIX", "gs://x/train-000001-a1")));
  EXPECT_THAT(Order()->env, Contains(Pair("NAME", "train-000001-a1")));
  job_.spec.setup[0].run = "mkdir ${tpu.name}";
  job_.stage->id = core::SetupStage{0};
  EXPECT_EQ(Order()->script, "mkdir train-000001-a1");
}

TEST_F(RunOrderTest, NamesAreBoundBeforeAnythingIsQuoted) {
  job_.user = "o'brien";
  job_.spec.env_type = core::EnvType::kDocker;
  job_.spec.docker.image = "busybox";
  job_.spec.docker.mount_dirs = {"/data/${tpu.name}"};
  job_.spec.command.cmd = "echo ${job.user}";
  EXPECT_THAT(Order()->script, testing::HasSubstr(R"(echo o'\''brien)"));
  EXPECT_THAT(Order()->script, testing::HasSubstr("/data/train-000001-a1"));
}

TEST_F(RunOrderTest, NamesTheJobItsUserAndHowManyHostsThereAre) {
  job_.spec.command.cmd = "echo ${job.id} ${job.user} ${job.dir} ${tpu.num_workers} ${other}";
  EXPECT_EQ(Order()->script, "echo 000001 ada /jobs/1 2 ${other}");
}

TEST_F(RunOrderTest, ABuiltInStepIsAnotherRunWhenItsSectionChanges) {
  job_.spec.env_type = core::EnvType::kVenv;
  job_.spec.venv = {.name = "env", .requirements_file = "jax\n", .python = "python3.10"};
  job_.stage->id = core::SetupStage{0};
  const std::string first = Id();
  EXPECT_THAT(Order()->script, testing::HasSubstr("jb_venv"));
  EXPECT_EQ(Id(), first);
  job_.spec.venv.requirements_file = "jax[tpu]\n";
  EXPECT_NE(Id(), first);
  job_.stage->id = core::SetupStage{1};
  EXPECT_EQ(Order()->script, job_.spec.setup[0].run);
}

TEST_F(RunOrderTest, TheCodeComesFirstAndIsAnotherRunForOtherContent) {
  job_.spec.code.dir = "/home/ada/proj";
  job_.spec.code.path = "~/proj";
  job_.spec.code.snapshot.sha256 = "abc";
  job_.stage->id = core::SetupStage{0};
  const std::string first = Id();
  EXPECT_THAT(Order()->script, testing::HasSubstr("jb_code '~/proj' abc\n"));
  EXPECT_THAT(Order()->env,
              Contains(Pair("JOBMAN_CODE_FILE", "~/.jobman/files/store1.j000001.abc.tar.gz")));
  EXPECT_EQ(Order()->workdir, "") << "the folder is not there yet";
  job_.spec.code.snapshot.sha256 = "def";
  EXPECT_NE(Id(), first);
}

TEST_F(RunOrderTest, TheCommandAndTheUsersStepsStartInTheFolderOfTheCode) {
  EXPECT_EQ(Order()->workdir, "");
  job_.stage->id = core::SetupStage{0};
  const std::string without = Id();
  job_.spec.code.dir = "/home/ada/proj";
  job_.spec.code.path = "~/proj";
  job_.spec.code.snapshot.sha256 = "abc";
  job_.stage->id = core::SetupStage{1};
  EXPECT_EQ(Order()->workdir, "~/proj");
  const std::string first = Id();
  EXPECT_NE(first.substr(first.rfind(".s") + 3), without.substr(without.rfind(".s") + 3));
  job_.spec.code.snapshot.sha256 = "def";
  EXPECT_EQ(Id(), first) << "a step is not repeated for other code";
  job_.spec.code.path = "~/other";
  EXPECT_NE(Id(), first) << "but it is for another folder";
  job_.stage->id = core::CommandStage{};
  EXPECT_EQ(Order()->workdir, "~/other");
  job_.spec.command.workdir = "/data";
  EXPECT_EQ(Order()->workdir, "/data");
  job_.spec.command.cmd = "";
  EXPECT_EQ(Order()->workdir, "") << "a job that holds its slice";
}

TEST_F(RunOrderTest, AFolderInTheContainerNeedNotBeOnTheHost) {
  job_.spec.env_type = core::EnvType::kDocker;
  job_.spec.docker.image = "busybox";
  job_.spec.command.cmd = "pwd";
  job_.spec.command.workdir = "/only/in/${tpu.name}";
  EXPECT_EQ(Order()->workdir, "");
  EXPECT_THAT(Order()->script, testing::HasSubstr(" -w /only/in/train-000001-a1"));
  job_.spec.code.path = "~/proj";
  EXPECT_EQ(Order()->workdir, "~/proj");
  job_.spec.env_type = core::EnvType::kVenv;
  EXPECT_EQ(Order()->workdir, "/only/in/train-000001-a1") << "without a container, the host's";
}

TEST_F(RunOrderTest, NoHostIsAskedForASetupThatTheUserVouchesFor) {
  ASSERT_THAT(Order()->setup, testing::Not(IsEmpty()));
  job_.slice->setup_done = core::SetupDone{.generation = 2, .vouched = true};
  EXPECT_THAT(Order()->setup, IsEmpty());
}

TEST_F(RunOrderTest, KeysAreReadWhenTheRunStarts) {
  job_.spec.ssh.identities = {{.private_key = "/absent"}};
  job_.stage->id = core::SetupStage{0};
  const auto absent = Order();
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().message, "/absent, which the hosts need, cannot be read");
  EXPECT_EQ(absent.error().hint, "put it back and run: jobman resume 000001");
  const auto order = OrderWith(
      [](const core::SecretRef& secret) { return std::optional("content of " + secret.file); });
  EXPECT_THAT(order->secrets, Contains(Pair("JOBMAN_IDENTITY_0", "content of /absent")));
}

TEST_F(RunOrderTest, OtherKeysMakeTheirStepAnotherRunAndNoOther) {
  job_.spec.ssh.identities = {{.private_key = "/key", .public_key = "/key.pub"}};
  std::string content = "content";
  const auto digest = [&] {
    return DigestKeys(job_, [&](const core::SecretRef& secret) {
      return std::optional(secret.file == "/key.pub" ? content : "SECRET");
    });
  };
  keys_ = digest();
  EXPECT_THAT(*keys_, testing::Not(testing::HasSubstr("SECRET")));
  EXPECT_EQ(digest(), keys_);
  const auto before = Order()->setup;
  ASSERT_EQ(before.size(), 2U);
  content = "rotated";
  EXPECT_NE(digest(), keys_);
  keys_ = digest();
  const auto after = Order()->setup;
  ASSERT_EQ(after.size(), 2U);
  EXPECT_NE(after[0], before[0]);
  EXPECT_EQ(after[1], before[1]) << "the user's step";
  job_.stage->id = core::SetupStage{0};
  EXPECT_EQ(Id(), after[0]) << "the run that the command asks for is the one that the step makes";
}

TEST_F(RunOrderTest, WithoutItsKeyFileTheCommandUsesWhatTheHostsHave) {
  job_.spec.ssh.identities = {{.private_key = "/absent"}};
  EXPECT_EQ(Order()->setup.size(), 2U);
  keys_ = DigestKeys(job_, [](const core::SecretRef&) { return std::nullopt; });
  EXPECT_EQ(keys_, std::nullopt);
  EXPECT_EQ(Order()->setup.size(), 1U) << "the user's step";
}

TEST_F(RunOrderTest, AJobThatHoldsItsSliceLeavesTheChipsAlone) {
  job_.spec.command.cmd = "";
  const auto order = Order();
  EXPECT_THAT(order->script, testing::HasSubstr("sleep"));
  EXPECT_THAT(order->chips_of, IsEmpty()) << "its users have them";
}

TEST_F(RunOrderTest, ASetupStepIsTheSameRunUntilItOrItsMachineChanges) {
  job_.stage->id = core::SetupStage{0};
  const std::string first = Id();
  job_.attempt = 2;
  EXPECT_EQ(Id(), first);
  EXPECT_TRUE(Order()->chips_of.empty());
  core::Job changed = job_;
  job_.spec.environment["A"] = "b";
  EXPECT_NE(Id(), first);
  job_ = changed;
  job_.spec.setup[0].run += " ";
  EXPECT_NE(Id(), first);
  job_ = changed;
  job_.stage->generation = 1;
  EXPECT_NE(Id(), first);
  job_ = changed;
  job_.setup_epoch = 1;
  EXPECT_NE(Id(), first);
}

TEST_F(RunOrderTest, AStageNeedsTheStepsBeforeItOnItsHost) {
  job_.spec.setup = {{.name = "a", .run = "a"},
                     {.name = "b", .run = "b", .required = false},
                     {.name = "c", .run = "c", .hosts = {.all = false, .numbers = {1}}}};
  const auto order = Order();
  job_.stage->id = core::SetupStage{2};
  const auto third = Order();
  job_.stage->id = core::SetupStage{0};
  EXPECT_THAT(order->setup, testing::ElementsAre(Id())) << "the steps that had to succeed here";
  EXPECT_THAT(third->setup, testing::ElementsAre(Id()));
  EXPECT_THAT(Order()->setup, IsEmpty());
}

TEST_F(RunOrderTest, JaxIsAskedOnAllHostsInEachAttempt) {
  job_.spec.checks.jax = true;
  job_.spec.command.env = {{"JAX_PLATFORMS", "tpu"}};
  EXPECT_EQ(Order()->setup.size(), 1U) << "the step of the job file";
  job_.stage->id = core::SetupStage{1};
  const std::string first = Id();
  EXPECT_THAT(Order()->env, Contains(Pair("JAX_PLATFORMS", "tpu")));
  job_.attempt = 2;
  EXPECT_NE(Id(), first);
}

TEST_F(RunOrderTest, TheKeyOfTheJobComesWithItsStep) {
  job_.spec.ssh.host_to_host = true;
  job_.stage->id = core::SetupStage{0};
  EXPECT_EQ(Order().error().message,
            "the key of the job (ssh.host_to_host) cannot be written on this machine");
  const auto order = OrderWith(
      [](const core::SecretRef& secret) { return std::optional("value of " + secret.name); });
  EXPECT_THAT(order->secrets, Contains(Pair("JOBMAN_PEERS_KEY", "value of JOBMAN_PEERS_KEY")));
}

TEST_F(RunOrderTest, SetupStepsAndTheCommandUseTheForwardedAgent) {
  EXPECT_FALSE(Order()->uses_agent);
  job_.spec.ssh.agent_forwarding = true;
  EXPECT_TRUE(Order()->uses_agent);
  job_.stage->id = core::SetupStage{0};
  EXPECT_TRUE(Order()->uses_agent);
}

TEST_F(RunOrderTest, TheCommandsOwnVariablesWinAndSetupStepsDoNotSeeThem) {
  job_.spec.environment = {{"A", "job"}, {"B", "job"}};
  job_.spec.command.env = {{"A", "command"}};
  EXPECT_THAT(Order()->env, Contains(Pair("A", "command")));
  EXPECT_THAT(Order()->env, Contains(Pair("B", "job")));
  job_.stage->id = core::SetupStage{0};
  EXPECT_THAT(Order()->env, Contains(Pair("A", "job")));
}

TEST_F(RunOrderTest, SecretsAreSeparateAndAMissingOneIsNamedWithTheCure) {
  job_.spec.command.secrets = {{.name = "KNOWN"}};
  EXPECT_THAT(Order()->secrets, Contains(Pair("KNOWN", "value")));
  EXPECT_EQ(Order()->env.count("KNOWN"), 0u);
  job_.spec.command.secrets.push_back({.name = "OTHER"});
  const base::Error error = Order().error();
  EXPECT_EQ(error.message, "the secret OTHER has no value");
  EXPECT_THAT(error.hint, testing::HasSubstr("jobman resume 000001"));
}

}  // namespace
}  // namespace jobman::controller

#include "controller/task_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "tests/support/sample_job.hpp"

namespace jobman::controller {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

class TaskOrderTest : public testing::Test {
 protected:
  TaskOrderTest() {
    job_ = test::SampleJob("worker");
    job_.id = core::JobId{42};
    job_.attempt = 3;
    job_.slice = test::SampleSlice("worker-000042-a3");
    job_.slice->setup_done.reset();
    job_.stage = core::Stage{.name = "task", .generation = 2, .hosts = {{.host = 0}}};
    job_.task_runs = 7;
    task_ = {.id = "llama",
             .accelerator = "v4-32",
             .zone = "us-central2-b",
             .run = "python train.py",
             .repo = "maxtext",
             .url = "https://example.com/maxtext.git",
             .branch = "main",
             .workdir = "maxtext"};
  }
  base::Result<remote::RunOrder> Order(int run = 1, int host = 0) const {
    return TaskOrderFor(job_, task_, run, host,
                        {.store_id = "store1",
                         .job_dir = "/jobs/42",
                         .secret =
                             [](const core::SecretRef& secret) {
                               return secret.name == "KNOWN" ? std::optional<std::string>("value")
                                                             : std::nullopt;
                             },
                         .keys = "digest"});
  }
  core::Job job_;
  core::TaskDefinition task_;
};

TEST_F(TaskOrderTest, EachRunHasAnIdOfItsOwnAndEndsWhatEarlierOnesLeft) {
  const std::string first = Order()->run_id;
  EXPECT_TRUE(remote::IsRunId(first)) << first;
  EXPECT_THAT(first, AllOf(StartsWith("store1.j000042."), testing::EndsWith(".h0.t8")));
  // Runs with smaller numbers: see remote::RunOrder::replaces.
  EXPECT_EQ(Order()->replaces, first);
  EXPECT_THAT(first, StartsWith(Order()->chips_of));
  job_.task_runs = 9;
  EXPECT_NE(Order()->run_id, first);
}

TEST_F(TaskOrderTest, AnyIdOfATaskMakesAnIdOfARunAndAFolder) {
  task_.id = "a 'b'\n$(c)/../" + std::string(300, 'x');
  const auto order = Order();
  EXPECT_TRUE(remote::IsRunId(order->run_id)) << order->run_id;
  EXPECT_THAT(order->env, Contains(Pair("JOBMAN_TASK_ID", task_.id)));
  const std::string& folder = order->env.at("JOBMAN_CHECKPOINT_DIR");
  EXPECT_THAT(folder, StartsWith("~/.jobman/checkpoints/store1.j000042.a%20%27b%27%0a%24"));
  EXPECT_EQ(std::count(folder.begin(), folder.end(), '/'), 3);
  EXPECT_TRUE(remote::RunCall(*order, 0).ok());
}

TEST_F(TaskOrderTest, TheCheckpointsAreThoseOfTheTaskWhicheverWorkerRunsIt) {
  job_.stage->task = core::TaskInHand{.queue = core::QueueId{3}, .definition = task_};
  const std::string folder = "~/.jobman/checkpoints/store1.q3.llama";
  EXPECT_EQ(Order()->env.at("JOBMAN_CHECKPOINT_DIR"), folder);
  job_.id = core::JobId{43};
  EXPECT_EQ(Order()->env.at("JOBMAN_CHECKPOINT_DIR"), folder);
  task_.max_jobs = 2;
  EXPECT_EQ(Order()->env.at("JOBMAN_CHECKPOINT_DIR"), "~/.jobman/checkpoints/store1.j000043.llama")
      << "two runs at once do not share it";
}

TEST_F(TaskOrderTest, TheScriptIsThatOfTheTask) {
  const std::string script = Order()->script;
  EXPECT_THAT(script, HasSubstr("maxtext https://example.com/maxtext.git main ''\n"));
  EXPECT_THAT(script, HasSubstr("'python train.py'"));
  EXPECT_THAT(script, Not(HasSubstr("jb_find_conda()"))) << "no environment is asked for";
  task_.env = "jax";
  EXPECT_THAT(Order()->script, HasSubstr("jb_find_conda()"));
  task_.run = "echo ${tpu.name}";
  EXPECT_THAT(Order()->script, HasSubstr("'echo worker-000042-a3'"));
}

TEST_F(TaskOrderTest, AllHostsOfARunHaveOneKeyAndAnotherRunHasAnother) {
  task_.workers = {.all = true};
  EXPECT_EQ(Order(1, 0)->script, Order(1, 1)->script);
  EXPECT_NE(Order(1, 0)->run_id, Order(1, 1)->run_id);
  const std::string first = Order(1, 0)->script;
  ++job_.task_runs;
  EXPECT_NE(Order(1, 0)->script, first);
}

TEST_F(TaskOrderTest, ATaskWithoutWorkdirHasOneOfTheJob) {
  task_.workdir.clear();
  EXPECT_THAT(Order()->script, HasSubstr(" .jobman/work/store1.j000042 "));
}

TEST_F(TaskOrderTest, TheEnvironmentIsTheJobsAndTheTasks) {
  job_.spec.environment["SHARED"] = "of ${tpu.name}";
  job_.spec.command.env["OWN"] = "1";
  const auto order = Order(7);
  EXPECT_THAT(order->env, Contains(Pair("JOBMAN_TASK_ID", "llama")));
  EXPECT_THAT(order->env, Contains(Pair("JOBMAN_TASK_RUN", "7")));
  EXPECT_THAT(order->env, Contains(Pair("JOBMAN_TPU_NAME", "worker-000042-a3")));
  EXPECT_THAT(order->env, Contains(Pair("JOBMAN_ZONE", "us-central2-b")));
  EXPECT_THAT(order->env, Contains(Pair("JOBMAN_NUM_WORKERS", "2")));
  EXPECT_THAT(order->env, Contains(Pair("JOBMAN_WORKER_ID", "0")));
  EXPECT_THAT(order->env, Contains(Pair("JOBMAN_RUN_ID", order->run_id)));
  EXPECT_THAT(order->env, Contains(Pair("SHARED", "of worker-000042-a3")));
  EXPECT_THAT(order->env, Contains(Pair("OWN", "1")));
}

TEST_F(TaskOrderTest, WhatTheJobSaysOfOurVariablesCounts) {
  job_.spec.environment["JOBMAN_CHECKPOINT_DIR"] = "gs://bucket/x";
  EXPECT_THAT(Order()->env, Contains(Pair("JOBMAN_CHECKPOINT_DIR", "gs://bucket/x")));
}

TEST_F(TaskOrderTest, TheSetupOfTheWorkerMustHaveBeenDone) {
  EXPECT_EQ(Order()->setup.size(), 1U);
  job_.slice->setup_done = core::SetupDone{.generation = 2, .epoch = 0, .vouched = true};
  EXPECT_THAT(Order()->setup, IsEmpty());
}

TEST_F(TaskOrderTest, SecretsOfTheJobGoToItsTasks) {
  job_.spec.command.secrets = {{.name = "KNOWN"}};
  EXPECT_THAT(Order()->secrets, Contains(Pair("KNOWN", "value")));
  job_.spec.command.secrets = {{.name = "LOST"}};
  const auto order = Order();
  ASSERT_FALSE(order.ok());
  EXPECT_EQ(order.error().code, base::Code::kFailedPrecondition);
}

TEST_F(TaskOrderTest, OnlyItsHostsRunIt) {
  EXPECT_THAT(TaskHosts(job_, task_), ElementsAre(0));
  const auto order = Order(1, 1);
  ASSERT_FALSE(order.ok());
  EXPECT_EQ(order.error().code, base::Code::kInvalidArgument);
  task_.workers = {.all = true};
  EXPECT_THAT(TaskHosts(job_, task_), ElementsAre(0, 1));
  EXPECT_TRUE(Order(1, 1).ok());
  task_.workers = {.all = false, .numbers = {1, 5}};
  EXPECT_THAT(TaskHosts(job_, task_), ElementsAre(1));
  task_.workers = {.all = false, .numbers = {5}};
  EXPECT_THAT(TaskHosts(job_, task_), IsEmpty());
}

}  // namespace
}  // namespace jobman::controller

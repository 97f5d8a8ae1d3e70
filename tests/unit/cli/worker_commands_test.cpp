// worker ..., and task submit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "jobman/base/json.hpp"
#include "jobman/controller/controller.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/lend.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr base::Duration kLeaseOfTest = std::chrono::hours{1};

class WorkerCommands : public testing::Test {
 protected:
  WorkerCommands() {
    world_.open_cloud = Lend(cloud_);
    world_.fill = [this](MemoryStore& store) {
      ASSERT_TRUE(
          store.TakeLease(controller::LeaseHolder(), world_.clock.Now(), kLeaseOfTest).ok());
      PutJob(store, "train", false);    // 1
      PutJob(store, "worker_1", true);  // 2
    };
  }
  static void PutJob(MemoryStore& store, const std::string& name, bool is_worker) {
    core::Job job{.name = name};
    job.spec.name = name;
    job.spec.tpu.accelerator = "v4-8";
    job.spec.tpu.zone = "us-central2-b";
    if (is_worker) job.spec.queue = core::QueueSpec{.enabled = true};
    ASSERT_TRUE(store.Create(job, "", {}).ok());
  }
  std::string WriteFile(const std::string& name, const std::string& text) {
    const auto path = world_.paths().home / name;
    std::ofstream(path) << text;
    return path.string();
  }
  /// `worker start` with these options.
  CliWorld::Ended Start(const std::vector<std::string>& options) {
    std::vector<std::string> args = {"worker", "start", "--set", "tpu.project=demo"};
    args.insert(args.end(), options.begin(), options.end());
    return world_.Run(args);
  }

  CliWorld world_;
  FakeSliceApi cloud_{world_.clock};
};

TEST_F(WorkerCommands, StartMakesJobsThatServeTheSubmittedTasks) {
  const auto ended = Start({"-a", "v4-8", "-z", "us-central2-b", "--count", "2"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("worker-v4-8_1"), HasSubstr("worker-v4-8_2"),
                               HasSubstr("runs submitted tasks"), HasSubstr("worker list")));
}

TEST_F(WorkerCommands, StartTakesAQueueFileAndANameOfItsOwn) {
  const std::string queue = WriteFile("tasks.yaml", "accelerators: {}\n");
  const auto ended = Start({"-a", "v4-8", "-z", "us-central2-b", "-n", "night", "--queue", queue});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("night"), Not(HasSubstr("night_")),
                               HasSubstr("runs the tasks of " + queue)));
}

TEST_F(WorkerCommands, StartTakesAJobFileForTheRest) {
  const std::string file =
      WriteFile("w.yaml", "job: {name: mine}\ntpu: {accelerator: v4-8, zone: us-central2-b}\n");
  const auto ended = Start({"-f", file});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("mine"), HasSubstr("runs submitted tasks")));
  const auto both = Start({"-f", file, "-s", file});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("--startup cannot be used with --file"));
}

TEST_F(WorkerCommands, StartSaysWhatItLacks) {
  const auto ended = Start({"-z", "us-central2-b"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--accelerator or --file is required"));
  EXPECT_EQ(Start({"-a", "v4-8", "-z", "us-central2-b", "--count", "0"}).exit_code, 2);
}

TEST_F(WorkerCommands, StartAsksTheCloudFirstUnlessItIsTold) {
  cloud_.SetReachable(false);
  const auto asked = Start({"-a", "v4-8", "-z", "us-central2-b"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr("offers could not be checked"));
  const auto unasked = Start({"-a", "v4-8", "-z", "us-central2-b", "--no-preflight"});
  EXPECT_EQ(unasked.exit_code, 0) << unasked.err;
  EXPECT_THAT(unasked.err, Not(HasSubstr("could not be checked")));
}

TEST_F(WorkerCommands, StartTakesTheWordsOfOtherToolsForThePricing) {
  for (const char* word : {"on-demand", "standard", "spot"}) {
    const auto ended = Start({"-a", "v4-8", "-z", "us-central2-b", "-p", word, "--dry-run"});
    EXPECT_EQ(ended.exit_code, 0) << word << ended.err;
  }
}

TEST_F(WorkerCommands, OtherCommandsRefuseAJobThatIsNoWorkerByName) {
  for (const char* command : {"stop", "resume", "delete", "show", "logs", "requeue", "reboot"}) {
    const auto ended = world_.Run({"worker", command, "1"});
    EXPECT_EQ(ended.exit_code, 2) << command;
    EXPECT_THAT(ended.err, HasSubstr("job 000001 is no worker: it runs a command")) << command;
  }
  EXPECT_THAT(world_.Run({"worker", "stop", "train"}).err, HasSubstr("jobman cancel 000001"));
}

TEST_F(WorkerCommands, OfAPatternTheWorkersAreMeant) {
  const auto ended = world_.Run({"worker", "stop", "*r*"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("000002"), Not(HasSubstr("000001"))));
  const auto none = world_.Run({"worker", "stop", "trai*"});
  EXPECT_THAT(none.err, HasSubstr("no worker fits"));
}

TEST_F(WorkerCommands, AnIdleWorkerIsNotOver) {
  world_.fill = [](MemoryStore& store) {
    core::Job job{.name = "worker_1", .state = core::Idle{}};
    job.spec.queue = core::QueueSpec{.enabled = true};
    job.spec.tpu.accelerator = "v4-8";
    job.slice = core::Slice{
        .ref = {.name = "worker-1-000001-a1"}, .phase = core::SlicePhase::kCreated, .ready = true};
    ASSERT_TRUE(store.Create(job, "", {}).ok());
  };
  const auto ended = world_.Run({"worker", "list"});
  EXPECT_THAT(ended.err, Not(HasSubstr("held by a job that is over")));
  EXPECT_THAT(ended.err, HasSubstr("no controller is running")) << "tasks may come";
}

TEST_F(WorkerCommands, LogsSayWhereThoseOfTasksAre) {
  EXPECT_THAT(world_.Run({"worker", "logs", "2"}).err,
              HasSubstr("job 000002 runs tasks, which have their own logs: jobman task logs TASK"));
  EXPECT_THAT(world_.Run({"logs", "1"}).err, Not(HasSubstr("task logs")));
}

TEST_F(WorkerCommands, ListShowsWorkersAlone) {
  const auto ended = world_.Run({"worker", "list"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("worker_1"), Not(HasSubstr("train"))));
}

TEST_F(WorkerCommands, SubmitStoresATaskAndSaysWhatItWaitsFor) {
  const std::string script = WriteFile(
      "lr.sh", "#!/bin/bash\n#JOBMAN --accelerator=v4-8 --zone=us-central2-b\necho \"$1\"\n");
  const auto ended = world_.Run({"task", "submit", script, "--", "--lr", "3"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("submitted task lr-001: waits for 1 worker"),
                               Not(HasSubstr("worker start"))));
  const auto elsewhere = world_.Run({"task", "submit", "-z", "us-east5-a", script});
  EXPECT_THAT(elsewhere.out, HasSubstr("jobman worker start -a v4-8 -z us-east5-a"));
  EXPECT_EQ(world_.Run({"--quiet", "task", "submit", "-n", "mine", script}).out, "mine\n");
}

TEST_F(WorkerCommands, SubmitAsJsonHasTheRecordAndTheReason) {
  const std::string script =
      WriteFile("lr.sh", "#JOBMAN --accelerator=v4-8 --zone=us-central2-b\ntrue\n");
  const auto ended = world_.Run({"--json", "task", "submit", script});
  const auto json = base::ParseJson(ended.out);
  ASSERT_TRUE(json.ok()) << ended.out;
  ASSERT_EQ((*json)["tasks"].size(), 1U);
  EXPECT_EQ((*json)["tasks"][0]["id"], "lr-001");
  EXPECT_THAT((*json)["tasks"][0]["waits_for"].get<std::string>(), HasSubstr("waits for"));
}

TEST_F(WorkerCommands, SubmitTakesTheJobsOfAFile) {
  const std::string file =
      WriteFile("sweep.yaml",
                "job: {name: sweep}\ntpu: {accelerator: v4-8, zone: us-central2-b}\n"
                "matrix: {lr: [1, 2]}\ncommand: {cmd: \"train ${matrix.lr}\"}\n");
  EXPECT_EQ(world_.Run({"--quiet", "task", "submit", file}).out, "sweep-0\nsweep-1\n");
  const auto many = world_.Run({"task", "submit", file, "--array", "lr=1-9"});
  EXPECT_THAT(many.out, HasSubstr("submitted 9 tasks, sweep-0 to sweep-8"));
  const auto refused = world_.Run({"task", "submit", file, "--set", "tpu.pricing=spot"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("tpu.pricing has no meaning for a task"));
}

TEST_F(WorkerCommands, SubmitRefusesWhatIsForTheOtherKindOfFile) {
  const std::string script = WriteFile("lr.sh", "true\n");
  EXPECT_THAT(world_.Run({"task", "submit", script, "--set", "tpu.zone=z"}).err,
              HasSubstr("are for a job file"));
  const std::string file = WriteFile("a.yaml", "command: {cmd: hostname}\n");
  EXPECT_THAT(world_.Run({"task", "submit", file, "word"}).err,
              HasSubstr("arguments are for a script"));
  EXPECT_THAT(world_.Run({"task", "submit", script}).err,
              AllOf(HasSubstr("--accelerator is missing"), HasSubstr("--zone is missing")));
}

}  // namespace
}  // namespace jobman::test

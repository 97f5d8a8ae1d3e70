// Tasks that are in no file: scripts and jobs are submitted to a worker, and people change what is
// next, what is run again and what is not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Exit codes of commands.
constexpr int kWrong = 2;
constexpr int kNotThere = 3;

/// The first line of a script for the workers of these tests.
constexpr const char* kHead = "#JOBMAN --accelerator=v4-16 --zone=us-central2-b\n";

class QueueCommands : public testing::Test {
 protected:
  QueueCommands() {
    std::filesystem::create_directories(share_);
    std::filesystem::permissions(share_, std::filesystem::perms::all);
    place_.StartSim({"--delays", "0", "--share", share_.string()});
  }

  /// Runs a command that has to succeed, and returns all that it prints.
  std::string Do(const std::vector<std::string>& args) {
    const Ran ran = place_.Jobman(args);
    EXPECT_EQ(ran.code, 0) << base::Join(args, " ") << ":\n" << ran.All();
    return ran.All();
  }
  /// Runs a command that has to fail with this code, and returns what it says of that.
  std::string Refused(int code, const std::vector<std::string>& args) {
    const Ran ran = place_.Jobman(args);
    EXPECT_EQ(ran.code, code) << base::Join(args, " ") << ":\n" << ran.All();
    EXPECT_THAT(ran.out, IsEmpty()) << base::Join(args, " ");
    return ran.err;
  }
  std::string Write(const std::string& name, const std::string& text) {
    const base::Path file = place_.path() / name;
    EXPECT_TRUE(base::WriteFileAtomic(file, text).ok());
    return file.string();
  }
  std::string StartWorker() {
    return Do({"worker", "start", "-n", "night", "-a", "v4-16", "-z", "us-central2-b", "--set",
               "cloud.endpoint=local"});
  }
  std::string Submit(const std::string& id, const std::string& script,
                     const std::string& retries = "3") {
    return Do({"task", "submit", Write(id + ".sh", kHead + script), "--name", id, "--max-retries",
               retries});
  }

  /// Goes on until the test lets it. Both note in a file of the test that they were here.
  std::string Held() const {
    return fmt::format(
        "echo begun $JOBMAN_TASK_RUN\n"
        "until [ -e {0}/go ]; do sleep 0.5; done\n"
        "echo $JOBMAN_TASK_ID >>{0}/order\n",
        share_.string());
  }
  std::string Quick() const {
    return fmt::format("echo $JOBMAN_TASK_ID >>{}/order\n", share_.string());
  }
  void LetGo() { ASSERT_TRUE(base::WriteFileAtomic(share_ / "go", "").ok()); }
  void HoldAgain() { std::filesystem::remove(share_ / "go"); }
  /// The tasks that came to their ends, one a line.
  std::string Order() const { return base::ReadFile(share_ / "order").value_or(""); }

  base::Json TaskOf(const std::string& id) {
    const auto json = base::ParseJson(place_.Jobman({"--json", "task", "show", id}).out);
    if (!json.ok()) return base::Json::object();
    const base::Json& tasks = base::GetMember(*json, "tasks");
    return tasks.is_array() && !tasks.empty() ? tasks[0] : base::Json::object();
  }
  bool Comes(const std::string& id, const std::string& state, int runs = 1) {
    return place_.Until(fmt::format("run {} of {} to be {}", runs, id, state), [&] {
      const base::Json task = TaskOf(id);
      return base::GetString(task, "state") == state && base::GetInt(task, "runs") == runs;
    });
  }

  Place place_;
  const base::Path share_ = place_.path() / "share";
};

TEST_F(QueueCommands, AScriptFindsWhatItExpectsOnTheNextWorker) {
  const std::string script =
      Write("lr.sh", "#!/bin/bash\n" + std::string(kHead) +
                         "#JOBMAN --name=lr --max-retries=2\n"
                         "#JOBMAN --mail-user=ann@example.com\n"
                         "echo \"on $JOBMAN_TPU_NAME in $JOBMAN_ZONE with $JOBMAN_NUM_WORKERS "
                         "hosts, $1 is $2, run $JOBMAN_TASK_RUN\"\n"
                         "[[ $JOBMAN_WORKER_ID == 0 ]]\n");
  const std::string said = Do({"task", "submit", script, "rate", "0.1"});
  EXPECT_THAT(said, HasSubstr("submitted task lr-001: no worker serves this queue\n"));
  EXPECT_THAT(said, HasSubstr("to start a worker: jobman worker start -a v4-16 -z us-central2-b"));
  EXPECT_THAT(said, HasSubstr("lr.sh:4:9: warning: --mail-user is passed over"));
  EXPECT_THAT(Do({"why", "lr-001"}), HasSubstr("no worker serves this queue"));

  EXPECT_THAT(StartWorker(), HasSubstr("runs submitted tasks"));
  ASSERT_TRUE(Comes("lr-001", "DONE"));
  const std::string slice = base::GetString(base::GetMember(place_.Show("night"), "slice"), "name");
  EXPECT_THAT(Do({"task", "logs", "lr-001"}),
              HasSubstr("on " + slice + " in us-central2-b with 2 hosts, rate is 0.1, run 1\n"));
  EXPECT_THAT(Do({"task", "show", "lr-001"}),
              HasSubstr("task lr-001 is DONE: run 1 on job 000001 succeeded: exit code 0\n"));
  EXPECT_THAT(Do({"why", "lr-001"}), HasSubstr("task lr-001: DONE"));

  // A name in a script is one of many; one on the command line is the only one.
  EXPECT_THAT(Do({"task", "submit", script}), HasSubstr("submitted task lr-002: "));
  ASSERT_TRUE(Comes("lr-002", "DONE"));
  EXPECT_THAT(Refused(kWrong, {"task", "submit", script, "--name", "lr-001"}),
              HasSubstr("there is already a submitted task lr-001"));
}

TEST_F(QueueCommands, PeopleSayWhatIsNext) {
  StartWorker();
  Submit("held", Held());
  ASSERT_TRUE(Comes("held", "RUNNING"));
  for (const char* id : {"one", "two", "three"}) Submit(id, Quick());
  EXPECT_THAT(Do({"why", "three"}), HasSubstr("(1 at work), after 2 other tasks"));
  EXPECT_THAT(Do({"queue", "--prioritize", "three"}), HasSubstr("task three is QUEUED: "));
  EXPECT_THAT(Do({"why", "one"}), HasSubstr("after 1 other task"));
  EXPECT_THAT(Do({"task", "pause", "two"}), HasSubstr("task two is PAUSED: paused by the user\n"));
  EXPECT_THAT(Do({"why", "two"}), HasSubstr("jobman task resume two"));
  EXPECT_THAT(Do({"task", "pause", "held"}), HasSubstr("task held is RUNNING: "));
  Do({"task", "resume", "held"});
  EXPECT_THAT(Do({"why", "held"}), HasSubstr("jobman task logs -f held"));
  EXPECT_THAT(Refused(kWrong, {"task", "delete", "held"}), HasSubstr("job 000001 runs it"));

  LetGo();
  ASSERT_TRUE(Comes("one", "DONE"));
  EXPECT_EQ(Order(), "held\nthree\none\n");
  EXPECT_EQ(base::GetString(TaskOf("two"), "state"), "PAUSED");
  EXPECT_EQ(base::GetInt(TaskOf("two"), "runs"), 0);
  EXPECT_THAT(Do({"task", "resume", "two"}), HasSubstr("task two is QUEUED: "));
  ASSERT_TRUE(Comes("two", "DONE"));
}

TEST_F(QueueCommands, PeopleSayWhatIsRunAgain) {
  StartWorker();
  Submit("fails", "echo no, run $JOBMAN_TASK_RUN; exit 3\n", "2");
  Submit("works", Quick());
  ASSERT_TRUE(Comes("fails", "FAILED", 2));
  ASSERT_TRUE(Comes("works", "DONE"));
  EXPECT_THAT(
      Do({"queue", "--submitted"}),
      HasSubstr("exit code 3 on host 0 (2 of 2 failures, the most that max_retries allows); "
                "jobman queue --reset fails puts it back"));

  EXPECT_THAT(Do({"queue", "--reset-failed"}), HasSubstr("task fails is QUEUED: "));
  ASSERT_TRUE(Comes("fails", "FAILED", 4));
  EXPECT_EQ(base::GetInt(TaskOf("works"), "runs"), 1) << "it had not failed";
  Do({"task", "requeue", "works"});
  ASSERT_TRUE(Comes("works", "DONE", 2));
  EXPECT_THAT(Do({"task", "logs", "fails"}), HasSubstr("no, run 4\n"));
  EXPECT_THAT(Do({"task", "logs", "fails", "--run", "1"}), HasSubstr("no, run 1\n"));
  EXPECT_THAT(Refused(kNotThere, {"task", "logs", "fails", "--run", "9"}),
              HasSubstr("has no logs of run 9"));

  const base::Path logs = base::GetString(TaskOf("fails"), "files");
  ASSERT_TRUE(std::filesystem::exists(logs)) << logs;
  EXPECT_THAT(Do({"task", "delete", "fails"}), HasSubstr("task fails is gone"));
  EXPECT_FALSE(std::filesystem::exists(logs)) << logs;
  EXPECT_THAT(Refused(kNotThere, {"task", "show", "fails"}), HasSubstr("there is no task fails"));
  EXPECT_THAT(Refused(kNotThere, {"queue", "--prioritize", "fails"}),
              HasSubstr("there is no task fails"));
}

TEST_F(QueueCommands, AStoppedWorkerEndsItsTaskFirst) {
  StartWorker();
  Submit("held", Held());
  ASSERT_TRUE(Comes("held", "RUNNING"));
  Submit("next", Quick());
  EXPECT_THAT(Do({"worker", "stop", "night"}), HasSubstr("ends task held first"));
  EXPECT_THAT(Do({"why", "next"}), HasSubstr("(1 being stopped)"));
  LetGo();
  ASSERT_TRUE(place_.Reaches("night", "CANCELLED"));
  EXPECT_EQ(base::GetString(TaskOf("held"), "state"), "DONE");
  EXPECT_THAT(Do({"task", "show", "next"}),
              HasSubstr("task next is QUEUED: no worker serves this queue"));
  Do({"worker", "resume", "night"});
  ASSERT_TRUE(Comes("next", "DONE"));

  // Said twice, it does not wait for the task, which is put back without a failure.
  HoldAgain();
  Submit("again", Held(), "1");
  ASSERT_TRUE(Comes("again", "RUNNING"));
  Do({"worker", "stop", "night"});
  Do({"worker", "stop", "night"});
  ASSERT_TRUE(place_.Reaches("night", "CANCELLED"));
  ASSERT_TRUE(Comes("again", "QUEUED"));
  EXPECT_EQ(base::GetInt(TaskOf("again"), "failures"), 0);
  EXPECT_THAT(Order(), Not(HasSubstr("again")));
  LetGo();
  Do({"worker", "resume", "night"});
  ASSERT_TRUE(Comes("again", "DONE", 2));
  Do({"worker", "delete", "night", "--wait"});
  EXPECT_THAT(place_.Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
}

TEST_F(QueueCommands, TheJobsOfAMatrixShareAWorker) {
  const std::string file =
      Write("grid.yaml",
            "job: {name: grid}\n"
            "tpu: {accelerator: v4-16, zone: us-central2-b}\n"
            "matrix: {LR: [0.1, 0.01]}\n"
            "command: {cmd: 'echo rate $LR, host $JOBMAN_WORKER_ID of $JOBMAN_NUM_WORKERS'}\n");
  const std::string said = Do({"task", "submit", file});
  EXPECT_THAT(said, HasSubstr("submitted task grid-0: "));
  EXPECT_THAT(said, HasSubstr("submitted task grid-1: "));
  StartWorker();
  ASSERT_TRUE(Comes("grid-0", "DONE"));
  ASSERT_TRUE(Comes("grid-1", "DONE"));
  for (const char* host : {"0", "1"}) {
    EXPECT_THAT(Do({"task", "logs", "grid-0", "--host", host}),
                HasSubstr(fmt::format("rate 0.1, host {} of 2\n", host)));
    EXPECT_THAT(Do({"task", "logs", "grid-1", "--host", host}),
                HasSubstr(fmt::format("rate 0.01, host {} of 2\n", host)));
  }
  const auto requests = base::ParseJson(place_.Sim({"requests"}).out);
  ASSERT_TRUE(requests.ok());
  EXPECT_EQ(base::GetInt(base::GetMember(*requests, "counts"), "queuedResources.create"), 1);
}

TEST_F(QueueCommands, WhatIsNoTaskIsNotSubmitted) {
  EXPECT_THAT(Refused(kWrong, {"task", "submit", Write("none.sh", "echo x\n")}),
              HasSubstr("--accelerator is missing"));
  EXPECT_THAT(
      Refused(kWrong, {"task", "submit",
                       Write("unknown.sh", std::string(kHead) + "#JOBMAN --gpus=3\necho x\n")}),
      HasSubstr("\"--gpus\" is no option of a #JOBMAN line"));
  EXPECT_THAT(Refused(kWrong, {"task", "submit", (place_.path() / "missing.sh").string()}),
              HasSubstr("missing.sh"));
  EXPECT_THAT(Refused(kWrong, {"task", "submit",
                               Write("setup.yaml",
                                     "job: {name: s}\n"
                                     "tpu: {accelerator: v4-16, zone: us-central2-b}\n"
                                     "setup: [{name: a, run: x}]\n"
                                     "command: {cmd: x}\n")}),
              HasSubstr("setup has no meaning for a task"));
  EXPECT_THAT(Refused(kNotThere, {"worker", "stop", "77"}), HasSubstr("there is no job 000077"));
  const auto json = base::ParseJson(place_.Jobman({"--json", "queue"}).out);
  ASSERT_TRUE(json.ok());
  EXPECT_THAT(base::GetMember(*json, "queues"), IsEmpty()) << json->dump();
}

}  // namespace
}  // namespace jobman::test

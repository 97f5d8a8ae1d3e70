// jobman queue, task, status, and why of a task: what they print and what they write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/controller.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/sample_task.hpp"

namespace jobman::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class QueueCommands : public testing::Test {
 protected:
  QueueCommands() {
    for (const char* id : {"lr1", "lr2", "eval"}) Add(id);
    world_.fill = [this](MemoryStore& store) {
      ASSERT_TRUE(store.TakeLease(controller::LeaseHolder(), now(), 1h).ok());
      const auto queue = store.OpenQueue(std::string(ports::kSubmittedQueue));
      ASSERT_TRUE(queue.ok());
      queue_ = *queue;
      for (core::Task& task : tasks_) task.queue = *queue;
      ASSERT_TRUE(store.ChangeTasks(tasks_).ok());
      if (more_) more_(store);
    };
  }
  base::TimePoint now() const { return world_.clock.Now(); }
  core::Task& Add(const std::string& id) {
    core::Task task = SampleTask(id);
    task.order = static_cast<int>(tasks_.size());
    task.since = now();
    return tasks_.emplace_back(std::move(task));
  }
  core::Task& Of(const std::string& id) {
    for (core::Task& task : tasks_) {
      if (task.definition.id == id) return task;
    }
    ADD_FAILURE() << id;
    return tasks_.front();
  }
  void Fail(const std::string& id) {
    core::Task& task = Of(id);
    task.runs = task.failures = 3;
    task.standing = core::TaskParked{.at = now()};
    task.why = "run 3 on job 000001 failed: exit code 1 on host 0";
  }
  base::Json Json(std::vector<std::string> args) {
    args.emplace_back("--json");
    const auto ended = world_.Run(std::move(args));
    const auto json = base::ParseJson(ended.out);
    EXPECT_TRUE(json.ok()) << ended.out << ended.err;
    return json.ok() ? *json : base::Json();
  }
  void WriteTaskLog(const std::string& id, base::TaskRunName run, int host,
                    const std::string& text) {
    // The first queue of a new store.
    const auto path = world_.paths().TaskLogPath(1, id, run, host);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::app | std::ios::binary) << text;
  }

  CliWorld world_;
  core::QueueId queue_ = {};
  std::vector<core::Task> tasks_ = {};
  std::function<void(MemoryStore&)> more_ = {};
};

TEST_F(QueueCommands, TheTableHasTheTasksInTheirOrderAndCounts) {
  Fail("lr2");
  EXPECT_EQ(world_.Run({"queue", "-q"}).out, "lr1\nlr2\neval\n");
  const std::string out = world_.Run({"queue"}).out;
  EXPECT_THAT(out, AllOf(HasSubstr("queue submitted tasks\n"), HasSubstr("no worker serves"),
                         HasSubstr("3 tasks: 1 FAILED, 2 QUEUED\n")));
}

TEST_F(QueueCommands, OnATerminalTheCauseOfAFailureComesFirst) {
  Fail("lr2");
  world_.around = {.out_tty = true, .err_tty = true, .ioctl_width = 80, .locale = "C.UTF-8"};
  EXPECT_THAT(world_.Run({"queue"}).out,
              AllOf(HasSubstr("  exit code 1 on h"), Not(HasSubstr("run 3 on job"))));
  EXPECT_THAT(world_.Run({"queue", "-o", "wide"}).out, HasSubstr("run 3 on job 000001 failed: "));
}

TEST_F(QueueCommands, WithoutWorkersItSaysHowToStartOne) {
  const std::string how = "to start a worker: jobman worker start -a v4-32 -z us-central2-b\n";
  EXPECT_THAT(world_.Run({"queue"}).err, HasSubstr(how));
  for (const char* id : {"lr1", "lr2", "eval"}) Of(id).standing = core::TaskDone{.at = now()};
  EXPECT_THAT(world_.Run({"queue"}).err, Not(HasSubstr("worker start")));
}

TEST_F(QueueCommands, HiddenTasksAreCountedAndShownWithAll) {
  Of("eval").definition.hide = true;
  const std::string out = world_.Run({"queue"}).out;
  EXPECT_THAT(out, AllOf(Not(HasSubstr("eval")), HasSubstr("1 hidden: --all shows them")));
  EXPECT_EQ(world_.Run({"queue", "-q", "--all"}).out, "lr1\nlr2\neval\n");
}

TEST_F(QueueCommands, JsonHasStableMembers) {
  const base::Json queue = Json({"queue"})["queues"][0];
  EXPECT_EQ(queue["file"], "");
  EXPECT_EQ(queue["counts"]["QUEUED"], 3);
  EXPECT_EQ(queue["counts"]["DONE"], 0);
  const base::Json task = queue["tasks"][0];
  EXPECT_EQ(task["id"], "lr1");
  EXPECT_EQ(task["state"], "QUEUED");
  EXPECT_EQ(task["preview"], false);
}

TEST_F(QueueCommands, AFileThatNobodyReadIsPreviewed) {
  const auto path = world_.paths().home / "more.yaml";
  std::ofstream(path) << "accelerators:\n  v4-32:\n    zone: us-central2-b\n    tasks:\n"
                         "      - {id: new, run: 'true'}\n      - {id: bad, runs: 'true'}\n";
  const auto ended = world_.Run({"queue", path.string()});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("QUEUED*"), HasSubstr("task bad is refused: "),
                               HasSubstr("no controller has read that yet")));
  EXPECT_EQ(world_.Run({"queue", path.string(), "--done", "new"}).exit_code, 3)
      << "what is not in the store cannot be changed";
  EXPECT_EQ(world_.Run({"queue", (world_.paths().home / "none.yaml").string()}).exit_code, 3);
}

TEST_F(QueueCommands, OptionsOfPythonJobmanChangeTasks) {
  Fail("lr2");
  EXPECT_EQ(Json({"queue", "--reset", "lr2"})["tasks"][0]["state"], "QUEUED");
  EXPECT_EQ(Json({"queue", "--reset-failed"})["tasks"].size(), 1U);
  EXPECT_EQ(Json({"queue", "--reset-all"})["tasks"].size(), 3U);
  EXPECT_EQ(Json({"queue", "--done", "lr*"})["tasks"].size(), 2U);
  EXPECT_EQ(Json({"queue", "--done", "eval"})["tasks"][0]["state"], "DONE");
  const base::Json first = Json({"queue", "--prioritize", "eval,lr1"})["tasks"];
  EXPECT_EQ(first[0]["id"], "eval");
  EXPECT_EQ(first[1]["prioritized"], true);
  EXPECT_EQ(Json({"queue", "--task", "lr2"})["tasks"][0]["definition"]["run"], "python3 train.py");
  EXPECT_EQ(world_.Run({"queue", "--reset-all", "--cleanup"}).exit_code, 2);
}

TEST_F(QueueCommands, CleanupErasesWhatTheFileHasNotAnyMore) {
  Of("lr1").listed = false;
  WriteTaskLog("lr1", {.number = 1, .job = 1}, 0, "text\n");
  const auto logs = world_.paths().TaskDir(1, "lr1");
  EXPECT_THAT(world_.Run({"queue", "--cleanup"}).out, HasSubstr("task lr1 is gone"));
  EXPECT_FALSE(std::filesystem::exists(logs));
  Of("lr1").listed = true;
  EXPECT_THAT(world_.Run({"queue", "--cleanup"}).err, HasSubstr("no task has been removed"));
}

TEST_F(QueueCommands, WhatLosesSomethingIsAsked) {
  Fail("lr2");
  Of("lr1").standing = core::TaskDone{.at = now()};
  std::vector<std::string> asked;
  world_.around = {.out_tty = true, .err_tty = true, .locale = "C.UTF-8"};
  world_.on_ask = [&asked](MemoryStore&, const std::string& question) {
    asked.push_back(question);
    return false;
  };
  EXPECT_EQ(world_.Run({"queue", "--reset", "lr2"}).exit_code, 0) << "it only failed";
  EXPECT_EQ(world_.Run({"queue", "--reset", "lr1"}).exit_code, 1);
  EXPECT_EQ(world_.Run({"queue", "--reset-all"}).exit_code, 1);
  EXPECT_EQ(world_.Run({"task", "delete", "eval"}).exit_code, 1);
  EXPECT_EQ(world_.Run({"task", "delete", "eval", "-y"}).exit_code, 0);
  EXPECT_THAT(asked, ElementsAre("run again task lr1?", "run again tasks lr1, lr2, eval?",
                                 "delete, with records and logs, task eval?"));
}

TEST_F(QueueCommands, TasksArePausedResumedAndRequeued) {
  EXPECT_EQ(Json({"task", "pause", "lr*"})["tasks"][1]["state"], "PAUSED");
  Of("eval").paused = true;
  EXPECT_EQ(Json({"task", "resume", "eval"})["tasks"][0]["state"], "QUEUED");
  Fail("lr1");
  EXPECT_EQ(Json({"task", "requeue", "lr1"})["tasks"][0]["failures"], 0);
  const auto unknown = world_.Run({"task", "pause", "evla"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"eval\"?"));
}

TEST_F(QueueCommands, LogsAreOfTheNewestRunAndOutliveTheWorker) {
  WriteTaskLog("lr1", {.number = 1, .job = 7}, 0, "first\n");
  EXPECT_EQ(world_.Run({"task", "logs", "lr1"}).out, "first\n");
  WriteTaskLog("lr1", {.number = 2, .job = 8}, 0, "step 1\nstep 2\n");
  const auto newest = world_.Run({"task", "logs", "lr1"});
  EXPECT_EQ(newest.out, "step 1\nstep 2\n");
  EXPECT_THAT(newest.err, HasSubstr("== task lr1, run 2 on job 00000")) << "which one it is";
  EXPECT_EQ(world_.Run({"task", "logs", "lr1", "-n", "1"}).out, "step 2\n");
  EXPECT_EQ(world_.Run({"task", "logs", "lr1", "--run", "1"}).out, "first\n");
  const auto none = world_.Run({"task", "logs", "lr1", "--run", "3"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("there are those of 1-2"));
  EXPECT_THAT(world_.Run({"task", "logs", "eval"}).err, HasSubstr("has no logs"));
  EXPECT_THAT(world_.Run({"task", "logs", "lr1", "--json"}).out,
              AllOf(HasSubstr("\"job\":8"), HasSubstr("\"stage\":\"task-lr1-2\"")));
}

TEST_F(QueueCommands, LogsOfSeveralHostsHaveTheirNumbers) {
  Of("lr1").definition.workers = {};
  for (const int host : {0, 1}) WriteTaskLog("lr1", {.number = 1, .job = 7}, host, "out\n");
  EXPECT_EQ(world_.Run({"task", "logs", "lr1"}).out, "host 0 | out\nhost 1 | out\n");
  EXPECT_EQ(world_.Run({"task", "logs", "lr1", "--host", "1"}).out, "out\n");
}

TEST_F(QueueCommands, FollowEndsWhenTheTaskNeedsNoOtherRun) {
  WriteTaskLog("lr1", {.number = 1, .job = 7}, 0, "out\n");
  int pauses = 0;
  world_.on_pause = [&](MemoryStore& store) {
    core::Task task = *store.GetTask(queue_, "lr1");
    if (++pauses == 1) WriteTaskLog("lr1", {.number = 2, .job = 8}, 0, "more\n");
    if (pauses == 2) {
      EXPECT_TRUE(store.ChangeTasks({core::MarkTaskDone(task, now())}).ok());
    }
    return pauses < 5;
  };
  const auto ended = world_.Run({"task", "logs", "-f", "lr1"});
  EXPECT_EQ(ended.out, "out\nmore\n");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(pauses, 2);
  EXPECT_EQ(world_.Run({"task", "logs", "-f", "lr*"}).exit_code, 2);
}

TEST_F(QueueCommands, WhyIsOfATaskIfNoJobHasThatName) {
  Fail("lr2");
  const auto ended = world_.Run({"why", "lr2"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("task lr2: FAILED\n"), HasSubstr("exit code 1 on host 0"),
                               HasSubstr("jobman task logs lr2")));
  EXPECT_EQ(Json({"why", "lr2"})["tasks"][0]["state"], "FAILED");
  EXPECT_EQ(world_.Run({"why", "none"}).exit_code, 3);
  more_ = [](MemoryStore& store) {
    ASSERT_TRUE(store.Create(core::Job{.name = "lr2"}, "", {}).ok());
  };
  const auto job = world_.Run({"why", "lr2", "eval"});
  EXPECT_THAT(job.out, AllOf(HasSubstr("000001 lr2: QUEUED"), HasSubstr("task eval: QUEUED")));
  EXPECT_THAT(job.err, HasSubstr("lr2 is a task, too: jobman task show lr2"));
}

TEST_F(QueueCommands, WhyNamesTheNextStep) {
  Of("lr2").definition.depends_on = {"lr1"};
  EXPECT_EQ(Json({"why", "lr2"})["tasks"][0]["next_step"], "jobman why lr1");
  EXPECT_EQ(Json({"why", "lr1"})["tasks"][0]["next_step"],
            "jobman worker start -a v4-32 -z us-central2-b");
  Fail("lr1");
  EXPECT_THAT(world_.Run({"why", "lr1"}).out, Not(HasSubstr("last: run 3")))
      << "it is said already";
}

TEST_F(QueueCommands, WhyIsOfEachQueueThatHasTheTask) {
  const auto path = world_.paths().home / "more.yaml";
  more_ = [&path](MemoryStore& store) {
    const auto queue = store.OpenQueue(path.string());
    ASSERT_TRUE(queue.ok());
    core::Task task = SampleTask("lr1");
    task.queue = *queue;
    ASSERT_TRUE(store.ChangeTasks({task}).ok());
  };
  const auto ended = world_.Run({"why", "lr1"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("queue submitted tasks"), HasSubstr("more.yaml")));
  EXPECT_THAT(world_.Run({"task", "pause", "lr1"}).err, HasSubstr("add --queue FILE"));
}

TEST_F(QueueCommands, ARefusedTaskIsFoundByItsName) {
  const auto path = world_.paths().home / "more.yaml";
  std::ofstream(path) << "accelerators: {}\n";
  more_ = [&path, this](MemoryStore& store) {
    const auto queue = store.OpenQueue(base::RealPath(path).string());
    ASSERT_TRUE(queue.ok());
    const ports::QueueReading reading{
        .at = now() + 1h, .refused = {{.id = "bad", .why = "more.yaml:3: unknown key \"runs\""}}};
    const std::int64_t token = (*store.CurrentLease())->token;
    ASSERT_TRUE(store.SyncQueue(*queue, reading, {}, token).ok());
  };
  std::filesystem::last_write_time(path, std::chrono::file_clock::from_sys(now() - 1h));
  for (const auto& words : {std::vector<std::string>{"why", "bad"}, {"task", "show", "bad"}}) {
    const auto ended = world_.Run(words);
    EXPECT_EQ(ended.exit_code, 3);
    EXPECT_THAT(ended.err, HasSubstr("task bad is refused: more.yaml:3: unknown key \"runs\""));
  }
}

TEST_F(QueueCommands, StatusSaysThatNoWorkerTakesThem) {
  EXPECT_THAT(world_.Run({"status"}).out, HasSubstr("no worker takes them: jobman worker list"));
  for (const char* id : {"lr1", "lr2", "eval"}) Of(id).standing = core::TaskDone{.at = now()};
  EXPECT_THAT(world_.Run({"status"}).out, Not(HasSubstr("no worker takes them")));
}

TEST_F(QueueCommands, FollowingSaysWhatATaskWaitsForThatHasNoLogs) {
  world_.on_pause = [](MemoryStore&) { return false; };
  EXPECT_THAT(world_.Run({"task", "logs", "-f", "lr1"}).err,
              HasSubstr("task lr1 is QUEUED: no worker serves this queue"));
}

TEST_F(QueueCommands, StatusCountsTasksAndNamesWorkers) {
  more_ = [](MemoryStore& store) {
    core::Job job{.name = "holder", .user = "ann"};
    job.spec.queue = core::QueueSpec{.enabled = true};
    job.spec.tpu.accelerator = "v4-32";
    job.spec.tpu.zone = "us-central2-b";
    ASSERT_TRUE(store.Create(job, "", {}).ok());
  };
  EXPECT_THAT(world_.Run({"status"}).out,
              AllOf(HasSubstr("holder"), HasSubstr("queue submitted tasks, 1 worker: 3 tasks")));
  const base::Json status = Json({"status"});
  EXPECT_EQ(status["workers"][0]["phase"], "preparing");
  EXPECT_EQ(status["queues"][0]["counts"]["QUEUED"], 3);
}

TEST_F(QueueCommands, InAWindowProblemsAreCounted) {
  const auto path = world_.paths().home / "more.yaml";
  std::ofstream(path) << "accelerators:\n  v4-32:\n    zone: us-central2-b\n    tasks:\n"
                         "      - {id: new, run: 'true'}\n      - {id: bad, runs: 'true'}\n";
  world_.around = {
      .out_tty = true, .err_tty = true, .ioctl_width = 80, .ioctl_height = 24, .locale = "C.UTF-8"};
  world_.on_pause = [](MemoryStore&) { return false; };
  const std::string out = world_.Run({"queue", path.string(), "--watch"}).out;
  EXPECT_THAT(out, AllOf(HasSubstr("1 problem in the file: without --watch all are shown"),
                         Not(HasSubstr("task bad is refused"))));
}

TEST_F(QueueCommands, WatchShowsAgainWhatHasChanged) {
  int pauses = 0;
  world_.on_pause = [&](MemoryStore& store) {
    core::Task task = *store.GetTask(queue_, "eval");
    if (++pauses == 2) {
      EXPECT_TRUE(store.ChangeTasks({core::MarkTaskDone(task, now())}).ok());
    }
    return pauses < 4;
  };
  const auto ended = world_.Run({"queue", "--watch", "--json"});
  EXPECT_EQ(base::Split(ended.out, '\n').size(), 3U) << "two lines: " << ended.out;
  EXPECT_EQ(ended.exit_code, 130);
}

TEST_F(QueueCommands, IdsAreCompleted) {
  EXPECT_THAT(world_.Run({"__complete", "task", "show", "lr"}).out,
              AllOf(HasSubstr("lr1\t"), HasSubstr("lr2\t"), Not(HasSubstr("eval"))));
  EXPECT_THAT(world_.Run({"__complete", "queue", "--reset", "lr1,e"}).out, HasSubstr("lr1,eval"));
  EXPECT_THAT(world_.Run({"__complete", "why", "ev"}).out, HasSubstr("eval\t"));
}

}  // namespace
}  // namespace jobman::test

#include "jobman/config/old_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <variant>

namespace jobman::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(OldState, ReadsTheJobsOfVersion2And3) {
  const auto read = ReadOldJobs(R"({
    "000031": {"user": "ada", "job_dir": "jobs/ada/000031", "name": "train",
               "config_path": "jobs/ada/000031/config.yaml", "session_name": "job_000031"},
    "job_000024": {"user": "ada", "job_dir": "jobs/ada/000024", "session_name": "job_000024"}})");
  ASSERT_TRUE(read.ok());
  ASSERT_THAT(read->jobs, SizeIs(2));
  EXPECT_EQ(read->jobs[0].id, 24);
  EXPECT_EQ(read->jobs[0].session, "job_000024");
  EXPECT_EQ(read->jobs[0].config_file, "");
  EXPECT_EQ(read->jobs[1].id, 31);
  EXPECT_EQ(read->jobs[1].name, "train");
  EXPECT_THAT(read->unclear, IsEmpty());
}

TEST(OldState, EntriesThatAreNoJobsAreNamedAndLeftOut) {
  const auto read = ReadOldJobs(
      R"({"x": {}, "000000": {}, "-3": {}, "000001": 7, "000002": {"user": 5},
          "job_000002": {}, "99999999999999999999": {}})");
  ASSERT_TRUE(read.ok());
  ASSERT_THAT(read->jobs, SizeIs(1));
  EXPECT_EQ(read->jobs[0].user, "");
  EXPECT_THAT(read->unclear, SizeIs(6));
}

TEST(OldState, DamagedJobsAreRefused) {
  EXPECT_FALSE(ReadOldJobs("{\"000001\": {").ok());
  EXPECT_FALSE(ReadOldJobs("").ok());
  EXPECT_THAT(ReadOldJobs("[]").error().message, HasSubstr("no JSON object"));
}

TEST(OldState, KnowsTheLogsOfAJobByTheirNames) {
  EXPECT_EQ(OldLogOf("command_worker_0.log"), (OldLog{.stage = "run", .host = 0}));
  EXPECT_EQ(OldLogOf("main_command_worker_7.log"), (OldLog{.stage = "run", .host = 7}));
  EXPECT_EQ(OldLogOf("venv_worker_12.log"), (OldLog{.stage = "venv", .host = 12}));
  for (const char* other :
       {"job.log", "tpu.log", "_worker_0.log", "venv_worker_.log", "venv_worker_-1.log",
        "../x_worker_0.log", "venv_worker_99999999.log", "venv_worker_0.log.gz", ""}) {
    EXPECT_EQ(OldLogOf(other), std::nullopt) << other;
  }
}

TEST(OldState, ReadsTheStateOfAQueue) {
  const auto read = ReadOldTasks(R"(tasks:
  prepare: {done: true, running: [], run_count: 1, fail_count: 0, priority: false,
            history: [{job_id: '000024', started: x, ended: y, status: completed}]}
  train:
    done: false
    running:
    - {job_id: '000031', started: '2026-04-01T10:00:00'}
    run_count: 4
    fail_count: 2
    priority: 1
    history:
    - {job_id: '000024', status: interrupted}
    - {job_id: '000024', status: failed}
)");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_THAT(read->tasks, SizeIs(2));
  EXPECT_EQ(read->tasks[0],
            (OldTask{.id = "prepare", .done = true, .runs = 1, .last = "completed"}));
  EXPECT_EQ(read->tasks[1].runs, 4);
  EXPECT_EQ(read->tasks[1].failures, 2);
  EXPECT_TRUE(read->tasks[1].prioritized);
  EXPECT_THAT(read->tasks[1].running, ElementsAre("000031"));
  EXPECT_EQ(read->tasks[1].last, "failed");
}

TEST(OldState, AQueueMayHaveTenThousandTasks) {
  std::string text = "tasks:\n";
  for (int i = 0; i < 10'000; ++i) {
    text += "  t" + std::to_string(i) + ": {done: true, run_count: 1, history: []}\n";
  }
  const auto read = ReadOldTasks(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(read->tasks, SizeIs(10'000));
}

TEST(OldState, AQueueWithoutTasksIsEmpty) {
  const auto read = ReadOldTasks("tasks:\n");
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(read->tasks, IsEmpty());
}

TEST(OldState, WhatIsNoStateOfAQueueIsRefused) {
  EXPECT_FALSE(ReadOldTasks("tasks: [1]\n").ok());
  EXPECT_FALSE(ReadOldTasks("[").ok());
  EXPECT_FALSE(ReadOldTasks("").ok());
  const auto read = ReadOldTasks("tasks: {a: 3, b: {run_count: -1, fail_count: x}}\n");
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(read->unclear, ElementsAre(HasSubstr("\"a\"")));
  ASSERT_THAT(read->tasks, SizeIs(1));
  EXPECT_EQ(read->tasks[0].runs, 0);
}

core::Task Continued(const OldTask& old) {
  const core::TaskDefinition definition{.id = old.id, .accelerator = "v4-8", .max_retries = 3};
  return ContinueOldTask(old, definition, {.value = 2}, base::FromMillis(1'000));
}

TEST(OldState, ATaskThatFailedTooOftenIsParkedHereAndDoneThere) {
  const auto task =
      Continued({.id = "a", .done = true, .runs = 3, .failures = 3, .last = "failed"});
  EXPECT_TRUE(std::holds_alternative<core::TaskParked>(task.standing));
  EXPECT_EQ(task.failures, 3);
  EXPECT_EQ(task.version, 0);
}

TEST(OldState, ADoneTaskStaysDoneAndAnOpenOneGoesOnCounting) {
  const auto done = Continued({.id = "a", .done = true, .runs = 1, .last = "completed"});
  EXPECT_TRUE(std::holds_alternative<core::TaskDone>(done.standing));
  const auto open = Continued({.id = "b", .runs = 4, .failures = 2, .running = {"000031"}});
  EXPECT_TRUE(std::holds_alternative<core::TaskOpen>(open.standing));
  EXPECT_EQ(open.runs, 4);
  EXPECT_EQ(open.failures, 2);
  EXPECT_EQ(open.interruptions, 1);
  EXPECT_THAT(open.claims, IsEmpty());
}

TEST(OldState, NoRecordThatIsContinuedContradictsItself) {
  for (const int runs : {0, 1, 3}) {
    for (const int failures : {0, 2, 9}) {
      for (const bool done : {false, true}) {
        for (const char* last : {"", "failed", "completed", "stale_cleanup"}) {
          const auto task = Continued({.id = "a",
                                       .done = done,
                                       .runs = runs,
                                       .failures = failures,
                                       .running = {"1"},
                                       .last = last});
          EXPECT_EQ(core::FlawOf(task), std::nullopt) << runs << failures << done << last;
        }
      }
    }
  }
}

}  // namespace
}  // namespace jobman::config

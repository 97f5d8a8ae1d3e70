#include "jobman/config/old_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jobman::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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

}  // namespace
}  // namespace jobman::config

// task submit JOBFILE: the jobs of a file become tasks.
#include <gmock/gmock.h>

#include "jobman/config/submit.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

/// With no key that a task does not have.
constexpr const char* kTaskPlace = "tpu: {accelerator: v4-32, zone: us-central2-b}\n";

/// All jobs that the file makes.
std::vector<Loaded> LoadedJobs(const std::string& text, const std::vector<std::string>& sets = {}) {
  LoadRequest request = testing::RequestOf(text);
  request.sets = sets;
  request.needs_no_project = true;
  std::vector<Loaded> jobs;
  int elements = 1;
  for (; request.element < elements; ++request.element) {
    LoadResult result = Load(request);
    EXPECT_EQ(testing::Rendered(result), "");
    if (!result.loaded) break;
    elements = result.elements;
    jobs.push_back(*std::move(result.loaded));
  }
  return jobs;
}
std::vector<core::TaskDefinition> TasksOfFile(const std::string& text) {
  const Submission result = TasksOfJobs("job.yaml", LoadedJobs(text), {});
  for (const Problem& problem : result.problems) ADD_FAILURE() << RenderProblem(problem);
  return result.tasks;
}
std::string RefusalOfFile(const std::string& text, const std::vector<std::string>& sets = {}) {
  const Submission result = TasksOfJobs("job.yaml", LoadedJobs(text, sets), {});
  EXPECT_TRUE(result.tasks.empty());
  std::string all;
  for (const Problem& problem : result.problems) all += RenderProblem(problem);
  return all;
}

TEST(SubmitJobs, EachElementOfAMatrixBecomesATask) {
  const auto tasks =
      TasksOfFile(std::string(kTaskPlace) +
                  "job: {name: sweep, environment: {DATA: \"a b\"}}\n"
                  "matrix: {lr: [0.1, 0.2], seed: 1-2}\n"
                  "command: {cmd: \"train --lr ${matrix.lr}\", env: {MODE: fast}}\n");
  ASSERT_THAT(tasks, SizeIs(4));
  EXPECT_EQ(tasks[0].id, "sweep-0");
  EXPECT_EQ(tasks[3].id, "sweep-3");
  EXPECT_EQ(tasks[0].accelerator, "v4-32");
  EXPECT_EQ(tasks[0].zone, "us-central2-b");
  EXPECT_TRUE(tasks[0].workers.all) << "as a job's command";
  EXPECT_EQ(tasks[0].max_retries, 3);
  EXPECT_THAT(tasks[3].run,
              AllOf(HasSubstr("export DATA='a b'\n"), HasSubstr("export MODE=fast\n"),
                    HasSubstr("export lr=0.2\n"), HasSubstr("export seed=2\n"),
                    HasSubstr("export JOBMAN_ARRAY_INDEX=3\n"),
                    HasSubstr("export JOBMAN_ARRAY_SIZE=4\n"), HasSubstr("train --lr 0.2")));
}

TEST(SubmitJobs, AJobWithoutAnArrayBecomesOne) {
  const auto tasks = TasksOfFile(std::string(kTaskPlace) +
                                 "job: {name: eval, env_type: venv}\nvenv: {name: jax}\n"
                                 "command: {cmd: python eval.py, workers: [0, 2]}\n");
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].id, "eval");
  EXPECT_EQ(tasks[0].run, "python eval.py");
  EXPECT_EQ(tasks[0].env, "jax");
  EXPECT_EQ(tasks[0].workers, (core::HostSet{.all = false, .numbers = {0, 2}}));
}

TEST(SubmitJobs, WhatHasNoMeaningForATaskIsRefusedByNameAndPlace) {
  const std::string text = RefusalOfFile(
      "tpu: {accelerator: v4-32, zone: us-central2-b, pricing: spot}\n"
      "setup: [{run: pip install jax}, {run: \"true\"}]\n"
      "retries: {failure: 2}\n"
      "on: {failed: [{run: \"true\"}]}\n"
      "command: {cmd: hostname, grace: 5m}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("job.yaml:1: tpu.pricing has no meaning for a task"),
                          HasSubstr("job.yaml:2: setup has no meaning"),
                          HasSubstr("retries.failure has no meaning"), HasSubstr("--max-retries"),
                          HasSubstr("command.grace"), HasSubstr("jobman worker start -f FILE")));
  EXPECT_THAT(text, AllOf(HasSubstr("on.failed"), Not(HasSubstr("tpu.zone"))));
}

TEST(SubmitJobs, OptionsForTheFileAreRefusedLikewise) {
  EXPECT_THAT(
      RefusalOfFile(std::string(kTaskPlace) + "command: {cmd: hostname}\n", {"tpu.pricing=spot"}),
      HasSubstr("--set: tpu.pricing has no meaning for a task"));
}

TEST(SubmitJobs, NeedsNoProjectAndDoesNotAskForOne) {
  const auto jobs = LoadedJobs(std::string(kTaskPlace) + "command: {cmd: hostname}\n");
  ASSERT_THAT(jobs, SizeIs(1));
  for (const Problem& warning : jobs[0].warnings)
    EXPECT_THAT(warning.message, Not(HasSubstr("project")));
}

TEST(SubmitJobs, ATaskRunsACommand) {
  EXPECT_THAT(RefusalOfFile(std::string(kTaskPlace) + "job: {name: hold}\n"),
              HasSubstr("command.cmd is missing"));
}

TEST(SubmitJobs, VariablesNeedAShell) {
  const std::string python = "command: {cmd: \"#!/usr/bin/python3\\nprint(1)\\n\"";
  EXPECT_THAT(RefusalOfFile(std::string(kTaskPlace) + python + ", env: {A: b}}\n"),
              HasSubstr("no script for a shell"));
  EXPECT_THAT(TasksOfFile(std::string(kTaskPlace) + python + "}\n"), SizeIs(1));
}

TEST(SubmitJobs, OptionsSayHowOftenATaskMayFail) {
  const auto jobs = LoadedJobs(std::string(kTaskPlace) + "command: {cmd: hostname}\n");
  const Submission result = TasksOfJobs("job.yaml", jobs, {.max_retries = "5"});
  ASSERT_THAT(result.tasks, SizeIs(1));
  EXPECT_EQ(result.tasks[0].max_retries, 5);
  EXPECT_THAT(TasksOfJobs("job.yaml", jobs, {.max_retries = "many"}).problems, SizeIs(1));
}

}  // namespace
}  // namespace jobman::config

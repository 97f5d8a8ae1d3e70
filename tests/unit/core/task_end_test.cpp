#include "jobman/core/task_end.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "jobman/base/regex.hpp"

namespace jobman::core {
namespace {

/// The kind of end of a run that printed the lines.
TaskEnd Judged(TaskRunFacts facts, const std::vector<std::string>& lines = {}) {
  for (const std::string& line : lines) {
    const auto rule = RuleForLine(line);
    if (rule && (!facts.rule || *rule < *facts.rule)) facts.rule = rule;
  }
  return JudgeTaskRun(facts);
}

constexpr const char* kRunnerDone = "Multihost runner finished successfully!";
constexpr const char* kRunnerErrors =
    "Main command finished with errors, check the logs located in: /tmp/x";
constexpr const char* kRunnerPreempted = "TPU node-1 is PREEMPTED";

TEST(JudgeTaskRun, TheExitCodeDecidesWhereNothingElseIsKnown) {
  EXPECT_EQ(Judged({}).kind, TaskEndKind::kSucceeded);
  const TaskEnd failed = Judged({.exit_code = 3, .host = 2});
  EXPECT_EQ(failed.kind, TaskEndKind::kFailed);
  EXPECT_EQ(failed.why, "exit code 3 on host 2");
  for (const int code : {143, 255}) {
    const TaskEnd end = Judged({.exit_code = code});
    EXPECT_EQ(end.kind, TaskEndKind::kInterrupted) << code;
    EXPECT_FALSE(end.slice_lost);
  }
  EXPECT_EQ(Judged({.exit_code = 137}).kind, TaskEndKind::kFailed);
}

TEST(JudgeTaskRun, OutputSaysMoreThanTheExitCode) {
  EXPECT_EQ(Judged({.exit_code = 1}, {kRunnerDone}).kind, TaskEndKind::kSucceeded);
  EXPECT_EQ(Judged({.exit_code = 0}, {kRunnerErrors}).kind, TaskEndKind::kFailed);
  EXPECT_EQ(Judged({.exit_code = 0}, {kRunnerPreempted}).kind, TaskEndKind::kInterrupted);
  EXPECT_EQ(Judged({.exit_code = 0}, {kRunnerErrors}).why,
            "it printed \"Main command finished with errors\"");
  EXPECT_EQ(Judged({.exit_code = 3}, {"step 10, loss 2.5"}).kind, TaskEndKind::kFailed);
}

TEST(JudgeTaskRun, SuccessOutranksFailureAndThatAnInterruption) {
  EXPECT_EQ(Judged({}, {kRunnerPreempted, kRunnerErrors}).kind, TaskEndKind::kFailed);
  EXPECT_EQ(Judged({}, {kRunnerErrors, kRunnerDone, kRunnerPreempted}).kind,
            TaskEndKind::kSucceeded);
}

TEST(JudgeTaskRun, ALostSliceIsAnInterruptionUnlessTheRunSaidThatItSucceeded) {
  const TaskRunFacts lost = {.exit_code = 1, .lost = "slice S was preempted"};
  const TaskEnd end = Judged(lost, {kRunnerErrors});
  EXPECT_EQ(end.kind, TaskEndKind::kInterrupted);
  EXPECT_TRUE(end.slice_lost);
  EXPECT_EQ(end.why, "slice S was preempted");
  EXPECT_EQ(Judged(lost, {kRunnerDone}).kind, TaskEndKind::kSucceeded);
}

TEST(CommitInLine, IsTheOneThatJobmanHasPutThere) {
  const std::string sha1(40, '7'), sha256(64, 'e');
  EXPECT_EQ(CommitInLine("jobman: ~/a, commit b has main of u, commit " + sha1), sha1);
  EXPECT_EQ(CommitInLine("jobman: ~/a has main of u, commit " + sha256), sha256);
  for (const std::string& other :
       {"~/a has main of u, commit " + sha1, "jobman: ~/a has main of u, commit " + sha1 + ".",
        std::string("jobman: ~/a has main of u, commit 12ab"), "jobman: commit " + sha1,
        "jobman: ~/a has main of u, commit " + std::string(40, 'G'), std::string()}) {
    EXPECT_EQ(CommitInLine(other), "") << other;
  }
}

TEST(TaskOutputRules, AreRegularExpressionsInTheOrderOfTheirRank) {
  TaskEndKind last = TaskEndKind::kSucceeded;
  for (const TaskOutputRule& rule : TaskOutputRules()) {
    EXPECT_TRUE(base::Regex::Compile(std::string(rule.match)).ok()) << rule.match;
    EXPECT_LE(last, rule.means) << rule.match;
    last = rule.means;
  }
}

TEST(TaskEndNames, AreReadBack) {
  for (const auto kind : {TaskEndKind::kSucceeded, TaskEndKind::kFailed, TaskEndKind::kInterrupted,
                          TaskEndKind::kStopped}) {
    EXPECT_EQ(TaskEndFromName(TaskEndName(kind)), kind);
  }
  EXPECT_FALSE(TaskEndFromName("lost"));
}

}  // namespace
}  // namespace jobman::core

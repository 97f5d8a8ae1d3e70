// What follows the claim and the end of a run, and what a user may change.
#include "jobman/core/task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/tasks.hpp"

namespace jobman::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using test::MakeTask;
using test::MakeWorker;
using test::TaskTime;

const TaskEnd kWell = {.kind = TaskEndKind::kSucceeded, .why = "exit code 0"};
const TaskEnd kBadly = {.kind = TaskEndKind::kFailed, .why = "exit code 3 on host 0"};
const TaskEnd kCut = {.kind = TaskEndKind::kInterrupted, .why = "exit code 143 on host 0"};
const TaskEnd kSliceLost = {
    .kind = TaskEndKind::kInterrupted, .slice_lost = true, .why = "slice S was preempted"};

/// Runs the task once on job 7, at the given second.
Task RunOnce(Task task, const TaskEnd& end, int second = 0) {
  auto claimed = ClaimTask(std::move(task), MakeWorker(7), TaskTime(second));
  EXPECT_TRUE(claimed);
  if (!claimed) return {};
  const TaskClaim claim = claimed->task.claims.back();
  auto released = ReleaseTask(claimed->task, claim, end, TaskTime(second + 60));
  EXPECT_TRUE(released);
  return released ? released->task : Task{};
}

std::string TaskWord(const Task& task, bool blocked = false) {
  return std::string(TaskStateName(StateOfTask(task, blocked)));
}

TEST(TaskClaims, AreMadeAndReleasedWithARecordOfTheRun) {
  const auto claimed = ClaimTask(MakeTask("a"), MakeWorker(7), TaskTime(0));
  ASSERT_TRUE(claimed);
  EXPECT_EQ(TaskWord(claimed->task), "RUNNING");
  EXPECT_EQ(claimed->task.why, "run 1 on job 000007 began");
  EXPECT_EQ(claimed->run.number, 1);
  EXPECT_FALSE(claimed->run.end);
  const auto released = ReleaseTask(claimed->task, claimed->task.claims.at(0), kWell, TaskTime(60));
  ASSERT_TRUE(released);
  EXPECT_EQ(TaskWord(released->task), "DONE");
  EXPECT_EQ(released->task.why, "run 1 on job 000007 succeeded: exit code 0");
  EXPECT_EQ(released->run.started_at, TaskTime(0));
  EXPECT_EQ(released->run.ended_at, TaskTime(60));
  EXPECT_EQ(released->run.end, kWell);
}

TEST(TaskClaims, NewsOfAnotherClaimIsDropped) {
  const auto claimed = ClaimTask(MakeTask("a"), MakeWorker(7), TaskTime(0));
  ASSERT_TRUE(claimed);
  const TaskClaim claim = claimed->task.claims.at(0);
  TaskClaim other = claim;
  other.run = 2;
  EXPECT_FALSE(ReleaseTask(claimed->task, other, kWell, TaskTime(1))) << "another run";
  other = claim;
  other.attempt = 2;
  EXPECT_FALSE(ReleaseTask(claimed->task, other, kWell, TaskTime(1))) << "another attempt";
  other = claim;
  other.job = JobId{8};
  EXPECT_FALSE(ReleaseTask(claimed->task, other, kWell, TaskTime(1))) << "another worker";
  const auto released = ReleaseTask(claimed->task, claim, kWell, TaskTime(1));
  ASSERT_TRUE(released);
  EXPECT_FALSE(ReleaseTask(released->task, claim, kBadly, TaskTime(2))) << "twice";
}

TEST(TaskClaims, AnOfferFromAnOlderRecordIsRefused) {
  Task task = ClaimTask(MakeTask("a"), MakeWorker(7), TaskTime(0))->task;
  EXPECT_FALSE(ClaimTask(task, MakeWorker(8), TaskTime(0))) << "one at a time";
  task.definition.max_jobs = 2;
  EXPECT_FALSE(ClaimTask(task, MakeWorker(7), TaskTime(0))) << "no job runs it twice";
  const auto second = ClaimTask(task, MakeWorker(8), TaskTime(0));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->run.number, 2);
  EXPECT_FALSE(ClaimTask(second->task, MakeWorker(9), TaskTime(0)));
  EXPECT_FALSE(ClaimTask(PauseTask(MakeTask("b"), true, TaskTime(0)), MakeWorker(9), TaskTime(0)));
  EXPECT_FALSE(ClaimTask(MarkTaskDone(MakeTask("b"), TaskTime(0)), MakeWorker(9), TaskTime(0)));
  TaskWorker elsewhere = MakeWorker(9);
  elsewhere.zone = "europe-west4-a";
  EXPECT_FALSE(ClaimTask(MakeTask("b"), elsewhere, TaskTime(0)));
  Task nowhere = MakeTask("b");
  nowhere.definition.zone.clear();
  elsewhere.zone.clear();
  EXPECT_FALSE(ClaimTask(nowhere, elsewhere, TaskTime(0))) << "no zone is no match";
}

TEST(TaskEnds, AFailureCountsUntilTheTaskIsParked) {
  Task task = RunOnce(MakeTask("a"), kBadly);
  EXPECT_EQ(TaskWord(task), "QUEUED");
  EXPECT_EQ(task.why, "run 1 on job 000007 failed: exit code 3 on host 0 (1 of 3 failures)");
  task = RunOnce(task, kBadly, 100);
  EXPECT_EQ(TaskWord(task), "QUEUED");
  task = RunOnce(task, kBadly, 200);
  EXPECT_EQ(TaskWord(task), "FAILED");
  EXPECT_EQ(task.why,
            "run 3 on job 000007 failed: exit code 3 on host 0 (3 of 3 failures, the most that "
            "max_retries allows)");
  EXPECT_FALSE(ClaimTask(task, MakeWorker(7), TaskTime(900)));
}

TEST(TaskEnds, EveryTaskHasOneRun) {
  for (const int most : {0, 1}) {
    Task task = MakeTask("a");
    task.definition.max_retries = most;
    EXPECT_EQ(TaskWord(RunOnce(task, kBadly)), "FAILED") << most;
  }
}

TEST(TaskEnds, AnInterruptionCostsNothing) {
  Task task = MakeTask("a");
  for (int i = 0; i < 20; ++i) task = RunOnce(task, kSliceLost, 100 * i);
  EXPECT_EQ(TaskWord(task), "QUEUED");
  EXPECT_EQ(task.failures, 0);
  EXPECT_EQ(task.interruptions, 20);
  EXPECT_EQ(task.why, "run 20 on job 000007 was interrupted: slice S was preempted");
  EXPECT_EQ(task.not_before, TimePoint{}) << "its worker needs another slice first";
}

TEST(TaskEnds, InterruptionsInARowAreFollowedByGrowingPauses) {
  EXPECT_EQ(PauseAfter(1), seconds{0});
  EXPECT_EQ(PauseAfter(2), seconds{15});
  EXPECT_EQ(PauseAfter(3), seconds{30});
  EXPECT_EQ(PauseAfter(1000), minutes{10});
  Task task = RunOnce(MakeTask("a"), kCut);
  task = RunOnce(task, kCut, 60);
  EXPECT_EQ(task.not_before, TaskTime(60 + 60 + 15));
  EXPECT_FALSE(MayRun(task, MakeWorker(8), TaskTime(134)));
  EXPECT_TRUE(MayRun(task, MakeWorker(8), TaskTime(135)));
  task = RunOnce(task, kBadly, 135);
  EXPECT_EQ(task.streak, 0) << "it ran";
}

TEST(TaskEnds, ASuccessForgetsFailures) {
  Task task = RunOnce(RunOnce(MakeTask("a"), kBadly), kWell, 100);
  EXPECT_EQ(task.failures, 0);
  task = RunOnce(RequeueTask(task, TaskTime(300)), kBadly, 400);
  EXPECT_EQ(task.failures, 1);
  EXPECT_EQ(task.runs, 3);
}

TEST(TaskEnds, WhatIsDoneStaysDone) {
  Task task = MakeTask("a");
  task.definition.max_jobs = 2;
  task.definition.max_retries = 1;
  task = ClaimTask(task, MakeWorker(7), TaskTime(0))->task;
  task = ClaimTask(task, MakeWorker(8), TaskTime(0))->task;
  const TaskClaim first = task.claims.at(0);
  const TaskClaim second = task.claims.at(1);
  const Task done = ReleaseTask(task, first, kWell, TaskTime(1))->task;
  EXPECT_EQ(TaskWord(done), "DONE") << "the other run ends by itself";
  EXPECT_EQ(TaskWord(ReleaseTask(done, second, kBadly, TaskTime(2))->task), "DONE");
  // The other way round.
  const Task parked = ReleaseTask(task, first, kBadly, TaskTime(1))->task;
  EXPECT_EQ(TaskWord(parked), "RUNNING");
  EXPECT_EQ(TaskWord(ReleaseTask(parked, second, kWell, TaskTime(2))->task), "DONE");
  EXPECT_EQ(TaskWord(ReleaseTask(parked, second, kCut, TaskTime(2))->task), "FAILED");
}

TEST(TaskEnds, AStoppedRunCostsNothing) {
  const TaskEnd stopped = {.kind = TaskEndKind::kStopped, .why = "job 000007 was cancelled"};
  const Task task = RunOnce(MakeTask("a"), stopped);
  EXPECT_EQ(TaskWord(task), "QUEUED");
  EXPECT_EQ(task.failures + task.interruptions, 0);
  EXPECT_EQ(task.why, "run 1 on job 000007 was stopped: job 000007 was cancelled");
}

TEST(TaskWishes, APauseDoesNotHideWhyATaskHasFailed) {
  Task task = MakeTask("a");
  task.definition.max_retries = 1;
  const Task failed = RunOnce(task, kBadly);
  EXPECT_EQ(PauseTask(failed, true, TaskTime(200)).why, failed.why);
}

TEST(TaskWishes, ResetKeepsOnlyTheNumberOfRuns) {
  Task task = MakeTask("a");
  task.definition.max_retries = 1;
  task = PauseTask(RunOnce(task, kBadly), true, TaskTime(100));
  const Task reset = ResetTask(task, TaskTime(200));
  EXPECT_EQ(TaskWord(reset), "QUEUED");
  EXPECT_EQ(reset.runs, 1) << "its number names a folder of logs";
  EXPECT_EQ(reset.failures, 0);
  EXPECT_FALSE(reset.paused);
  EXPECT_EQ(reset.why, "reset by the user");
  EXPECT_EQ(TaskWord(ResetTask(MarkTaskDone(task, TaskTime(1)), TaskTime(2))), "QUEUED");
}

TEST(TaskWishes, APausedTaskEndsItsRunAndBeginsNoOther) {
  Task task = ClaimTask(MakeTask("a"), MakeWorker(7), TaskTime(0))->task;
  task = PauseTask(task, true, TaskTime(1));
  EXPECT_EQ(TaskWord(task), "RUNNING");
  task = ReleaseTask(task, task.claims.at(0), kCut, TaskTime(2))->task;
  EXPECT_EQ(TaskWord(task), "PAUSED");
  EXPECT_FALSE(MayRun(task, MakeWorker(8), TaskTime(900)));
  EXPECT_TRUE(MayRun(PauseTask(task, false, TaskTime(3)), MakeWorker(8), TaskTime(900)));
}

TEST(TaskWishes, TheUserMaySayThatItIsDone) {
  const Task done = MarkTaskDone(MakeTask("a"), TaskTime(5));
  EXPECT_EQ(TaskWord(done), "DONE");
  EXPECT_EQ(done.standing, (TaskStanding{TaskDone{.at = TaskTime(5), .by_user = true}}));
  EXPECT_EQ(MarkTaskDone(done, TaskTime(9)), done);
}

TEST(TaskWishes, APriorityIsGoneWhenTheTaskIsTaken) {
  const Task task = PrioritizeTask(MakeTask("a"), true);
  EXPECT_TRUE(task.prioritized);
  EXPECT_FALSE(ClaimTask(task, MakeWorker(7), TaskTime(0))->task.prioritized);
}

TEST(TaskWords, TellWhatMattersMost) {
  Task task = MakeTask("a");
  EXPECT_EQ(TaskWord(task), "QUEUED");
  EXPECT_EQ(TaskWord(task, /*blocked=*/true), "BLOCKED");
  EXPECT_EQ(TaskWord(PauseTask(task, true, TaskTime(0)), true), "PAUSED");
  task.listed = false;
  EXPECT_EQ(TaskWord(task), "REMOVED");
  task.standing = TaskDone{};
  EXPECT_EQ(TaskWord(task), "REMOVED");
}

TEST(TaskFlaws, ARecordThatContradictsItselfIsNoticed) {
  const Task good = ClaimTask(MakeTask("a"), MakeWorker(7), TaskTime(0))->task;
  EXPECT_FALSE(FlawOf(good));
  Task task = good;
  task.runs = 0;
  EXPECT_TRUE(FlawOf(task));
  task = good;
  task.claims.push_back(task.claims.at(0));
  EXPECT_TRUE(FlawOf(task));
  task = good;
  task.failures = 2;
  EXPECT_TRUE(FlawOf(task));
  task = good;
  task.streak = 1;
  EXPECT_TRUE(FlawOf(task));
  task = good;
  task.standing = TaskParked{};
  EXPECT_TRUE(FlawOf(task));
  EXPECT_TRUE(FlawOf(Task{}));
}

}  // namespace
}  // namespace jobman::core

// What every implementation of a store must do with queues of tasks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "tests/contract/store_subjects.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/tasks.hpp"

namespace jobman {
namespace {

using base::Code;
using base::Reason;
using core::JobId;
using core::QueueId;
using core::TaskChange;
using core::TaskEndKind;
using std::chrono::seconds;
using test::kNow;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kQueueFile = "/home/ada/tasks.yaml";

class QueueContract : public testing::TestWithParam<test::StoreKind> {
 protected:
  test::DirectStore store() { return test::DirectStore(subject_->Use()); }
  QueueId Queue() { return store().OpenQueue(kQueueFile).value(); }
  JobId Worker() { return store().Create(test::SampleJob("worker"), "", kNow).value(); }
  core::Job Get(JobId id) { return store().Get(id).value(); }
  core::Task GetTask(const std::string& id) { return store().GetTask(Queue(), id).value(); }
  ports::TasksRead Tasks(std::int64_t after = 0) { return store().Tasks(Queue(), after).value(); }

  /// Tasks of those ids, as if the file had just been read for the first time.
  void Fill(const std::vector<std::string>& ids) {
    std::vector<core::Task> tasks;
    for (const std::string& id : ids) {
      tasks.push_back(test::MakeTask(id, static_cast<int>(tasks.size())));
    }
    ASSERT_TRUE(store().SyncQueue(Queue(), {}, tasks, 0).ok());
  }
  /// The claim of the task as it is stored now.
  TaskChange ClaimBy(JobId worker, const std::string& id) {
    auto claimed = core::ClaimTask(GetTask(id), test::MakeWorker(worker.value), kNow);
    EXPECT_TRUE(claimed);
    return claimed.value_or(TaskChange{});
  }
  /// The end of the run that began first.
  core::TaskRelease ReleaseOf(const std::string& id, TaskEndKind kind) {
    return {.queue = Queue(),
            .task = id,
            .claim = GetTask(id).claims.at(0),
            .end = {.kind = kind, .why = "exit code 3 on host 0"},
            .at = kNow + seconds{9}};
  }
  base::Status Commit(JobId worker, std::vector<core::TaskWrite> tasks,
                      std::int64_t lease_token = 0) {
    return store().Commit({.job = Get(worker), .tasks = std::move(tasks)}, lease_token);
  }
  /// Runs the task on the worker from its claim to its end.
  void RunOnce(JobId worker, const std::string& id, TaskEndKind kind = TaskEndKind::kStopped) {
    ASSERT_TRUE(Commit(worker, {ClaimBy(worker, id)}).ok());
    ASSERT_TRUE(Commit(worker, {ReleaseOf(id, kind)}).ok());
  }
  static std::vector<std::string> IdsOf(const ports::TasksRead& read) {
    std::vector<std::string> ids;
    for (const core::Task& task : read.tasks) ids.push_back(task.definition.id);
    return ids;
  }

  std::unique_ptr<test::StoreSubject> subject_ = test::MakeStoreSubject(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Every, QueueContract, test::EveryStoreKind(), test::StoreKindName);

// --- Queues ---

TEST_P(QueueContract, AFileHasOneQueue) {
  const QueueId first = store().OpenQueue(kQueueFile).value();
  const QueueId other = store().OpenQueue("/home/ada/other.yaml").value();
  EXPECT_EQ(store().OpenQueue(kQueueFile).value(), first);
  EXPECT_NE(first, other);
  const auto queues = store().Queues().value();
  ASSERT_THAT(queues, SizeIs(2));
  EXPECT_EQ(queues[0], (ports::Queue{.id = first, .file = kQueueFile}));
  EXPECT_EQ(queues[1].id, other);
}

TEST_P(QueueContract, WhatWasSeenOfAFileIsReadBack) {
  const ports::QueueReading reading{
      .at = kNow,
      .error = "tasks.yaml:3: not YAML",
      .fingerprint = "sha256 1f",
      .refused = {{.id = "a", .why = "tasks.yaml:9: unknown key \"gpu\""}, {.id = "", .why = "x"}},
      .warnings = {"train-2 names no zone", "caf\xc3\xa9"}};
  ASSERT_TRUE(store().SyncQueue(Queue(), reading, {}, 0).ok());
  EXPECT_EQ(store().Queues().value().at(0).reading, reading);
  ASSERT_TRUE(store().SyncQueue(Queue(), {.at = kNow + seconds{5}}, {}, 0).ok());
  EXPECT_EQ(store().Queues().value().at(0).reading, (ports::QueueReading{.at = kNow + seconds{5}}));
}

TEST_P(QueueContract, AnUnknownQueueIsNotFound) {
  const QueueId none{77};
  EXPECT_EQ(store().Tasks(none, 0).error().code, Code::kNotFound);
  EXPECT_EQ(store().SyncQueue(none, {}, {test::MakeTask("a")}, 0).error().code, Code::kNotFound);
  core::Task task = test::MakeTask("a");
  task.queue = none;
  EXPECT_EQ(store().ChangeTasks({task}).error().code, Code::kNotFound);
  EXPECT_EQ(store().GetTask(none, "a").error().code, Code::kNotFound);
  EXPECT_THAT(store().Runs(none, "a").value(), IsEmpty());
}

// --- Tasks ---

TEST_P(QueueContract, ATaskReadsBackWhole) {
  core::Task task = test::BusyTask("train 1/\"x\"");
  ASSERT_TRUE(store().SyncQueue(Queue(), {}, {task}, 0).ok());
  task.queue = Queue();
  task.version = 1;
  EXPECT_EQ(GetTask(task.definition.id), task);
  EXPECT_THAT(Tasks().tasks, ElementsAre(task));
  EXPECT_THAT(Tasks().set_aside, IsEmpty());
  EXPECT_EQ(store().GetTask(Queue(), "train").error().code, Code::kNotFound);
}

TEST_P(QueueContract, TasksComeInTheOrderOfTheFile) {
  core::Task first = test::MakeTask("z", 0);
  core::Task second = test::MakeTask("b", 1);
  core::Task removed = test::MakeTask("a", 1);
  ASSERT_TRUE(store().SyncQueue(Queue(), {}, {second, removed, first}, 0).ok());
  EXPECT_THAT(IdsOf(Tasks()), ElementsAre("z", "a", "b"));
}

TEST_P(QueueContract, QueuesHaveTheirOwnTasks) {
  Fill({"a"});
  const QueueId other = store().OpenQueue("/home/ada/other.yaml").value();
  ASSERT_TRUE(store().SyncQueue(other, {}, {test::MakeTask("a", 4)}, 0).ok());
  EXPECT_EQ(GetTask("a").order, 0);
  EXPECT_EQ(store().GetTask(other, "a")->order, 4);
  EXPECT_THAT(store().Tasks(other, 0)->tasks, SizeIs(1));
}

TEST_P(QueueContract, AChangedFileIsWrittenAsAWholeOrNotAtAll) {
  Fill({"a", "b"});
  core::Task a = GetTask("a");
  core::Task b = GetTask("b");
  ASSERT_THAT(store().ChangeTasks({core::PrioritizeTask(b, true)}).value(), IsEmpty());
  a.definition.run = b.definition.run = "python other.py";
  const ports::QueueReading reading{.at = kNow, .fingerprint = "2"};
  const auto stale = store().SyncQueue(Queue(), reading, {test::MakeTask("c"), a, b}, 0);
  ASSERT_FALSE(stale.ok());
  EXPECT_EQ(stale.error().reason, Reason::kStale);
  EXPECT_EQ(stale.error().message, "task b has changed since it was read");
  EXPECT_EQ(GetTask("a").definition.run, "true");
  EXPECT_THAT(IdsOf(Tasks()), ElementsAre("a", "b"));
  EXPECT_EQ(store().Queues()->at(0).reading, ports::QueueReading{});
  b = GetTask("b");
  b.definition.run = a.definition.run;
  ASSERT_TRUE(store().SyncQueue(Queue(), reading, {test::MakeTask("c"), a, b}, 0).ok());
  EXPECT_EQ(GetTask("a").version, 2);
  EXPECT_EQ(GetTask("b").version, 3);
  EXPECT_EQ(GetTask("c").version, 1);
  EXPECT_TRUE(GetTask("b").prioritized);
  EXPECT_EQ(store().Queues()->at(0).reading, reading);
}

TEST_P(QueueContract, ATaskIsMadeOnce) {
  Fill({"a"});
  EXPECT_EQ(store().SyncQueue(Queue(), {}, {test::MakeTask("a", 5)}, 0).error().reason,
            Reason::kStale);
  core::Task task = test::MakeTask("a", 5);
  task.queue = Queue();
  EXPECT_THAT(store().ChangeTasks({task}).value(), ElementsAre("a"));
  EXPECT_EQ(GetTask("a").order, 0);
}

TEST_P(QueueContract, OnlyTheLeaseHolderWritesWhatTheFileSays) {
  const auto old = store().TakeLease("a", kNow, seconds{30}).value();
  const auto taken = store().TakeLease("b", kNow + seconds{60}, seconds{30}).value();
  const auto late = store().SyncQueue(Queue(), {.at = kNow}, {test::MakeTask("a")}, old->token);
  EXPECT_EQ(late.error().reason, Reason::kLeaseLost);
  EXPECT_THAT(Tasks().tasks, IsEmpty());
  EXPECT_EQ(store().Queues()->at(0).reading, ports::QueueReading{});
  EXPECT_TRUE(store().SyncQueue(Queue(), {.at = kNow}, {test::MakeTask("a")}, taken->token).ok());
}

TEST_P(QueueContract, AUserChangesTasksWithoutALeaseUnlessTheyHaveChanged) {
  Fill({"a", "b"});
  ASSERT_TRUE(store().TakeLease("controller", kNow, seconds{30}).ok());
  const core::Task seen = GetTask("b");
  ASSERT_THAT(store().ChangeTasks({core::PauseTask(seen, true, kNow)}).value(), IsEmpty());
  EXPECT_EQ(GetTask("b").version, 2);
  core::Task gone = test::MakeTask("gone");
  gone.queue = Queue();
  gone.version = 3;
  const auto stale = store().ChangeTasks(
      {core::MarkTaskDone(GetTask("a"), kNow), gone, core::ResetTask(seen, kNow + seconds{1})});
  EXPECT_THAT(stale.value(), ElementsAre("gone", "b"));
  EXPECT_EQ(core::StateOfTask(GetTask("a"), false), core::TaskState::kDone);
  EXPECT_EQ(core::StateOfTask(GetTask("b"), false), core::TaskState::kPaused);
  EXPECT_THAT(IdsOf(Tasks()), ElementsAre("a", "b"));
}

// --- Turns of workers ---

TEST_P(QueueContract, AClaimIsWrittenWithTheWorkersJob) {
  const JobId worker = Worker();
  Fill({"a", "b"});
  TaskChange claim = ClaimBy(worker, "a");
  core::Job job = Get(worker);
  job.why = "runs task a";
  ASSERT_TRUE(store().Commit({.job = job, .tasks = {claim}}, 0).ok());
  EXPECT_EQ(Get(worker).why, "runs task a");
  claim.task.version += 1;
  EXPECT_EQ(GetTask("a"), claim.task);
  EXPECT_THAT(store().Runs(Queue(), "a").value(), ElementsAre(claim.run));
  EXPECT_EQ(GetTask("b").version, 1);
}

TEST_P(QueueContract, ARunEndsWithTheWorkersJob) {
  const JobId worker = Worker();
  Fill({"a"});
  ASSERT_TRUE(Commit(worker, {ClaimBy(worker, "a")}).ok());
  const core::TaskRelease release = ReleaseOf("a", TaskEndKind::kFailed);
  auto expected = core::ReleaseTask(GetTask("a"), release.claim, release.end, release.at);
  ASSERT_TRUE(Commit(worker, {release}).ok());
  expected->task.version += 1;
  EXPECT_EQ(GetTask("a"), expected->task);
  EXPECT_THAT(store().Runs(Queue(), "a").value(), ElementsAre(expected->run));
}

TEST_P(QueueContract, ARunEndsWhateverHasChangedMeanwhile) {
  const JobId worker = Worker();
  Fill({"a"});
  ASSERT_TRUE(Commit(worker, {ClaimBy(worker, "a")}).ok());
  const core::TaskRelease release = ReleaseOf("a", TaskEndKind::kFailed);
  ASSERT_THAT(store().ChangeTasks({core::PauseTask(GetTask("a"), true, kNow)}).value(), IsEmpty());
  ASSERT_TRUE(Commit(worker, {release}).ok());
  const core::Task task = GetTask("a");
  EXPECT_TRUE(task.paused);
  EXPECT_EQ(task.failures, 1);
  EXPECT_THAT(task.claims, IsEmpty());
  EXPECT_EQ(task.version, 4);
}

TEST_P(QueueContract, ARunThatHasEndedAlreadyHoldsNoTurnUp) {
  const JobId worker = Worker();
  Fill({"a", "b", "c"});
  ASSERT_TRUE(Commit(worker, {ClaimBy(worker, "a")}).ok());
  const core::TaskRelease release = ReleaseOf("a", TaskEndKind::kFailed);
  ASSERT_TRUE(Commit(worker, {release}).ok());
  const core::Task ended = GetTask("a");
  ASSERT_TRUE(store().EraseTask(Queue(), "b", 1).ok());
  subject_->MakeTaskUnreadable(Queue(), "c");
  std::vector<core::TaskWrite> late = {release};
  for (const char* id : {"b", "c"}) {
    core::TaskRelease other = release;
    other.task = id;
    late.emplace_back(other);
  }
  const std::int64_t before = Get(worker).version;
  ASSERT_TRUE(Commit(worker, late).ok());
  EXPECT_EQ(Get(worker).version, before + 1);
  EXPECT_EQ(GetTask("a"), ended);
  EXPECT_THAT(store().Runs(Queue(), "a").value(), SizeIs(1));
}

TEST_P(QueueContract, ARunWhoseWorkerIsGoneEndsWithoutItsJob) {
  const JobId worker = Worker();
  Fill({"a"});
  ASSERT_TRUE(Commit(worker, {ClaimBy(worker, "a")}).ok());
  const core::TaskRelease release = ReleaseOf("a", TaskEndKind::kInterrupted);
  const auto old = store().TakeLease("a", kNow, seconds{30}).value();
  const auto taken = store().TakeLease("b", kNow + seconds{60}, seconds{30}).value();
  EXPECT_EQ(store().ReleaseTasks({release}, old->token).error().reason, Reason::kLeaseLost);
  EXPECT_THAT(GetTask("a").claims, SizeIs(1));
  auto expected = core::ReleaseTask(GetTask("a"), release.claim, release.end, release.at);
  ASSERT_TRUE(store().ReleaseTasks({release}, taken->token).ok());
  expected->task.version += 1;
  EXPECT_EQ(GetTask("a"), expected->task);
  EXPECT_THAT(store().Runs(Queue(), "a").value(), ElementsAre(expected->run));
  ASSERT_TRUE(store().ReleaseTasks({release}, taken->token).ok()) << "once more";
  EXPECT_EQ(GetTask("a"), expected->task);
}

TEST_P(QueueContract, ARunMayBeginAndEndInOneTurn) {
  const JobId worker = Worker();
  Fill({"a"});
  const TaskChange claim = ClaimBy(worker, "a");
  const core::TaskRelease release{.queue = Queue(),
                                  .task = "a",
                                  .claim = claim.task.claims.at(0),
                                  .end = {.kind = TaskEndKind::kFailed, .why = "no such host"},
                                  .at = kNow};
  ASSERT_TRUE(Commit(worker, {claim, release}).ok());
  EXPECT_EQ(GetTask("a").failures, 1);
  EXPECT_EQ(GetTask("a").version, 3);
  const auto runs = store().Runs(Queue(), "a").value();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_TRUE(runs[0].end);
}

TEST_P(QueueContract, ATurnMayReleaseOneTaskAndClaimAnother) {
  const JobId worker = Worker();
  Fill({"a", "b"});
  ASSERT_TRUE(Commit(worker, {ClaimBy(worker, "a")}).ok());
  const core::TaskRelease release = ReleaseOf("a", TaskEndKind::kSucceeded);
  const TaskChange claim = ClaimBy(worker, "b");
  ASSERT_TRUE(Commit(worker, {release, claim}).ok());
  EXPECT_THAT(GetTask("a").claims, IsEmpty());
  EXPECT_THAT(GetTask("b").claims, ElementsAre(claim.task.claims.at(0)));
}

TEST_P(QueueContract, AStaleTaskRefusesTheWholeTurn) {
  const JobId worker = Worker();
  Fill({"a", "b"});
  const TaskChange fresh = ClaimBy(worker, "a");
  const TaskChange stale = ClaimBy(worker, "b");
  const core::TaskRelease release{
      .queue = Queue(), .task = "a", .claim = fresh.task.claims.at(0), .at = kNow};
  ASSERT_THAT(store().ChangeTasks({core::PauseTask(GetTask("b"), true, kNow)}).value(), IsEmpty());
  const core::Job before = Get(worker);
  core::Job job = before;
  job.why = "runs task b";
  const auto refused = store().Commit({.job = job,
                                       .events = {{.kind = "note", .subject = "late"}},
                                       .exits = {{.attempt = 1, .stage = "run"}},
                                       .tasks = {fresh, release, stale}},
                                      0);
  EXPECT_EQ(refused.error().reason, Reason::kStale);
  EXPECT_EQ(refused.error().message, "task b has changed since it was read");
  EXPECT_EQ(Get(worker), before);
  EXPECT_THAT(store().Events(worker, 0).value(), SizeIs(1));
  EXPECT_THAT(store().Exits(worker).value(), IsEmpty());
  EXPECT_THAT(GetTask("a").claims, IsEmpty());
  EXPECT_EQ(GetTask("a").version, 1);
  EXPECT_THAT(store().Runs(Queue(), "a").value(), IsEmpty());
  EXPECT_THAT(store().Runs(Queue(), "b").value(), IsEmpty());
}

TEST_P(QueueContract, AStaleJobClaimsNothing) {
  const JobId worker = Worker();
  Fill({"a"});
  const core::Job read = Get(worker);
  ASSERT_TRUE(store().SetWish(worker, core::Wish::kCancel, core::SetupWish::kAsNeeded, kNow).ok());
  const TaskChange claim = ClaimBy(worker, "a");
  EXPECT_EQ(store().Commit({.job = read, .tasks = {claim}}, 0).error().reason, Reason::kStale);
  EXPECT_THAT(GetTask("a").claims, IsEmpty());
}

TEST_P(QueueContract, OfTwoWorkersOneGetsATask) {
  const JobId one = Worker();
  const JobId other = Worker();
  Fill({"a"});
  const TaskChange first = ClaimBy(one, "a");
  const TaskChange second = ClaimBy(other, "a");
  ASSERT_TRUE(Commit(one, {first}).ok());
  EXPECT_EQ(Commit(other, {second}).error().reason, Reason::kStale);
  EXPECT_EQ(Get(other).version, 1);
  EXPECT_THAT(GetTask("a").claims, ElementsAre(first.task.claims.at(0)));
}

TEST_P(QueueContract, AControllerThatLostItsLeaseClaimsNothing) {
  const JobId worker = Worker();
  Fill({"a"});
  const TaskChange claim = ClaimBy(worker, "a");
  const auto old = store().TakeLease("a", kNow, seconds{30}).value();
  const auto taken = store().TakeLease("b", kNow + seconds{60}, seconds{30}).value();
  EXPECT_EQ(Commit(worker, {claim}, old->token).error().reason, Reason::kLeaseLost);
  EXPECT_THAT(GetTask("a").claims, IsEmpty());
  EXPECT_TRUE(Commit(worker, {claim}, taken->token).ok());
  const core::TaskRelease release = ReleaseOf("a", TaskEndKind::kStopped);
  EXPECT_EQ(Commit(worker, {release}, old->token).error().reason, Reason::kLeaseLost);
  EXPECT_THAT(GetTask("a").claims, SizeIs(1));
}

TEST_P(QueueContract, ATaskThatTheStoreDoesNotHaveIsNotClaimed) {
  const JobId worker = Worker();
  core::Task unknown = test::MakeTask("a");
  unknown.queue = Queue();
  const auto claim = core::ClaimTask(unknown, test::MakeWorker(worker.value), kNow);
  EXPECT_EQ(Commit(worker, {*claim}).error().reason, Reason::kStale);
  EXPECT_THAT(Tasks().tasks, IsEmpty());
}

// --- History ---

TEST_P(QueueContract, TheLastRunsAreRemembered) {
  const JobId worker = Worker();
  Fill({"a", "b"});
  RunOnce(worker, "b");
  core::Task task = GetTask("a");
  task.runs = ports::kRunsKept - 1;  // as if they had been, long ago
  ASSERT_TRUE(store().ChangeTasks({task}).ok());
  for (int i = 0; i < 3; ++i) RunOnce(worker, "a");
  const auto runs = store().Runs(Queue(), "a").value();
  ASSERT_THAT(runs, SizeIs(3));
  EXPECT_EQ(runs.front().number, ports::kRunsKept);
  task = GetTask("a");
  task.runs = 2 * ports::kRunsKept;
  ASSERT_TRUE(store().ChangeTasks({task}).ok());
  RunOnce(worker, "a");
  const auto kept = store().Runs(Queue(), "a").value();
  std::vector<int> numbers;
  for (const core::TaskRun& run : kept) numbers.push_back(run.number);
  EXPECT_THAT(numbers, ElementsAre(ports::kRunsKept + 2, 2 * ports::kRunsKept + 1));
  EXPECT_THAT(store().Runs(Queue(), "b").value(), SizeIs(1));
}

TEST_P(QueueContract, AnErasedTaskIsGoneWithItsRuns) {
  const JobId worker = Worker();
  Fill({"a", "b"});
  RunOnce(worker, "a");
  const std::int64_t version = GetTask("a").version;
  EXPECT_EQ(store().EraseTask(Queue(), "a", version - 1).error().reason, Reason::kStale);
  ASSERT_TRUE(store().EraseTask(Queue(), "a", version).ok());
  EXPECT_THAT(IdsOf(Tasks()), ElementsAre("b"));
  EXPECT_THAT(store().Runs(Queue(), "a").value(), IsEmpty());
  EXPECT_EQ(store().EraseTask(Queue(), "a", version).error().code, Code::kNotFound);
}

TEST_P(QueueContract, ATaskThatIsRunIsNotErased) {
  const JobId worker = Worker();
  Fill({"a"});
  ASSERT_TRUE(Commit(worker, {ClaimBy(worker, "a")}).ok());
  const auto refused = store().EraseTask(Queue(), "a", GetTask("a").version);
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(refused.error().message, "task a cannot be erased: job 000001 runs it");
  EXPECT_THAT(GetTask("a").claims, SizeIs(1));
}

// --- Setting aside ---

TEST_P(QueueContract, ATaskThatCannotBeReadDoesNotHideTheOthers) {
  Fill({"a", "b", "c"});
  subject_->MakeTaskUnreadable(Queue(), "b");
  core::Task flawed = GetTask("c");
  flawed.failures = 7;
  ASSERT_TRUE(store().ChangeTasks({flawed}).ok());
  const ports::TasksRead read = Tasks();
  EXPECT_THAT(IdsOf(read), ElementsAre("a"));
  ASSERT_THAT(read.set_aside, SizeIs(2));
  EXPECT_EQ(read.set_aside[0].id, "b");
  EXPECT_EQ(read.set_aside[0].why,
            "written by a newer jobman: unknown standing of a task \"shelved\"");
  EXPECT_EQ(read.set_aside[1],
            (ports::TaskSetAside{.id = "c",
                                 .why = "its record contradicts itself: more failures than runs"}));
  EXPECT_EQ(store().GetTask(Queue(), "b").error().reason, Reason::kNewerStore);
  EXPECT_EQ(store().GetTask(Queue(), "c").error().code, Code::kDataLoss);
}

TEST_P(QueueContract, ATaskThatCannotBeReadStaysAsItIsWhenTheFileChanges) {
  Fill({"a", "b"});
  subject_->MakeTaskUnreadable(Queue(), "b");
  const ports::TasksRead read = Tasks();
  core::TaskList list;
  for (const char* id : {"b", "a", "c"}) list.tasks.push_back(test::MakeTask(id).definition);
  const core::TaskBoard board(read.tasks);
  const auto changed = core::SyncTasks(list, board, Queue(), kNow);
  ASSERT_TRUE(store().SyncQueue(Queue(), {.at = kNow}, changed, 0).ok());
  EXPECT_THAT(IdsOf(Tasks()), ElementsAre("a", "c"));
  EXPECT_EQ(store().GetTask(Queue(), "b").error().reason, Reason::kNewerStore);
}

// --- Changes ---

TEST_P(QueueContract, OnlyWhatIsNewIsReadAgain) {
  const JobId worker = Worker();
  Fill({"a", "b", "c"});
  ports::TasksRead read = Tasks();
  EXPECT_TRUE(read.complete);
  EXPECT_EQ(read.change, store().Queues()->at(0).change);
  EXPECT_THAT(IdsOf(Tasks(read.change)), IsEmpty());
  ASSERT_TRUE(Commit(worker, {ClaimBy(worker, "b")}).ok());
  ASSERT_TRUE(store().ChangeTasks({core::PauseTask(GetTask("c"), true, kNow)}).ok());
  const ports::TasksRead news = Tasks(read.change);
  EXPECT_FALSE(news.complete);
  EXPECT_THAT(IdsOf(news), ElementsAre("b", "c"));
  EXPECT_GT(news.change, read.change);
  EXPECT_THAT(IdsOf(Tasks(news.change)), IsEmpty());
  subject_->MakeTaskUnreadable(Queue(), "a");
  EXPECT_THAT(Tasks(news.change).set_aside, SizeIs(1));
}

TEST_P(QueueContract, AfterAnErasureAllIsReadAgain) {
  Fill({"a", "b", "c"});
  const std::int64_t before = Tasks().change;
  ASSERT_TRUE(store().EraseTask(Queue(), "b", 1).ok());
  const ports::TasksRead read = Tasks(before);
  EXPECT_TRUE(read.complete);
  EXPECT_THAT(IdsOf(read), ElementsAre("a", "c"));
  EXPECT_FALSE(Tasks(read.change).complete);
}

TEST_P(QueueContract, ANumberOfAnotherStoreReadsAll) {
  Fill({"a"});
  EXPECT_TRUE(Tasks(1'000'000).complete);
  EXPECT_THAT(IdsOf(Tasks(1'000'000)), ElementsAre("a"));
}

TEST_P(QueueContract, EveryWriteMovesTheChangeCounters) {
  const JobId worker = Worker();
  const QueueId queue = Queue();
  const test::DirectStore store = this->store();
  const std::int64_t other = store.OpenQueue("/home/ada/other.yaml").value().value;
  std::int64_t counted = store.ChangeCounter().value();
  std::int64_t change = store.Queues()->at(0).change;
  const auto moves = [&](const char* what) {
    const std::int64_t counted_before = counted;
    const std::int64_t change_before = change;
    counted = store.ChangeCounter().value();
    change = store.Queues()->at(0).change;
    EXPECT_NE(counted, counted_before) << what;
    EXPECT_GT(change, change_before) << what;
  };
  ASSERT_TRUE(store.SyncQueue(queue, {.at = kNow}, {test::MakeTask("a")}, 0).ok());
  moves("sync");
  core::Task task = store.GetTask(queue, "a").value();
  ASSERT_TRUE(store.ChangeTasks({core::PauseTask(task, false, kNow)}).ok());
  moves("change");
  task = store.GetTask(queue, "a").value();
  const auto claim = core::ClaimTask(task, test::MakeWorker(worker.value), kNow);
  ASSERT_TRUE(store.Commit({.job = store.Get(worker).value(), .tasks = {*claim}}, 0).ok());
  moves("commit");
  ASSERT_TRUE(store.Tasks(queue, 0).ok());
  ASSERT_TRUE(store.OpenQueue(kQueueFile).ok());
  EXPECT_EQ(store.ChangeCounter().value(), counted) << "reading is no write";
  EXPECT_EQ(store.Queues()->at(1).id.value, other);
  EXPECT_EQ(store.Queues()->at(1).change, 0);
}

// --- Many ---

/// The others differ from these in nothing that takes time by the number of tasks.
class ManyTasks : public QueueContract {};

INSTANTIATE_TEST_SUITE_P(Both, ManyTasks,
                         testing::Values(test::StoreKind::kMemory, test::StoreKind::kSqlite),
                         test::StoreKindName);

TEST_P(ManyTasks, TenThousandTasksAreWrittenAtOnceAndListed) {
  constexpr int kMany = 10'000;
  core::TaskList list;
  for (int i = 0; i < kMany; ++i) {
    list.tasks.push_back(test::MakeTask("train-" + std::to_string(i)).definition);
  }
  const auto tasks = core::SyncTasks(list, core::TaskBoard{}, Queue(), kNow);
  ASSERT_TRUE(store().SyncQueue(Queue(), {.at = kNow}, tasks, 0).ok());
  const ports::TasksRead read = Tasks();
  ASSERT_THAT(read.tasks, SizeIs(kMany));
  EXPECT_EQ(read.tasks.back().definition.id, "train-9999");
  EXPECT_EQ(read.tasks.back().order, kMany - 1);
  EXPECT_THAT(core::SyncTasks(list, core::TaskBoard(read.tasks), Queue(), kNow), IsEmpty());
}

}  // namespace
}  // namespace jobman

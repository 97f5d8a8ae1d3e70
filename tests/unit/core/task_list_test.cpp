// What a changed queue file does to the tasks that are recorded.
#include "jobman/core/task_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/tasks.hpp"

namespace jobman::core {
namespace {

using test::MakeTask;
using test::MakeWorker;
using test::TaskTime;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TaskDefinition Defined(const std::string& id, std::vector<std::string> needs = {}) {
  return MakeTask(id, 0, std::move(needs)).definition;
}

/// Brings the board up to date; returns the ids of what was written.
std::vector<std::string> SyncBoard(TaskBoard& board, const TaskList& list) {
  std::vector<std::string> written;
  for (Task& task : SyncTasks(list, board, QueueId{1}, TaskTime(0))) {
    written.push_back(task.definition.id);
    board.Put(std::move(task));
  }
  return written;
}

std::string WordIn(const TaskBoard& board, const std::string& id) {
  return std::string(TaskStateName(board.StateOf(*board.Find(id))));
}

void TakeTask(TaskBoard& board, const std::string& id) {
  board.Put(ClaimTask(*board.Find(id), MakeWorker(7), TaskTime(1))->task);
}

TEST(SyncTasks, WritesWhatIsNewAndWhatChanged) {
  TaskBoard board;
  TaskList list{.tasks = {Defined("a"), Defined("b")}};
  EXPECT_THAT(SyncBoard(board, list), ElementsAre("a", "b"));
  EXPECT_EQ(board.Find("b")->order, 1);
  EXPECT_EQ(board.Find("b")->queue, QueueId{1});
  EXPECT_EQ(board.Find("b")->why, "new in the queue file");
  EXPECT_THAT(SyncBoard(board, list), IsEmpty());
  list.tasks[1].run = "false";
  EXPECT_THAT(SyncBoard(board, list), ElementsAre("b"));
  EXPECT_EQ(board.Find("b")->why, "changed in the queue file");
  std::swap(list.tasks[0], list.tasks[1]);
  EXPECT_THAT(SyncBoard(board, list), ElementsAre("b", "a")) << "their order";
}

TEST(SyncTasks, ARemovedTaskIsNotTakenAndComesBackAsItWas) {
  TaskBoard board;
  const TaskList list{.tasks = {Defined("a"), Defined("b")}};
  SyncBoard(board, list);
  board.Put(PauseTask(*board.Find("a"), true, TaskTime(1)));
  EXPECT_THAT(SyncBoard(board, {.tasks = {Defined("b")}}), ElementsAre("b", "a"));
  EXPECT_EQ(WordIn(board, "a"), "REMOVED");
  EXPECT_THAT(SyncBoard(board, {.tasks = {Defined("b")}}), IsEmpty());
  SyncBoard(board, list);
  EXPECT_EQ(WordIn(board, "a"), "PAUSED");
}

TEST(SyncTasks, ARunIsNotTouchedByWhatBecomesOfItsTask) {
  TaskBoard board;
  TaskList list{.tasks = {Defined("a"), Defined("b")}};
  SyncBoard(board, list);
  TakeTask(board, "a");
  const Task running = *board.Find("a");
  list.tasks[0].run = "something else";
  SyncBoard(board, list);
  EXPECT_EQ(board.Find("a")->claims, running.claims);
  EXPECT_EQ(board.Find("a")->why, running.why) << "it says where it runs";
  SyncBoard(board, {});
  EXPECT_EQ(WordIn(board, "a"), "RUNNING");
  EXPECT_EQ(WordIn(board, "b"), "REMOVED");
  const TaskEnd failed = {.kind = TaskEndKind::kFailed};
  board.Put(ReleaseTask(*board.Find("a"), running.claims.at(0), failed, TaskTime(2))->task);
  EXPECT_EQ(WordIn(board, "a"), "REMOVED") << "and is not run again";
}

TEST(SyncTasks, WhatIsDoneIsNotRunAgainWhenItChanges) {
  TaskBoard board;
  TaskList list{.tasks = {Defined("a")}};
  SyncBoard(board, list);
  board.Put(MarkTaskDone(*board.Find("a"), TaskTime(1)));
  list.tasks[0].run = "something else";
  SyncBoard(board, list);
  EXPECT_EQ(WordIn(board, "a"), "DONE");
  SyncBoard(board, {});
  SyncBoard(board, list);
  EXPECT_EQ(WordIn(board, "a"), "DONE");
}

TEST(SyncTasks, ARefusedTaskStaysAsItIsRecorded) {
  TaskBoard board;
  SyncBoard(board, {.tasks = {Defined("a"), Defined("b")}});
  const TaskList list{.tasks = {Defined("b")},
                      .refused = {{.id = "a", .why = "x"}, {.id = "new", .why = "y"}, {}}};
  EXPECT_THAT(SyncBoard(board, list), ElementsAre("b")) << "its place in the file";
  EXPECT_EQ(WordIn(board, "a"), "QUEUED");
  EXPECT_EQ(board.Find("new"), nullptr);
}

/// The ids of the tasks of each circle.
std::vector<std::vector<std::string>> CyclesIn(const std::vector<TaskDefinition>& tasks) {
  std::vector<std::vector<std::string>> cycles;
  for (const auto& cycle : FindCycles(tasks)) {
    auto& ids = cycles.emplace_back();
    for (const std::size_t task : cycle) ids.push_back(tasks[task].id);
  }
  return cycles;
}

TEST(FindCycles, TellsWhoWaitsForWhom) {
  EXPECT_THAT(CyclesIn({}), IsEmpty());
  EXPECT_THAT(CyclesIn({Defined("a"), Defined("b", {"a"}), Defined("c", {"a", "b", "none"})}),
              IsEmpty());
  EXPECT_THAT(CyclesIn({Defined("a", {"a"})}), ElementsAre(ElementsAre("a")));
  EXPECT_THAT(CyclesIn({Defined("a", {"b"}), Defined("b", {"c"}), Defined("c", {"a"})}),
              ElementsAre(ElementsAre("a", "b", "c")));
  EXPECT_THAT(CyclesIn({Defined("x", {"a"}), Defined("a", {"b"}), Defined("b", {"a"}),
                        Defined("c", {"d"}), Defined("d", {"c"})}),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("c", "d")))
      << "x only waits for such tasks";
}

TEST(FindCycles, LeavesNoCircleBehind) {
  std::vector<TaskDefinition> tasks = {Defined("a", {"b"}), Defined("b", {"a", "c"}),
                                       Defined("c", {"b", "d"}), Defined("d", {"e"}),
                                       Defined("e", {"d", "a"})};
  const auto cycles = FindCycles(tasks);
  ASSERT_FALSE(cycles.empty());
  std::vector<TaskDefinition> rest;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const bool told = std::any_of(cycles.begin(), cycles.end(), [&](const auto& cycle) {
      return std::find(cycle.begin(), cycle.end(), i) != cycle.end();
    });
    if (!told) rest.push_back(tasks[i]);
  }
  EXPECT_THAT(FindCycles(rest), IsEmpty());
}

TEST(FindCycles, ALongChainNeedsNoStackOfItsLength) {
  constexpr int kLength = 10'000;
  std::vector<TaskDefinition> tasks;
  for (int i = 0; i < kLength; ++i) {
    tasks.push_back(Defined("t" + std::to_string(i), {"t" + std::to_string(i + 1)}));
  }
  EXPECT_THAT(FindCycles(tasks), IsEmpty());
  tasks.back().depends_on = {"t0"};
  ASSERT_EQ(FindCycles(tasks).size(), 1U);
  EXPECT_EQ(FindCycles(tasks)[0].size(), tasks.size());
}

}  // namespace
}  // namespace jobman::core

// Which task a worker takes next, and what a task waits for.
#include "jobman/core/task_board.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/tasks.hpp"

namespace jobman::core {
namespace {

using test::MakeTask;
using test::MakeWorker;
using test::TaskTime;

/// A task in few words: "b<a" depends on a. What follows in the second text: D done, F parked, P
/// paused, ! prioritized, R removed, one digit for each job that runs it, M max_jobs 2, Z another
/// zone, - no zone, A another accelerator, W waits after interruptions.
Task TaskFrom(const std::string& name, const std::string& marks, int order) {
  const std::size_t needs = name.find('<');
  Task task = MakeTask(name.substr(0, needs), order);
  if (needs != std::string::npos) task.definition.depends_on = {name.substr(needs + 1)};
  for (const char mark : marks) {
    if (mark == 'D') task.standing = TaskDone{};
    if (mark == 'F') task.standing = TaskParked{};
    if (mark == 'P') task.paused = true;
    if (mark == '!') task.prioritized = true;
    if (mark == 'R') task.listed = false;
    if (mark == 'M') task.definition.max_jobs = 2;
    if (mark == 'Z') task.definition.zone = "europe-west4-a";
    if (mark == '-') task.definition.zone.clear();
    if (mark == 'A') task.definition.accelerator = "v4-16";
    if (mark == 'W') task.not_before = TaskTime(60);
    if (mark >= '0' && mark <= '9') {
      task.claims.push_back({.job = JobId{mark - '0'}, .attempt = 1, .run = ++task.runs});
    }
  }
  return task;
}

using Words = std::vector<std::pair<std::string, std::string>>;

TaskBoard BoardOf(const Words& words, bool backwards = false) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < words.size(); ++i) {
    tasks.push_back(TaskFrom(words[i].first, words[i].second, static_cast<int>(i)));
  }
  if (backwards) std::reverse(tasks.begin(), tasks.end());
  return TaskBoard(std::move(tasks));
}

struct NextCase {
  Words tasks;
  std::string taken;  ///< by job 7; empty: none
};

/// The rules of Python jobman's queue, and what was added to them (docs/adr/0023-task-queue.md).
const NextCase kNextCases[] = {
    // The order of the file.
    {{}, ""},
    {{{"a", ""}}, "a"},
    {{{"b", ""}, {"a", ""}}, "b"},
    {{{"a", "D"}, {"b", ""}}, "b"},
    {{{"a", "F"}, {"b", ""}}, "b"},
    {{{"a", "D"}, {"b", "F"}}, ""},
    // Priority goes first, in the order of the file; it does not lift other conditions.
    {{{"a", ""}, {"b", "!"}}, "b"},
    {{{"a", ""}, {"b", "!"}, {"c", "!"}}, "b"},
    {{{"a", "D!"}, {"b", ""}}, "b"},
    {{{"a", ""}, {"b<c", "!"}, {"c", ""}}, "a"},
    {{{"a", ""}, {"b", "!1"}}, "a"},
    {{{"a", ""}, {"b", "!Z"}}, "a"},
    {{{"a", ""}, {"b", "!F"}}, "a"},
    // Accelerator and zone must be the worker's own. No zone is no match.
    {{{"a", "A"}, {"b", ""}}, "b"},
    {{{"a", "Z"}, {"b", ""}}, "b"},
    {{{"a", "-"}, {"b", ""}}, "b"},
    {{{"a", "AZ"}, {"b", "-"}}, ""},
    // Dependencies must be done; the order of the file does not matter for them.
    {{{"b<a", ""}, {"a", ""}}, "a"},
    {{{"b<a", ""}, {"a", "D"}}, "b"},
    {{{"b<a", ""}, {"a", "F"}}, ""},
    {{{"b<a", ""}, {"a", "1"}}, ""},
    {{{"b<a", ""}, {"a", "P"}}, ""},
    {{{"b<a", ""}}, ""},
    {{{"b<a", ""}, {"a", "DR"}}, "b"},
    {{{"b<a", ""}, {"a", "R"}}, ""},
    {{{"b<a", ""}, {"a", "DA"}}, "b"},
    {{{"b<a", ""}, {"a", "DZ"}}, "b"},
    {{{"c<b", ""}, {"b<a", ""}, {"a", "D"}}, "b"},
    {{{"a<a", ""}, {"b", ""}}, "b"},
    {{{"a<b", ""}, {"b<a", ""}}, ""},
    // As many runs at a time as max_jobs says, never two by one job.
    {{{"a", "1"}, {"b", ""}}, "b"},
    {{{"a", "1M"}, {"b", ""}}, "a"},
    {{{"a", "12M"}, {"b", ""}}, "b"},
    {{{"a", "7M"}, {"b", ""}}, "b"},
    {{{"a", "17M"}}, ""},
    {{{"a", "1MD"}, {"b", ""}}, "b"},
    // What Python jobman does not have: paused and removed tasks, and pauses.
    {{{"a", "P"}, {"b", ""}}, "b"},
    {{{"a", "P!"}, {"b", ""}}, "b"},
    {{{"a", "R"}, {"b", ""}}, "b"},
    {{{"a", "W"}, {"b", ""}}, "b"},
    {{{"a", "W!"}}, ""},
};

TEST(TaskBoard, TakesTheTaskThatIsNext) {
  for (const NextCase& one : kNextCases) {
    std::string told;
    for (const auto& [name, marks] : one.tasks) told += name + "(" + marks + ") ";
    for (const bool backwards : {false, true}) {
      const TaskBoard board = BoardOf(one.tasks, backwards);
      const Task* const next = board.Next(MakeWorker(7), TaskTime(0));
      EXPECT_EQ(next == nullptr ? "" : next->definition.id, one.taken) << told;
    }
  }
}

/// The same rules without an index, one task after the other.
const Task* NextByRules(const TaskBoard& board, const TaskWorker& worker, TimePoint now) {
  const Task* best = nullptr;
  for (const auto& [id, task] : board.tasks()) {
    if (!MayRun(task, worker, now) || board.MissingFor(task) != nullptr) continue;
    const auto rank = [](const Task& one) { return std::pair(!one.prioritized, one.order); };
    if (best == nullptr || rank(task) < rank(*best)) best = &task;
  }
  return best;
}

TEST(TaskBoard, ItsIndexFollowsEveryChange) {
  TaskBoard board = BoardOf({{"a", ""}, {"b<a", ""}, {"c<b", "!"}, {"d", "M"}});
  const auto expect_same = [&](const std::string& after) {
    for (const int second : {0, 60}) {
      const TimePoint now = TaskTime(second);
      EXPECT_EQ(board.Next(MakeWorker(7), now), NextByRules(board, MakeWorker(7), now)) << after;
    }
  };
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"a", "D"}, {"b<a", "D"}, {"b<a", ""},    {"c<d", "!"}, {"d", "MD"}, {"c<d", "R"},
      {"a", ""},  {"a", "A"},   {"b<none", ""}, {"a", "DW"},  {"d", "1M"}, {"b<a", "W"}};
  for (const auto& [name, marks] : changes) {
    board.Put(TaskFrom(name, marks, 1));
    expect_same(name + " " + marks);
  }
  for (const char* id : {"a", "d", "b", "a"}) {
    board.Erase(id);
    expect_same(std::string("without ") + id);
  }
}

TEST(TaskBoard, KnowsWhenToLookAgain) {
  const TaskBoard board = BoardOf({{"a", "W"}, {"b", "WZ"}});
  EXPECT_EQ(board.WakeAt(MakeWorker(7), TaskTime(0)), TaskTime(60));
  EXPECT_FALSE(board.WakeAt(MakeWorker(7), TaskTime(60)));
  EXPECT_NE(board.Next(MakeWorker(7), TaskTime(60)), nullptr);
}

// Not a measure of time: with a search through all tasks the loop would take minutes.
TEST(TaskBoard, TenThousandTasksAreTakenOneByOne) {
  constexpr int kTasks = 10'000;
  std::vector<Task> tasks;
  for (int i = 0; i < kTasks; ++i) tasks.push_back(MakeTask("t" + std::to_string(i), i));
  TaskBoard board(std::move(tasks));
  for (int i = 0; i < kTasks; ++i) {
    const TaskWorker worker = MakeWorker(1 + i % 50);
    const Task* const next = board.Next(worker, TaskTime(i));
    ASSERT_NE(next, nullptr);
    ASSERT_EQ(next->order, i);
    const Task taken = ClaimTask(*next, worker, TaskTime(i))->task;
    board.Put(taken);
    board.Put(ReleaseTask(taken, taken.claims.at(0), {.kind = TaskEndKind::kSucceeded}, TaskTime(i))
                  ->task);
  }
  EXPECT_EQ(board.Next(MakeWorker(1), TaskTime(0)), nullptr);
}

/// What the first of the tasks waits for.
std::string WhyFirst(const Words& words, const std::vector<TaskWorker>& workers = {}) {
  const TaskBoard board = BoardOf(words);
  const std::string id = words.at(0).first.substr(0, words.at(0).first.find('<'));
  return WhyWaits(board, *board.Find(id), workers, TaskTime(0));
}

TEST(WhyWaits, NamesTheDependency) {
  EXPECT_EQ(WhyFirst({{"b<a", ""}, {"a", ""}}), "waits for a, which is QUEUED");
  EXPECT_EQ(WhyFirst({{"b<a", ""}, {"a", "1"}}), "waits for a, which is RUNNING");
  EXPECT_EQ(WhyFirst({{"b<a", ""}}), "waits for a, which the queue file does not have");
  EXPECT_EQ(WhyFirst({{"b<a", ""}, {"a", "R"}}),
            "waits for a, which the queue file does not have any more");
  EXPECT_EQ(WhyFirst({{"c<b", ""}, {"b<a", ""}, {"a", "P"}}),
            "waits for b, which waits for a, which is PAUSED");
  EXPECT_EQ(WhyFirst({{"e<d", ""}, {"d<c", ""}, {"c<b", ""}, {"b<a", ""}, {"a", ""}}),
            "waits for d, and so on to a, which is QUEUED");
  EXPECT_EQ(WhyFirst({{"a<b", ""}, {"b<a", ""}}),
            "waits for b, which waits for a: these tasks wait for each other");
}

TEST(WhyWaits, TellsWhyADependencyFailed) {
  TaskBoard board = BoardOf({{"b<a", ""}});
  Task failed = TaskFrom("a", "F", 1);
  failed.why = "run 3 on job 000007 failed: exit code 3 on host 0";
  board.Put(failed);
  EXPECT_EQ(WhyWaits(board, *board.Find("b"), {}, TaskTime(0)),
            "waits for a, which is FAILED: run 3 on job 000007 failed: exit code 3 on host 0");
  EXPECT_EQ(WhyWaits(board, failed, {}, TaskTime(0)),
            failed.why + "; jobman queue --reset a puts it back");
}

TEST(WhyWaits, OfWhatIsDoneARunThatGoesOnIsSaid) {
  const auto claimed = ClaimTask(MakeTask("a"), MakeWorker(7), TaskTime(0));
  TaskBoard board;
  board.Put(MarkTaskDone(claimed->task, TaskTime(1)));
  EXPECT_EQ(WhyWaits(board, *board.Find("a"), {}, TaskTime(2)),
            "done, the user says; it still runs on job 000007");
}

TEST(WhyWaits, OfWhatRunsItIsSaidIfNoOtherRunFollows) {
  const auto claimed = ClaimTask(MakeTask("a"), MakeWorker(7), TaskTime(0));
  TaskBoard board;
  board.Put(PauseTask(claimed->task, true, TaskTime(1)));
  EXPECT_EQ(WhyWaits(board, *board.Find("a"), {}, TaskTime(2)),
            "runs on job 000007; it is paused, so no other run begins");
  Task removed = claimed->task;
  removed.listed = false;
  board.Put(removed);
  EXPECT_EQ(
      WhyWaits(board, *board.Find("a"), {}, TaskTime(2)),
      "runs on job 000007; the queue file does not have it any more, so that is its last run");
}

TEST(WhyWaits, CountsTheWorkersThatCouldTakeIt) {
  TaskWorker busy = MakeWorker(1);
  busy.phase = WorkerPhase::kBusy;
  TaskWorker preparing = MakeWorker(2);
  preparing.phase = WorkerPhase::kPreparing;
  TaskWorker other = MakeWorker(3);
  other.accelerator = "v4-16";
  EXPECT_EQ(WhyFirst({{"a", ""}}), "no worker serves this queue");
  EXPECT_EQ(WhyFirst({{"a", ""}}, {other}),
            "no worker of this queue has v4-8 in us-central2-b: they have v4-16 in us-central2-b");
  EXPECT_EQ(WhyFirst({{"a", ""}}, {busy, preparing, other}),
            "waits for 2 workers with v4-8 in us-central2-b (1 at work, 1 not ready yet)");
  EXPECT_EQ(WhyFirst({{"a", ""}, {"b", "!"}}, {busy}),
            "waits for 1 worker with v4-8 in us-central2-b (1 at work), after 1 other task");
  EXPECT_EQ(WhyFirst({{"a", "-"}}, {busy}), "names no zone, so no worker takes it");
}

TEST(WhyWaits, TellsWhatBecameOfTheTask) {
  EXPECT_EQ(WhyFirst({{"a", "12M"}}), "runs on jobs 000001, 000002");
  EXPECT_EQ(WhyFirst({{"a", "R"}}), "the queue file does not have it any more");
  Task cut = TaskFrom("a", "W", 0);
  cut.streak = cut.interruptions = cut.runs = 2;
  cut.why = "run 2 on job 000007 was interrupted: exit code 255 on host 0";
  EXPECT_EQ(WhyWaits(TaskBoard({cut}), cut, {}, TaskTime(0)),
            "waits for 1m after 2 interruptions in a row: " + cut.why);
}

TEST(CountsAhead, AreThoseOfEachTaskThatCanBeTaken) {
  const Words words = {{"a", ""}, {"b", "!"}, {"c", "D"}, {"d", "Z"}, {"e", "P"}, {"f", ""}};
  const TaskBoard board = BoardOf(words, true);
  const auto counts = board.CountsAhead();
  EXPECT_THAT(counts, testing::ElementsAre(testing::Pair("a", 1), testing::Pair("b", 0),
                                           testing::Pair("d", 0), testing::Pair("f", 2)));
  for (const auto& [id, count] : counts) {
    const Task& task = *board.Find(id);
    EXPECT_EQ(count, board.CountAhead(task)) << id;
    const TaskWorker worker = MakeWorker(1);
    EXPECT_EQ(WhyWaits(board, task, {worker}, TaskTime(0), count),
              WhyWaits(board, task, {worker}, TaskTime(0)));
  }
}

}  // namespace
}  // namespace jobman::core

// Random walks over the rules of the task queue: whatever workers, users, the file and a slow
// controller do, no task is run by more workers than it allows, what is done is not run again, and
// only failures count. docs/states.md lists exactly the transitions that occur. JOBMAN_SEED repeats
// a walk, JOBMAN_STEPS makes it longer.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/task_list.hpp"
#include "tests/property/random.hpp"
#include "tests/support/states_doc.hpp"
#include "tests/support/tasks.hpp"

namespace jobman::test {
namespace {

using core::Task;
using core::TaskBoard;
using core::TaskClaim;
using core::TaskEndKind;

constexpr int kTaskNames = 6;
constexpr int kWorkers = 4;
constexpr std::int64_t kTaskSteps = 100'000;
constexpr int kStepsPerWalk = 300;

/// What is true of a task, kept without the rules of core.
struct Ledger {
  std::vector<TaskClaim> live = {};  ///< runs that have begun and not ended
  int runs = 0;
  int failures = 0;   ///< since it was put back, or done
  bool done = false;  ///< and not put back since
};

/// A store of tasks, a controller that may have read it a while ago, workers, and a user.
class TaskWorld {
 public:
  TaskWorld(std::uint64_t seed, std::set<Edge>& edges) : random_(seed), edges_(edges) {}

  /// Returns whether every invariant held.
  bool Walk(int steps) {
    ChangeFile();
    for (int i = 0; i < steps && broken_.empty(); ++i) {
      now_ += std::chrono::seconds{random_.Below(40)};
      Step();
      Check();
    }
    if (broken_.empty()) Finish();
    return broken_.empty();
  }
  const std::string& broken() const { return broken_; }
  const std::string& last() const { return last_; }

 private:
  void Break(std::string what) {
    if (broken_.empty()) broken_ = std::move(what) + " (after: " + last_ + ")";
  }
  void Say(std::string what) { last_ = std::move(what); }

  // --- What happens ---

  void Step() {
    const auto before = States();
    const int dice = random_.Below(100);
    if (dice < 45) {
      Offer(1 + random_.Below(kWorkers));
    } else if (dice < 75) {
      EndARun();
    } else if (dice < 80) {
      RepeatNews();
    } else if (dice < 92) {
      UserActs();
    } else {
      ChangeFile();
    }
    if (random_.Percent(70)) board_ = store_;  // the controller reads the store
    Learn(before);
  }

  /// The controller offers a worker what is next by its own board, and commits the claim.
  void Offer(int job) {
    core::TaskWorker worker = MakeWorker(job);
    worker.attempt = attempts_[job] + 1;
    if (IsBusy(job)) return;
    const Task* const next = board_.Next(worker, now_);
    if (next == nullptr) return;
    const auto claimed = core::ClaimTask(*next, worker, now_);
    if (!claimed) return Break("Next() offers what cannot be claimed");
    Say("claim of " + next->definition.id + " by " + std::to_string(job));
    const bool stale = store_.Find(next->definition.id)->version != next->version;
    if (stale) return;  // the transaction is refused
    CheckBegin(*store_.Find(next->definition.id), claimed->task.claims.back());
    Write(claimed->task);
  }

  bool IsBusy(int job) const {
    return std::any_of(ledger_.begin(), ledger_.end(), [&](const auto& entry) {
      const auto& live = entry.second.live;
      return std::any_of(live.begin(), live.end(),
                         [&](const TaskClaim& claim) { return claim.job.value == job; });
    });
  }

  void CheckBegin(const Task& task, const TaskClaim& claim) {
    Ledger& entry = ledger_[task.definition.id];
    if (entry.done) Break("what is done is run again");
    if (static_cast<int>(entry.live.size()) >= task.definition.max_jobs) {
      Break("more runs at once than max_jobs");
    }
    if (entry.failures >= std::max(task.definition.max_retries, 1) && !task.prioritized &&
        std::holds_alternative<core::TaskParked>(task.standing)) {
      Break("a parked task is run");
    }
    if (!task.listed || task.paused) Break("a removed or paused task is run");
    if (claim.run != ++entry.runs) Break("the numbers of runs are not in order");
    entry.live.push_back(claim);
  }

  /// One of the runs that go on; nothing if there is none.
  std::optional<std::pair<std::string, TaskClaim>> AnyRun() {
    std::vector<std::pair<std::string, TaskClaim>> runs;
    for (const auto& [id, entry] : ledger_) {
      for (const TaskClaim& claim : entry.live) runs.emplace_back(id, claim);
    }
    if (runs.empty()) return std::nullopt;
    return runs[static_cast<std::size_t>(random_.Below(static_cast<int>(runs.size())))];
  }

  core::TaskEnd AnyEnd() {
    core::TaskRunFacts facts;
    const int dice = random_.Below(100);
    if (dice < 30) facts.exit_code = 1 + random_.Below(100);
    if (dice >= 30 && dice < 40) facts.exit_code = random_.Percent(50) ? 143 : 255;
    if (dice >= 40 && dice < 60) facts.lost = "slice S was preempted";
    if (dice >= 60 && dice < 65) return {.kind = TaskEndKind::kStopped};
    return core::JudgeTaskRun(facts);
  }

  void EndARun() {
    const auto run = AnyRun();
    if (run) End(run->first, run->second, AnyEnd());
  }

  void End(const std::string& id, const TaskClaim& claim, const core::TaskEnd& end) {
    Say("run " + std::to_string(claim.run) + " of " + id + " " +
        std::string(core::TaskEndName(end.kind)));
    const auto released = core::ReleaseTask(*store_.Find(id), claim, end, now_);
    if (!released) return Break("a run cannot end");
    Ledger& entry = ledger_[id];
    std::erase_if(entry.live, [&](const TaskClaim& one) { return core::IsSameClaim(one, claim); });
    const bool succeeded = end.kind == TaskEndKind::kSucceeded;
    if (end.kind == TaskEndKind::kFailed && !entry.done) ++entry.failures;
    if (succeeded) entry.failures = 0;
    entry.done = entry.done || succeeded;
    if (end.slice_lost) ++attempts_[static_cast<int>(claim.job.value)];
    ended_.emplace_back(id, claim);
    Write(released->task);
  }

  /// News of a run that has ended comes once more, as after a crash of the controller.
  void RepeatNews() {
    if (ended_.empty()) return;
    const auto& [id, claim] =
        ended_[static_cast<std::size_t>(random_.Below(static_cast<int>(ended_.size())))];
    Say("late news of " + id);
    const Task* const task = store_.Find(id);
    const core::TaskEnd end = AnyEnd();
    if (task != nullptr && core::ReleaseTask(*task, claim, end, now_)) {
      Break("a run ends twice");
    }
  }

  void UserActs() {
    const Task* const found = store_.Find(AnyName());
    if (found == nullptr) return;
    Task task = *found;
    Ledger& entry = ledger_[task.definition.id];
    const int act = random_.Below(6);
    Say("user's act " + std::to_string(act) + " on " + task.definition.id);
    if (act == 0 || act == 1) {
      task = act == 0 ? core::ResetTask(task, now_) : core::RequeueTask(task, now_);
      entry.done = false;
      entry.failures = 0;
    }
    if (act == 2) {
      task = core::MarkTaskDone(task, now_);
      entry.failures = entry.done ? entry.failures : 0;
      entry.done = true;
    }
    if (act == 3) task = core::PauseTask(task, true, now_);
    if (act == 4) task = core::PauseTask(task, false, now_);
    if (act == 5) task = core::PrioritizeTask(task, true);
    Write(std::move(task));
  }

  std::string AnyName() {
    return std::string(1, static_cast<char>('a' + random_.Below(kTaskNames)));
  }

  /// Another version of the file: some tasks are away, some refused, some different.
  void ChangeFile() {
    core::TaskList list;
    for (int i = 0; i < kTaskNames; ++i) {
      const std::string id(1, static_cast<char>('a' + i));
      const int dice = random_.Below(100);
      if (dice < 15) continue;
      if (dice < 20) {
        list.refused.push_back({.id = id, .why = "broken"});
        continue;
      }
      list.tasks.push_back(AnyDefinition(id, i));
    }
    if (random_.Percent(20)) std::reverse(list.tasks.begin(), list.tasks.end());
    Say("the file changes");
    Sync(list);
  }

  /// It depends on earlier ones only, so that all can be done in the end.
  core::TaskDefinition AnyDefinition(const std::string& id, int number) {
    core::TaskDefinition task = MakeTask(id).definition;
    task.max_jobs = random_.Percent(40) ? 2 : 1;
    task.max_retries = random_.Below(4);
    const bool needs = number > 0 && random_.Percent(40);
    if (needs) task.depends_on = {std::string(1, static_cast<char>('a' + random_.Below(number)))};
    return task;
  }

  void Sync(const core::TaskList& list) {
    for (Task& task : core::SyncTasks(list, store_, core::QueueId{1}, now_)) Write(std::move(task));
    if (!core::SyncTasks(list, store_, core::QueueId{1}, now_).empty()) {
      Break("reading the same file again changes something");
    }
  }

  /// The store's transaction; the controller that commits knows what it wrote.
  void Write(Task task) {
    ++task.version;
    if (random_.Percent(50)) board_.Put(task);
    store_.Put(std::move(task));
  }

  // --- What must be true ---

  void Check() {
    for (const auto& [id, task] : store_.tasks()) {
      const Ledger& entry = ledger_[id];
      if (const auto flaw = core::FlawOf(task)) Break(id + ": " + *flaw);
      if (task.claims != entry.live) Break(id + ": the claims are not the runs that go on");
      if (task.failures != entry.failures) Break(id + ": failures are not counted as they occur");
      const bool done = std::holds_alternative<core::TaskDone>(task.standing);
      if (done != entry.done) Break(id + ": it is not recorded whether it is done");
      if (core::WhyWaits(store_, task, {}, now_).empty()) Break(id + ": nobody says why");
    }
    for (int job = 1; job <= kWorkers; ++job) CheckNext(job);
  }

  /// The index against a search through all tasks.
  void CheckNext(int job) {
    const core::TaskWorker worker = MakeWorker(job);
    const Task* best = nullptr;
    for (const auto& [id, task] : store_.tasks()) {
      if (!core::MayRun(task, worker, now_) || store_.MissingFor(task) != nullptr) continue;
      const bool before = best == nullptr || std::pair(!task.prioritized, task.order) <
                                                 std::pair(!best->prioritized, best->order);
      if (before) best = &task;
    }
    const Task* const next = store_.Next(worker, now_);
    // A refused task may have the place of another.
    const bool same =
        next == best || (next != nullptr && best != nullptr && next->order == best->order &&
                         next->prioritized == best->prioritized);
    if (!same) Break("Next() is not the first that may be taken");
  }

  std::map<std::string, std::string> States() const {
    std::map<std::string, std::string> states;
    for (const auto& [id, task] : store_.tasks()) {
      states[id] = std::string(core::TaskStateName(store_.StateOf(task)));
    }
    return states;
  }

  void Learn(const std::map<std::string, std::string>& before) {
    const auto after = States();
    for (const auto& [id, state] : before) {
      if (after.at(id) != state) edges_.emplace(state, after.at(id));
    }
  }

  /// With a whole file, a user who puts everything back, and runs that succeed, all gets done.
  void Finish() {
    core::TaskList list;
    for (int i = 0; i < kTaskNames; ++i) {
      list.tasks.push_back(AnyDefinition(std::string(1, static_cast<char>('a' + i)), i));
    }
    Say("the end");
    Sync(list);
    while (const auto run = AnyRun()) End(run->first, run->second, {.kind = TaskEndKind::kStopped});
    for (int i = 0; i < kTaskNames; ++i) {
      const std::string id(1, static_cast<char>('a' + i));
      ledger_[id].failures = 0;
      ledger_[id].done = false;
      Write(core::ResetTask(*store_.Find(id), now_));
    }
    for (int i = 0; i < 2 * kTaskNames && broken_.empty(); ++i) {
      board_ = store_;
      Offer(1);
      const auto run = AnyRun();
      if (run) End(run->first, run->second, {.kind = TaskEndKind::kSucceeded});
    }
    Check();
    for (const auto& [id, entry] : ledger_) {
      if (!entry.done) Break(id + " is never done");
    }
  }

  Random random_;
  std::set<Edge>& edges_;
  core::TimePoint now_ = TaskTime(0);
  TaskBoard store_;  ///< what is recorded
  TaskBoard board_;  ///< what the controller believes
  std::map<std::string, Ledger> ledger_ = {};
  std::map<int, int> attempts_ = {};  ///< of each worker
  std::vector<std::pair<std::string, TaskClaim>> ended_ = {};
  std::string last_ = {};
  std::string broken_ = {};
};

std::int64_t NumberFrom(const char* name, std::int64_t otherwise) {
  const auto text = base::GetEnv(name);
  return text ? base::ParseNumber(*text).value_or(otherwise) : otherwise;
}

struct TaskOutcome {
  std::set<Edge> edges = {};
  std::string broken = {};
};

const TaskOutcome& TheTaskWalk() {
  static const TaskOutcome kOutcome = [] {
    TaskOutcome outcome;
    const std::int64_t walks = NumberFrom("JOBMAN_STEPS", kTaskSteps) / kStepsPerWalk;
    const std::int64_t first = NumberFrom("JOBMAN_SEED", 1);
    for (std::int64_t seed = first; seed < first + std::max<std::int64_t>(walks, 1); ++seed) {
      TaskWorld world(static_cast<std::uint64_t>(seed), outcome.edges);
      if (world.Walk(kStepsPerWalk)) continue;
      outcome.broken = "JOBMAN_SEED=" + std::to_string(seed) + ": " + world.broken();
      break;
    }
    return outcome;
  }();
  return kOutcome;
}

TEST(TaskWalk, KeepsItsInvariantsInARandomWorld) {
  EXPECT_EQ(TheTaskWalk().broken, "");
}

TEST(TaskStatesDoc, TellsExactlyTheTransitionsThatOccur) {
  const bool usual = !base::GetEnv("JOBMAN_SEED") && !base::GetEnv("JOBMAN_STEPS");
  if (!usual) GTEST_SKIP() << "not the default walk";
  const auto told =
      ReadTransitions(std::string{JOBMAN_SOURCE_DIR} + "/docs/states.md", kTaskTransitions);
  ASSERT_TRUE(told.ok()) << told.error().ToString();
  for (const Edge& edge : TheTaskWalk().edges) {
    const auto row = told->find(edge);
    EXPECT_TRUE(row != told->end() && !row->second.cause.empty())
        << edge.first << " -> " << edge.second << " is not in docs/states.md";
  }
  for (const auto& [edge, row] : *told) {
    EXPECT_TRUE(TheTaskWalk().edges.contains(edge) || row.cause.starts_with("rarely: "))
        << edge.first << " -> " << edge.second << " never occurs";
  }
}

}  // namespace
}  // namespace jobman::test

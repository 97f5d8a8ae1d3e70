// Four workers and forty tasks, while slices are preempted, controllers are killed and suspended,
// and the queue file is edited: each task is done once, no two runs of one meet, failures count as
// they should, and every run's log is here.
//
// JOBMAN_QUEUE_STORM_SEED repeats one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kWorkers = 4;
constexpr int kTasks = 40;
constexpr int kTryLater = 75;

/// What a task does in the storm.
enum class Kind {
  kPlain,     ///< succeeds
  kFlaky,     ///< fails twice, of four times that it may
  kHopeless,  ///< fails always, three times
  kSlurred,   ///< ends once with 143, which is no failure
};

Kind KindOf(int number) {
  if (number % 10 == 3) return Kind::kFlaky;
  if (number % 20 == 7) return Kind::kHopeless;
  if (number % 10 == 5) return Kind::kSlurred;
  return Kind::kPlain;
}

std::string IdOf(int number) {
  return fmt::format("t{:02}", number);
}

/// The tasks that it waits for: chains and fans; none is hopeless.
std::vector<int> NeedsOf(int number) {
  if (number < 8 || KindOf(number) == Kind::kHopeless) return {};
  std::vector<int> needs;
  for (const int one : {number - 8, number / 2}) {
    if (KindOf(one) != Kind::kHopeless && one != number) needs.push_back(one);
  }
  return needs;
}

unsigned SeedOfStorm() {
  const char* const text = getenv("JOBMAN_QUEUE_STORM_SEED");
  const auto number = base::ParseNumber(text == nullptr ? "" : text);
  return number ? static_cast<unsigned>(*number) : std::random_device{}() % 100'000;
}

class QueueStorm : public testing::Test {
 protected:
  QueueStorm() {
    std::filesystem::create_directories(share_);
    std::filesystem::permissions(share_, std::filesystem::perms::all);
    place_.StartSim({"--delays", "50ms", "--share", share_.string()});
    place_.StartController(Options());
    std::printf("JOBMAN_QUEUE_STORM_SEED=%u\n", seed_);
  }

  static std::vector<std::string> Options() { return {"--poll", "1", "--lease", "5"}; }
  std::string File() const { return (place_.path() / "tasks.yaml").string(); }

  /// Takes a lock that ends with its process, says when a second run is there at the same time or
  /// one that it depends on is not done, counts its runs in a file, and writes twenty lines.
  std::string ScriptOf(int number) const {
    std::string script = fmt::format(
        "share={}; me=$share/{}\n"
        "exec 9>$me.lock; flock -n 9 || echo \"$me twice\" >>$share/wrong\n",
        share_.string(), IdOf(number));
    for (const int need : NeedsOf(number)) {
      script += fmt::format("[ -e $share/{0}.done ] || echo \"$me before {0}\" >>$share/wrong\n",
                            IdOf(need));
    }
    script +=
        "echo begin $JOBMAN_TASK_RUN\n"
        "i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo line $i; sleep 0.02; done\n";
    const std::string once = "n=$(cat $me.n 2>/dev/null || echo 0); n=$((n+1)); echo $n >$me.n\n";
    if (KindOf(number) == Kind::kFlaky) script += once + "[ $n -gt 2 ] || exit 3\n";
    if (KindOf(number) == Kind::kHopeless) script += once + "exit 4\n";
    if (KindOf(number) == Kind::kSlurred) script += once + "[ $n -gt 1 ] || exit 143\n";
    return script + "echo end $JOBMAN_TASK_RUN\necho x >>$me.done\n";
  }
  std::string TaskText(int number) const {
    std::string needs;
    for (const int need : NeedsOf(number)) needs += (needs.empty() ? "" : ", ") + IdOf(need);
    const int retries = KindOf(number) == Kind::kFlaky ? 4 : 3;
    std::string text = fmt::format("    - id: {}\n      max_retries: {}\n      depends_on: [{}]\n",
                                   IdOf(number), retries, needs);
    text += "      run: |\n";
    for (const std::string& line : base::Split(ScriptOf(number), '\n'))
      text += "        " + line + "\n";
    return text;
  }
  /// The file with these tasks, in an order that is none of their dependencies.
  void WriteFile(const std::vector<int>& numbers, const std::string& head = "") {
    std::string text =
        head + "defaults: {zone: us-central2-b}\naccelerators:\n  v4-8:\n    tasks:\n";
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number)
      text += TaskText(*number);
    ASSERT_TRUE(base::WriteFileAtomic(File(), text).ok());
  }
  void CreateWorkers() {
    const std::string file = place_.JobFile(
        "worker", 1, "", "retries: {infra: unlimited, preemption: unlimited, backoff: 1s}\n");
    for (int i = 0; i < kWorkers; ++i) {
      const Ran ran =
          place_.Jobman({"create", file, "--set", "job.queue.enabled=true", "--set",
                         "job.queue.config=" + File(), "--name", fmt::format("w{}", i)});
      ASSERT_EQ(ran.code, 0) << ran.All();
    }
  }

  std::map<std::string, base::Json> Tasks() {
    std::map<std::string, base::Json> tasks;
    const auto json = base::ParseJson(place_.Jobman({"queue", File(), "--json"}).out);
    if (!json.ok()) return tasks;
    for (const auto& queue : base::GetMember(*json, "queues")) {
      for (const auto& task : base::GetMember(queue, "tasks"))
        tasks[base::GetString(task, "id")] = task;
    }
    return tasks;
  }
  bool IsOver(const std::map<std::string, base::Json>& tasks, int number) {
    const auto task = tasks.find(IdOf(number));
    const std::string wanted = KindOf(number) == Kind::kHopeless ? "FAILED" : "DONE";
    return task != tasks.end() && base::GetString(task->second, "state") == wanted;
  }
  bool AllAreOver() {
    const auto tasks = Tasks();
    for (int number = 0; number < kTasks; ++number) {
      if (!IsOver(tasks, number)) return false;
    }
    return true;
  }

  // --- What happens meanwhile ---

  void Preempt(std::mt19937& random) {
    const int worker = 1 + static_cast<int>(random() % kWorkers);
    const base::Json slice = base::GetMember(place_.Show(std::to_string(worker)), "slice");
    const std::string name = base::GetString(slice, "name");
    if (!name.empty()) place_.Sim({"preempt", name});
  }
  void KillOne() {
    place_.KillController();
    place_.StartController(Options());
  }
  /// One sleeps until another has taken over; then there are two, until the first sees it.
  void HaveTwo() {
    const pid_t sleeper = place_.StartController(Options());
    ASSERT_TRUE(place_.PutToSleep(sleeper));
    place_.StartController(Options());
    usleep(500'000);
    kill(sleeper, SIGCONT);
    EXPECT_EQ(place_.EndOf(sleeper), kTryLater);
  }
  /// Breaks and mends the file, takes the last tasks out and puts them in again.
  void Edit(int turn) {
    const auto some = First(kTasks - turn % 3);
    if (turn % 4 == 1) return (void)base::WriteFileAtomic(File(), "accelerators: [\n");
    WriteFile(turn % 4 == 2 ? some : First(kTasks), fmt::format("# {}\n", turn));
  }
  static std::vector<int> First(int count) {
    std::vector<int> numbers;
    for (int number = 0; number < count; ++number) numbers.push_back(number);
    return numbers;
  }

  // --- What must hold in the end ---

  void CheckTask(const base::Json& task, int number) {
    const std::string id = IdOf(number);
    const Kind kind = KindOf(number);
    const std::string done = base::ReadFile(share_ / (id + ".done")).value_or("");
    EXPECT_EQ(done.empty(), kind == Kind::kHopeless) << id;
    if (kind == Kind::kHopeless) {
      EXPECT_EQ(base::GetInt(task, "failures"), 3) << task.dump();
    }
  }
  /// A run whose slice was taken while it ended is interrupted, so there may be fewer.
  static int MostFailures(int number) {
    switch (KindOf(number)) {
      case Kind::kFlaky:
        return 2;
      case Kind::kHopeless:
        return 3;
      default:
        return 0;
    }
  }
  /// Every run has a log that begins with its number; that of one that ended by itself is whole.
  void CheckRuns(int number) {
    const std::string id = IdOf(number);
    const auto json = base::ParseJson(place_.Jobman({"task", "show", id, "--json"}).out);
    ASSERT_TRUE(json.ok()) << id;
    const base::Json task = base::GetMember(*json, "tasks").at(0);
    std::map<std::string, int> ends;
    for (const auto& run : base::GetMember(task, "history")) {
      const auto run_number = base::GetInt(run, "number");
      const std::string kind = base::GetString(base::GetMember(run, "end"), "kind");
      ++ends[kind];
      if (kind != "succeeded" && kind != "failed") continue;
      const std::string log =
          base::ReadFile(base::Path(base::GetString(task, "files")) /
                         fmt::format("run_{:03}_job{:06}", run_number, base::GetInt(run, "job")) /
                         "host-0000.log")
              .value_or("");
      EXPECT_THAT(log, HasSubstr(fmt::format("begin {}\n", run_number))) << id;
      for (int line = 1; line <= 20; ++line)
        EXPECT_THAT(log, HasSubstr(fmt::format("line {}\n", line))) << id << " run " << run_number;
      if (kind == "succeeded") {
        EXPECT_THAT(log, HasSubstr(fmt::format("end {}\n", run_number)));
      }
    }
    for (const auto& [kind, count] : ends) all_ends_[kind] += count;
    EXPECT_EQ(ends["succeeded"], KindOf(number) == Kind::kHopeless ? 0 : 1) << task.dump(1);
    EXPECT_LE(ends["failed"], MostFailures(number)) << task.dump(1);
    if (KindOf(number) == Kind::kHopeless) {
      EXPECT_EQ(ends["failed"], 3) << task.dump(1);
    }
    if (KindOf(number) == Kind::kSlurred) {
      EXPECT_GE(ends["interrupted"], 1) << task.dump(1);
    }
  }

  std::map<std::string, int> all_ends_ = {};
  const unsigned seed_ = SeedOfStorm();
  Place place_;
  const base::Path share_ = place_.path() / "share";
};

TEST_F(QueueStorm, EachTaskIsDoneOnce) {
  WriteFile(First(kTasks / 2));
  CreateWorkers();
  std::mt19937 random(seed_);
  bool over = false;
  for (int turn = 0; turn < 16 && !over; ++turn) {
    usleep(std::uniform_int_distribution<useconds_t>(200'000, 1'500'000)(random));
    Edit(turn);
    Preempt(random);
    if (turn % 3 == 1) KillOne();
    if (turn == 5) {
      place_.KillController();
      HaveTwo();
    }
    over = AllAreOver();
  }
  WriteFile(First(kTasks));
  EXPECT_TRUE(place_.Until(
      "all tasks to be over", [this] { return AllAreOver(); }, 300))
      << place_.Jobman({"queue", File(), "--all"}).All();
  const auto tasks = Tasks();
  for (int number = 0; number < kTasks; ++number) {
    const auto task = tasks.find(IdOf(number));
    ASSERT_NE(task, tasks.end()) << IdOf(number);
    CheckTask(task->second, number);
    CheckRuns(number);
  }
  std::printf("runs: %d succeeded, %d failed, %d interrupted\n", all_ends_["succeeded"],
              all_ends_["failed"], all_ends_["interrupted"]);
  EXPECT_GT(all_ends_["interrupted"], 4) << "a calm storm: four end with 143 by themselves";
  EXPECT_THAT(base::ReadFile(share_ / "wrong").value_or(""), IsEmpty());
  EXPECT_EQ(place_.Jobman({"delete", "w*", "--yes", "--wait"}).code, 0);
  const Ran left = place_.Sim({"down"});
  EXPECT_THAT(left.out, HasSubstr("nothing was left")) << left.All();
}

}  // namespace
}  // namespace jobman::test

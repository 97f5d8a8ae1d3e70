// Four workers, one of two hosts, and forty tasks, while slices are preempted, controllers are
// killed and suspended, and the queue file is edited: each task is done once, no two runs of one
// meet, failures count as they should, what waits for a parked task is not run, and every run's log
// is here, each line once.
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

using testing::AnyOf;
using testing::Eq;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kWorkers = 4;
constexpr int kTasks = 40;
constexpr int kTurnOfTwo = 5;  ///< when there are two controllers
constexpr int kTryLater = 75;  ///< exit code of one that has lost its lease

/// What a task does in the storm.
enum class Kind {
  kPlain,     ///< succeeds
  kFlaky,     ///< fails twice, of four times that it may
  kHopeless,  ///< fails always, three times
  kSlurred,   ///< ends once with 143 or 255, which are no failures
  kOrphan,    ///< waits for one that is hopeless
};

Kind KindOf(int number) {
  if (number % 10 == 3) return Kind::kFlaky;
  if (number % 20 == 7) return Kind::kHopeless;
  if (number % 20 == 17) return Kind::kOrphan;
  if (number % 10 == 5) return Kind::kSlurred;
  return Kind::kPlain;
}

std::string IdOf(int number) {
  return fmt::format("t{:02}", number);
}

/// Some run on both hosts of the worker that has two.
int HostsOf(int number) {
  return number % 10 == 9 ? 2 : 1;
}

/// What it is when all is over.
std::string LastStateOf(int number) {
  if (KindOf(number) == Kind::kHopeless) return "FAILED";
  return KindOf(number) == Kind::kOrphan ? "BLOCKED" : "DONE";
}

/// The tasks that it waits for: chains and fans. Only an orphan waits in vain.
std::vector<int> NeedsOf(int number) {
  if (KindOf(number) == Kind::kOrphan) return {number - 10};
  if (number < 8 || KindOf(number) == Kind::kHopeless) return {};
  std::vector<int> needs;
  for (const int one : {number - 8, number / 2}) {
    if (LastStateOf(one) == "DONE" && one != number) needs.push_back(one);
  }
  return needs;
}

constexpr int kLines = 20;  ///< of a run, besides its first and last

/// The first `count` numbered lines.
std::string NumberedLines(int count) {
  std::string text;
  for (int line = 1; line <= count; ++line) text += fmt::format("line {}\n", line);
  return text;
}

/// Of a log, the whole lines that a task numbered. What jobman and a shell add is left out, and a
/// line that was cut off with its host.
std::string NumberedLinesOf(const std::string& log) {
  std::string text;
  const std::string whole = log.substr(0, log.rfind('\n') + 1);
  for (const std::string& line : base::Split(whole, '\n')) {
    if (line.starts_with("line ")) text += line + "\n";
  }
  return text;
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
  /// one that it depends on is not done, counts its runs in a file, and writes twenty lines. The
  /// text changes with the file's edition, whose number is in the first line and the last.
  std::string ScriptOf(int number, int edition) const {
    std::string script = fmt::format(
        "share={}; me=$share/{}-$JOBMAN_WORKER_ID\n"
        "exec 9>$me.lock; flock -n 9 || echo \"$me twice\" >>$share/wrong\n",
        share_.string(), IdOf(number));
    for (const int need : NeedsOf(number)) {
      for (int host = 0; host < HostsOf(need); ++host) {
        script +=
            fmt::format("[ -e $share/{0}-{1}.done ] || echo \"$me before {0}\" >>$share/wrong\n",
                        IdOf(need), host);
      }
    }
    script += fmt::format(
        "echo begin $JOBMAN_TASK_RUN of {}\n"
        "i=0; while [ $i -lt {} ]; do i=$((i+1)); echo line $i; sleep 0.02; done\n",
        edition, kLines);
    const std::string once = "n=$(cat $me.n 2>/dev/null || echo 0); n=$((n+1)); echo $n >$me.n\n";
    const int slurred = number % 20 == 5 ? 143 : 255;
    if (KindOf(number) == Kind::kFlaky) script += once + "[ $n -gt 2 ] || exit 3\n";
    if (KindOf(number) == Kind::kHopeless) script += once + "exit 4\n";
    if (KindOf(number) == Kind::kSlurred)
      script += once + fmt::format("[ $n -gt 1 ] || exit {}\n", slurred);
    return script + fmt::format("echo end $JOBMAN_TASK_RUN of {}\necho x >>$me.done\n", edition);
  }
  std::string TaskText(int number, int edition) const {
    std::string needs;
    for (const int need : NeedsOf(number)) needs += (needs.empty() ? "" : ", ") + IdOf(need);
    const int retries = KindOf(number) == Kind::kFlaky ? 4 : 3;
    std::string text = fmt::format("    - id: {}\n      max_retries: {}\n      depends_on: [{}]\n",
                                   IdOf(number), retries, needs);
    if (HostsOf(number) > 1) text += "      workers: all\n";
    text += "      run: |\n";
    for (const std::string& line : base::Split(ScriptOf(number, edition), '\n'))
      text += "        " + line + "\n";
    return text;
  }
  /// The file with these tasks, in an order that is none of their dependencies.
  void WriteFile(const std::vector<int>& numbers, int edition = 0) {
    std::string text = "defaults: {zone: us-central2-b}\naccelerators:\n";
    for (const int hosts : {1, 2}) {
      text += fmt::format("  v4-{}:\n    tasks:\n", 8 * hosts);
      for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
        if (HostsOf(*number) == hosts) text += TaskText(*number, edition);
      }
    }
    ASSERT_TRUE(base::WriteFileAtomic(File(), text).ok());
  }
  /// The last one has two hosts.
  void CreateWorkers() {
    for (int number = 1; number <= kWorkers; ++number) {
      const std::string file =
          place_.JobFile(fmt::format("w{}", number), number < kWorkers ? 1 : 2, "",
                         "retries: {infra: unlimited, preemption: unlimited, backoff: 1s}\n");
      const Ran ran = place_.Jobman({"create", file, "--set", "job.queue.enabled=true", "--set",
                                     "job.queue.config=" + File()});
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
    return task != tasks.end() && base::GetString(task->second, "state") == LastStateOf(number);
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
  /// Breaks the file, takes some tasks out, done and running ones too, or has all of them. What is
  /// there has another text each time.
  void Edit(int turn, std::mt19937& random) {
    if (turn % 4 == 1) return (void)base::WriteFileAtomic(File(), "accelerators: [\n");
    std::vector<int> numbers = First(kTasks);
    for (int gone = 0; turn % 4 == 2 && gone < 3; ++gone)
      numbers.erase(numbers.begin() + static_cast<int>(random() % numbers.size()));
    WriteFile(numbers, turn + 1);
  }
  static std::vector<int> First(int count) {
    std::vector<int> numbers;
    for (int number = 0; number < count; ++number) numbers.push_back(number);
    return numbers;
  }

  // --- What must hold in the end ---

  void CheckTask(const base::Json& task, int number) {
    EXPECT_EQ(base::GetString(task, "state"), LastStateOf(number)) << task.dump(1);
    for (int host = 0; host < HostsOf(number); ++host) {
      const auto done = base::ReadFile(share_ / fmt::format("{}-{}.done", IdOf(number), host));
      EXPECT_EQ(done.ok(), LastStateOf(number) == "DONE") << IdOf(number) << " host " << host;
    }
    if (KindOf(number) == Kind::kHopeless) {
      EXPECT_EQ(base::GetInt(task, "failures"), 3) << task.dump(1);
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
  static std::string LogOf(const base::Json& task, const base::Json& run, int host) {
    return base::ReadFile(base::Path(base::GetString(task, "files")) /
                          fmt::format("run_{:03}_job{:06}/host-{:04}.log",
                                      base::GetInt(run, "number"), base::GetInt(run, "job"), host))
        .value_or("");
  }
  /// Of a run that ended by itself: what the host wrote is here, each line once, and its text was
  /// one edition of the file from its first line to its last.
  static void CheckWholeLog(const std::string& log, const base::Json& run, bool succeeded) {
    const std::string begin = fmt::format("begin {} of ", base::GetInt(run, "number"));
    const std::size_t at = log.find(begin);
    ASSERT_NE(at, std::string::npos) << log;
    const std::size_t from = at + begin.size();
    const std::string edition = log.substr(from, log.find('\n', from) - from);
    std::string whole = begin + edition + "\n" + NumberedLines(kLines);
    if (succeeded) whole += fmt::format("end {} of {}\n", base::GetInt(run, "number"), edition);
    EXPECT_EQ(log.substr(at), whole);
  }
  /// Of an interrupted run: the end may be lost with the host, but nothing before it, and no line
  /// is here twice.
  static void CheckCutLog(const std::string& log) {
    const std::string lines = NumberedLinesOf(log);
    EXPECT_EQ(lines, NumberedLines(static_cast<int>(std::count(lines.begin(), lines.end(), '\n'))))
        << log;
  }
  void CheckLogs(const base::Json& task, const base::Json& run, int number) {
    const std::string kind = base::GetString(base::GetMember(run, "end"), "kind");
    EXPECT_THAT(kind, AnyOf(Eq("succeeded"), Eq("failed"), Eq("interrupted"))) << run.dump();
    for (int host = 0; host < HostsOf(number); ++host) {
      SCOPED_TRACE(fmt::format("{} host {}: {}", IdOf(number), host, run.dump()));
      const std::string log = LogOf(task, run, host);
      if (kind == "interrupted") {
        CheckCutLog(log);
      } else {
        CheckWholeLog(log, run, kind == "succeeded");
      }
    }
  }
  /// Every run that began is in the history, has ended, and has its logs.
  void CheckRuns(int number) {
    const std::string id = IdOf(number);
    const auto json = base::ParseJson(place_.Jobman({"task", "show", id, "--json"}).out);
    ASSERT_TRUE(json.ok()) << id;
    const base::Json task = base::GetMember(*json, "tasks").at(0);
    std::map<std::string, int> ends;
    int runs = 0;
    for (const auto& run : base::GetMember(task, "history")) {
      EXPECT_EQ(base::GetInt(run, "number"), ++runs) << task.dump(1);
      ++ends[base::GetString(base::GetMember(run, "end"), "kind")];
      CheckLogs(task, run, number);
    }
    EXPECT_EQ(base::GetInt(task, "runs"), runs) << task.dump(1);
    EXPECT_EQ(base::GetInt(task, "interruptions"), ends["interrupted"]) << task.dump(1);
    CheckEnds(task, number, ends);
    for (const auto& [kind, count] : ends) all_ends_[kind] += count;
  }
  static void CheckEnds(const base::Json& task, int number, std::map<std::string, int>& ends) {
    EXPECT_EQ(ends["succeeded"], LastStateOf(number) == "DONE" ? 1 : 0) << task.dump(1);
    EXPECT_LE(ends["failed"], MostFailures(number)) << task.dump(1);
    if (KindOf(number) == Kind::kHopeless) {
      EXPECT_EQ(ends["failed"], 3) << task.dump(1);
    }
    if (KindOf(number) == Kind::kSlurred) {
      EXPECT_GE(ends["interrupted"], 1) << task.dump(1);
    }
    if (KindOf(number) == Kind::kOrphan) {
      EXPECT_EQ(base::GetInt(task, "runs"), 0) << task.dump(1);
    }
  }
  /// Workers wait for tasks, end when they are told, and leave nothing.
  void CheckWorkers() {
    for (int number = 1; number <= kWorkers; ++number)
      EXPECT_TRUE(place_.Reaches(std::to_string(number), "IDLE"));
    EXPECT_EQ(place_.Jobman({"worker", "stop", "1"}).code, 0);
    EXPECT_TRUE(place_.Reaches("1", "CANCELLED"));
    EXPECT_EQ(place_.Jobman({"delete", "w*", "--yes", "--wait"}).code, 0);
    const Ran left = place_.Sim({"down"});
    EXPECT_THAT(left.out, HasSubstr("nothing was left")) << left.All();
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
  for (int turn = 0; turn < 16 && (turn <= kTurnOfTwo || !over); ++turn) {
    usleep(std::uniform_int_distribution<useconds_t>(200'000, 1'500'000)(random));
    Edit(turn, random);
    Preempt(random);
    if (turn % 3 == 1) KillOne();
    if (turn == kTurnOfTwo) {
      place_.KillController();
      HaveTwo();
    }
    over = AllAreOver();
  }
  WriteFile(First(kTasks), 99);
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
  EXPECT_GT(all_ends_["interrupted"], 4) << "a calm storm: four are so by themselves";
  EXPECT_THAT(base::ReadFile(share_ / "wrong").value_or(""), IsEmpty());
  CheckWorkers();
}

}  // namespace
}  // namespace jobman::test

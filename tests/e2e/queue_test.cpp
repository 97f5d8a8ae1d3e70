// A worker works off a queue file: one slice, one task after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/state_paths.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

class Queue : public testing::Test {
 protected:
  void SetUp() override { place_.StartSim({"--delays", "0"}); }
  base::Path TasksFile() const { return place_.path() / "tasks.yaml"; }
  void WriteTasks(const std::string& tasks, const std::string& more = {}) {
    const std::string text =
        more + "defaults: {zone: us-central2-b}\naccelerators:\n  v4-16:\n    tasks:\n" + tasks;
    ASSERT_TRUE(base::WriteFileAtomic(TasksFile(), text).ok());
  }
  std::string WorkerFile() {
    const base::Path file = place_.path() / "worker.yaml";
    const std::string text =
        "job:\n  name: worker\n  queue:\n    enabled: true\n    config: " + TasksFile().string() +
        "\n    prefix: [{name: once, workers: all, required: true, run: 'echo set up'}]\n"
        "cloud: local\n"
        "tpu: {accelerator: v4-16, zone: us-central2-b, pricing: spot}\n";
    EXPECT_TRUE(base::WriteFileAtomic(file, text).ok());
    return file.string();
  }
  /// What a run of a task wrote on a host; empty while there is no such run.
  std::string Log(const std::string& task, int run, int host = 0) const {
    const base::StatePaths paths{.home = place_.home()};
    return base::ReadFile(paths.TaskLogPath(1, task, {.number = run, .job = 1}, host)).value_or("");
  }
  bool Says(const std::string& task, int run, const std::string& text, int host = 0) {
    return place_.Until(task + " says " + text,
                        [&] { return Log(task, run, host).find(text) != std::string::npos; });
  }
  /// Of the first run of the task, as `task show` has it; empty while it goes on.
  std::string CommitOf(const std::string& task) {
    const auto shown = base::ParseJson(place_.Jobman({"--json", "task", "show", task}).out);
    if (!shown.ok()) return {};
    const base::Json& tasks = base::GetMember(*shown, "tasks");
    if (!tasks.is_array() || tasks.empty()) return {};
    const base::Json& runs = base::GetMember(tasks[0], "history");
    if (!runs.is_array() || runs.empty()) return {};
    return base::GetString(base::GetMember(runs[0], "end"), "commit");
  }
  Place place_;
};

const char* const kFirst = "    - {id: first, run: 'echo first run $JOBMAN_TASK_RUN; sleep 1'}\n";
const char* const kSecond =
    "    - {id: second, depends_on: [first], workers: all, run: 'echo after, host "
    "$JOBMAN_WORKER_ID'}\n";
const char* const kFails = "    - {id: fails, max_retries: 2, run: 'echo no; exit 3'}\n";

TEST_F(Queue, AWorkerRunsEachTaskInItsTurnAndThoseThatComeLater) {
  // `second` comes first in the file, and has to wait.
  WriteTasks(std::string(kSecond) + kFirst + kFails);
  const Ran created = place_.Jobman({"create", WorkerFile()});
  ASSERT_EQ(created.code, 0) << created.All();
  EXPECT_TRUE(Says("second", 1, "after, host 1", 1));
  EXPECT_TRUE(Says("second", 1, "after, host 0", 0));
  EXPECT_THAT(Log("first", 1), HasSubstr("first run 1"));
  EXPECT_TRUE(Says("fails", 2, "no"));
  EXPECT_TRUE(place_.Reaches("1", "IDLE"));

  // While the file is broken, what it said before goes on; then there is a new task.
  ASSERT_TRUE(base::WriteFileAtomic(TasksFile(), "accelerators: [\n").ok());
  EXPECT_TRUE(place_.Reaches("1", "IDLE"));
  WriteTasks(std::string(kFirst) + kFails + "    - {id: late, run: 'echo at last'}\n");
  EXPECT_TRUE(Says("late", 1, "at last"));
  EXPECT_EQ(Log("first", 2), "") << "what is done is not run again";
  EXPECT_EQ(Log("fails", 3), "") << "it has failed as often as it may";

  EXPECT_TRUE(place_.Reaches("1", "IDLE"));
  EXPECT_EQ(place_.Jobman({"cancel", "1"}).code, 0);
  EXPECT_TRUE(place_.Reaches("1", "CANCELLED"));
}

TEST_F(Queue, ATaskWhoseSliceIsPreemptedIsRunAgainOnTheNextSlice) {
  WriteTasks(
      "    - {id: long, max_retries: 1, run: 'echo begun $JOBMAN_TASK_RUN; "
      "[ $JOBMAN_TASK_RUN -gt 1 ] || sleep 600; echo ended'}\n");
  ASSERT_EQ(place_.Jobman({"create", WorkerFile()}).code, 0);
  ASSERT_TRUE(Says("long", 1, "begun 1"));
  const base::Json slice = base::GetMember(place_.Show("1"), "slice");
  ASSERT_EQ(place_.Sim({"preempt", base::GetString(slice, "name")}).code, 0) << slice.dump();
  EXPECT_TRUE(Says("long", 2, "ended"));
  EXPECT_THAT(Log("long", 2), HasSubstr("begun 2"));
  EXPECT_TRUE(place_.Reaches("1", "IDLE"));
}

/// The hosts see no repository of this machine, so host 0 makes one of its own.
TEST_F(Queue, ATaskOfARepositoryIsOnRecordWithItsCommit) {
  if (RunProgram({"git", "--version"}).code != 0) GTEST_SKIP() << "git is not installed";
  WriteTasks(kFirst);
  ASSERT_EQ(place_.Jobman({"create", WorkerFile()}).code, 0);
  ASSERT_TRUE(place_.Reaches("1", "IDLE"));
  const std::string make =
      "mkdir ~/origin && cd ~/origin && git init -q -b main && "
      "echo 'echo from the repository' >task.sh && git add task.sh && "
      "git -c user.name=ada -c user.email=ada@example.com -c commit.gpgSign=false "
      "commit -q -m 1 && git rev-parse HEAD && pwd -P";
  const Ran made = place_.Jobman({"--quiet", "exec", "1", "-w", "0", "--", make});
  ASSERT_EQ(made.code, 0) << made.All();
  const std::vector<std::string> lines = base::Split(made.out, '\n');  // hash, folder, nothing
  ASSERT_EQ(lines.size(), 3U) << made.All();
  const std::string& commit = lines[0];
  ASSERT_EQ(commit.size(), 40U) << made.All();

  WriteTasks(std::string(kFirst) + "    - {id: cloned, repo: proj, run: sh task.sh}\n",
             "repos:\n  proj: {url: 'file://" + lines[1] + "', branch: main}\n");
  ASSERT_TRUE(Says("cloned", 1, "from the repository"));
  EXPECT_THAT(Log("cloned", 1), HasSubstr("jobman: ~/proj has main of file://" + lines[1] +
                                          ", commit " + commit + "\n"));
  EXPECT_TRUE(place_.Until("the run to be on record with its commit",
                           [&] { return CommitOf("cloned") == commit; }));
  EXPECT_THAT(place_.Jobman({"task", "show", "cloned"}).out,
              HasSubstr("commit " + commit.substr(0, 12)));
}

}  // namespace
}  // namespace jobman::test

// SIGKILL while a process writes tasks: a claim is stored with its worker's job, or neither is;
// what a file says is stored as a whole.

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "jobman/base/handle.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "store/sqlite.hpp"
#include "tests/support/child.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/tasks.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

constexpr int kTaskKills = 6;

class TaskCrash : public testing::TestWithParam<bool> {
 protected:
  test::DirectStore Open() const {
    return test::DirectStore(
        SqliteStore::Open(dir_.path(), {.shared_file_system = GetParam()}).value());
  }
  core::QueueId Queue() const { return Open().OpenQueue("/home/ada/tasks.yaml").value(); }

  /// Runs `work(store, pipe)` in a process, which writes a byte to the pipe for each write that was
  /// acknowledged, and kills it after some.
  void KillWhile(const std::function<int(const test::DirectStore&, int)>& work, int writes) const {
    int ends[2] = {};
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const base::UniqueFd out(ends[0]);
    base::UniqueFd in(ends[1]);
    test::Child child([&] { return work(Open(), in.get()); });
    in.Reset();
    char byte = 0;
    for (int seen = 0; seen < writes; ++seen) ASSERT_EQ(read(out.get(), &byte, 1), 1);
    child.Kill();
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Journals, TaskCrash, testing::Bool(), [](const auto& journal) {
  return journal.param ? "RollbackJournal" : "WriteAheadLog";
});

/// Claims and releases the task, turn by turn; the job says how often.
int RunTheTask(const test::DirectStore& store, core::JobId worker, core::QueueId queue, int pipe) {
  for (;;) {
    core::Job job = store.Get(worker).value();
    const core::Task task = store.GetTask(queue, "a").value();
    ++job.attempt;
    core::TaskWrite next;
    if (task.claims.empty()) {
      next = *core::ClaimTask(task, test::MakeWorker(worker.value), test::kNow);
    } else {
      next = core::TaskRelease{.queue = queue,
                               .task = "a",
                               .claim = task.claims.front(),
                               .end = {.kind = core::TaskEndKind::kStopped},
                               .at = test::kNow};
    }
    if (!store.Commit({.job = job, .tasks = {next}}, 0).ok()) return 1;
    if (write(pipe, "x", 1) != 1) return 2;
  }
}

TEST_P(TaskCrash, AClaimIsStoredWithTheJobOrNotAtAll) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const core::JobId worker = Open().Create(test::SampleJob("worker"), "", test::kNow).value();
  const core::QueueId queue = Queue();
  ASSERT_TRUE(Open().SyncQueue(queue, {}, {test::MakeTask("a")}, 0).ok());
  for (int kill = 0; kill < kTaskKills; ++kill) {
    const int writes = std::uniform_int_distribution<int>(1, 9)(random);
    KillWhile([&](const auto& store, int pipe) { return RunTheTask(store, worker, queue, pipe); },
              writes);
    const auto store = Open();
    const core::Job job = store.Get(worker).value();
    const core::Task task = store.GetTask(queue, "a").value();
    EXPECT_EQ(task.version, 1 + job.attempt) << "as many writes of the one as of the other";
    EXPECT_EQ(task.runs, (job.attempt + 1) / 2);
    EXPECT_EQ(std::ssize(task.claims), job.attempt % 2);
    const auto runs = store.Runs(queue, "a").value();
    ASSERT_EQ(std::ssize(runs), std::min(task.runs, ports::kRunsKept));
    EXPECT_EQ(runs.back().end.has_value(), task.claims.empty());
  }
}

/// Writes what one file and then another says of many tasks.
int SyncTheFile(const test::DirectStore& store, core::QueueId queue, int pipe) {
  for (;;) {
    auto read = store.Tasks(queue, 0).value();
    const std::string next = std::to_string(read.change);
    for (core::Task& task : read.tasks) task.definition.run = next;
    if (!store.SyncQueue(queue, {.fingerprint = next}, read.tasks, 0).ok()) return 1;
    if (write(pipe, "x", 1) != 1) return 2;
  }
}

TEST_P(TaskCrash, AFileIsStoredAsAWhole) {
  const core::QueueId queue = Queue();
  std::vector<core::Task> tasks;
  for (int i = 0; i < 50; ++i) tasks.push_back(test::MakeTask("task-" + std::to_string(i), i));
  ASSERT_TRUE(Open().SyncQueue(queue, {.fingerprint = "true"}, tasks, 0).ok());
  for (int kill = 0; kill < kTaskKills; ++kill) {
    KillWhile([&](const auto& store, int pipe) { return SyncTheFile(store, queue, pipe); },
              1 + kill % 3);
    const auto store = Open();
    const std::string fingerprint = store.Queues()->at(0).reading.fingerprint;
    const auto read = store.Tasks(queue, 0).value();
    ASSERT_EQ(read.tasks.size(), tasks.size());
    for (const core::Task& task : read.tasks) EXPECT_EQ(task.definition.run, fingerprint);
  }
}

}  // namespace
}  // namespace jobman::store

// Several controllers and users write the tasks of one store at the same time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "jobman/store/sqlite_store.hpp"
#include "tests/support/child.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/tasks.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

constexpr int kTaskProcesses = 3;
constexpr int kTaskRounds = 12;

class TaskProcesses : public testing::TestWithParam<bool> {
 protected:
  /// Not to be kept while processes are made: a connection does not survive a fork.
  base::Result<test::DirectStore> Open() const {
    JM_ASSIGN_OR_RETURN(auto store,
                        SqliteStore::Open(dir_.path(), {.shared_file_system = GetParam()}));
    return test::DirectStore(std::move(store));
  }
  test::DirectStore Store() const { return Open().value(); }
  core::QueueId Queue() const { return Store().OpenQueue("/home/ada/tasks.yaml").value(); }
  /// Each of `work` in a process of its own; each must return 0.
  void AtOnce(const std::function<int(const test::DirectStore&, int)>& work) const {
    std::vector<std::unique_ptr<test::Child>> children;
    for (int i = 0; i < kTaskProcesses; ++i) {
      children.push_back(std::make_unique<test::Child>([this, &work, i] {
        const auto store = Open();
        return store.ok() ? work(*store, i) : 10;
      }));
    }
    for (auto& child : children) EXPECT_EQ(child->Wait(), 0);
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Journals, TaskProcesses, testing::Bool(), [](const auto& journal) {
  return journal.param ? "RollbackJournal" : "WriteAheadLog";
});

/// Commits what `next` makes of the task with the worker's job until it is not stale; returns 0, or
/// what went wrong. It is nothing while another worker runs the task.
int CommitNext(const test::DirectStore& store, core::JobId worker, core::QueueId queue,
               const std::function<std::optional<core::TaskWrite>(const core::Task&)>& next) {
  for (;;) {
    const auto job = store.Get(worker);
    const auto task = store.GetTask(queue, "a");
    if (!job.ok() || !task.ok()) return 1;
    const auto write = next(*task);
    if (!write) continue;
    const auto done = store.Commit({.job = *job, .tasks = {*write}}, 0);
    if (done.ok()) return 0;
    if (done.error().reason != base::Reason::kStale) return 2;
  }
}

std::optional<core::TaskWrite> ClaimBy(core::JobId worker, const core::Task& task) {
  auto claimed = core::ClaimTask(task, test::MakeWorker(worker.value), test::kNow);
  if (!claimed) return std::nullopt;
  return core::TaskWrite(*std::move(claimed));
}

/// The end of the only run, which must be the worker's.
std::optional<core::TaskWrite> ReleaseBy(core::JobId worker, const core::Task& task) {
  if (task.claims.size() != 1 || task.claims[0].job != worker) _exit(20);
  return core::TaskRelease{.queue = task.queue,
                           .task = task.definition.id,
                           .claim = task.claims[0],
                           .end = {.kind = core::TaskEndKind::kStopped},
                           .at = test::kNow};
}

TEST_P(TaskProcesses, ATaskIsRunByOneWorkerAtATime) {
  const core::QueueId queue = Queue();
  ASSERT_TRUE(Store().SyncQueue(queue, {}, {test::MakeTask("a")}, 0).ok());
  std::vector<core::JobId> workers;
  for (int i = 0; i < kTaskProcesses; ++i) {
    workers.push_back(Store().Create(test::SampleJob("worker"), "", test::kNow).value());
  }
  AtOnce([&](const test::DirectStore& own, int process) {
    const core::JobId worker = workers[static_cast<std::size_t>(process)];
    for (int round = 0; round < kTaskRounds; ++round) {
      const int claimed = CommitNext(own, worker, queue,
                                     [&](const core::Task& task) { return ClaimBy(worker, task); });
      if (claimed != 0) return claimed;
      const int released = CommitNext(
          own, worker, queue, [&](const core::Task& task) { return ReleaseBy(worker, task); });
      if (released != 0) return released;
    }
    return 0;
  });
  const auto store = Store();
  const core::Task task = store.GetTask(queue, "a").value();
  EXPECT_THAT(task.claims, testing::IsEmpty());
  EXPECT_EQ(task.runs, kTaskProcesses * kTaskRounds);
  const auto runs = store.Runs(queue, "a").value();
  ASSERT_EQ(std::ssize(runs), task.runs);
  for (const core::TaskRun& run : runs) EXPECT_TRUE(run.end) << run.number;
}

TEST_P(TaskProcesses, UsersAndTheFileLoseNoChange) {
  const core::QueueId queue = Queue();
  ASSERT_TRUE(Store().SyncQueue(queue, {}, {test::MakeTask("a")}, 0).ok());
  AtOnce([&](const test::DirectStore& own, int process) {
    for (int round = 0; round < kTaskRounds;) {
      core::Task task = own.GetTask(queue, "a").value();
      ++task.order;  // counts the writes
      if (process == 0) {
        const auto written = own.SyncQueue(queue, {.at = test::kNow}, {task}, 0);
        if (!written.ok() && written.error().reason != base::Reason::kStale) return 1;
        if (written.ok()) ++round;
      } else {
        const auto stale = own.ChangeTasks({task});
        if (!stale.ok()) return 2;
        if (stale->empty()) ++round;
      }
    }
    return 0;
  });
  const auto store = Store();
  EXPECT_EQ(store.GetTask(queue, "a")->order, kTaskProcesses * kTaskRounds);
  EXPECT_EQ(store.GetTask(queue, "a")->version, 1 + kTaskProcesses * kTaskRounds);
}

TEST_P(TaskProcesses, OneFileHasOneQueue) {
  ASSERT_TRUE(Open().ok());
  AtOnce([](const test::DirectStore& own, int) {
    const auto queue = own.OpenQueue("/home/ada/tasks.yaml");
    return queue.ok() && queue->value == 1 ? 0 : 1;
  });
  EXPECT_EQ(Store().Queues()->size(), 1u);
}

}  // namespace
}  // namespace jobman::store

// Queues as commands see and change them: records, previews of their files, words, retries.
#include "jobman/client/queue.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <utility>

#include "jobman/base/files.hpp"
#include "jobman/base/hash.hpp"
#include "tests/support/sample_task.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kFile =
    "accelerators:\n"
    "  v4-32:\n"
    "    zone: us-central2-b\n"
    "    tasks:\n"
    "      - {id: lr1, run: python3 train.py}\n"
    "      - {id: lr2, run: python3 train.py}\n";

class QueueOfClient : public test::ClientWorld {
 protected:
  QueueOfClient() {
    HoldLease();
    EXPECT_TRUE(base::WriteFileAtomic(file(), kFile).ok());
  }
  std::string file() { return base::RealPath(home_.path() / "tasks.yaml").string(); }
  core::QueueId Open(const std::string& file) {
    return *Await(store_.stores().queues->OpenQueue(file));
  }
  /// Stores tasks with these ids, in this order.
  void Fill(core::QueueId queue, const std::vector<std::string>& ids) {
    std::vector<core::Task> tasks;
    for (const std::string& id : ids) {
      core::Task task = test::SampleTask(id);
      task.queue = queue;
      task.order = static_cast<int>(tasks.size());
      tasks.push_back(std::move(task));
    }
    EXPECT_THAT(*Await(store_.stores().queues->ChangeTasks(tasks)), IsEmpty());
  }
  std::vector<SeenQueue> See(std::optional<std::string> file = {}) {
    auto seen = Await(SeeQueues(Context(), std::move(file)));
    EXPECT_TRUE(seen.ok()) << seen.error().ToString();
    return seen.ok() ? *std::move(seen) : std::vector<SeenQueue>{};
  }
  static std::vector<std::string> IdsOf(const std::vector<TaskPlace>& places) {
    std::vector<std::string> ids;
    for (const TaskPlace& place : places) ids.push_back(place.task->definition.id);
    return ids;
  }
};

TEST_F(QueueOfClient, AFileThatWasNeverReadIsShownAsItIsAndNotStored) {
  const auto seen = See(file());
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_THAT(IdsOf(TasksOf(seen)), ElementsAre("lr1", "lr2"));
  EXPECT_THAT(seen[0].previewed, ElementsAre("lr1", "lr2"));
  EXPECT_EQ(seen[0].queue.id, core::QueueId{});
  EXPECT_THAT(See(), IsEmpty()) << "nothing was written";
}

TEST_F(QueueOfClient, WhatWasReadIsNotReadAgainUntilTheFileChanges) {
  const core::QueueId queue = Open(file());
  const std::int64_t token = (*Await(store_.stores().leases->CurrentLease()))->token;
  core::Task task = test::SampleTask("lr1");
  task.queue = queue;
  ports::QueueReading reading{.at = clock_.Now()};
  const auto written = std::chrono::file_clock::from_sys(clock_.Now() - 1h);
  std::filesystem::last_write_time(file(), written);
  ASSERT_TRUE(Await(store_.stores().queues->SyncQueue(queue, reading, {task}, token)).ok());
  EXPECT_THAT(See()[0].previewed, IsEmpty());
  const auto later = std::chrono::file_clock::from_sys(clock_.Now() + 1min);
  std::filesystem::last_write_time(file(), later);
  EXPECT_THAT(See()[0].previewed, testing::Contains("lr2"));
  reading.fingerprint = base::Sha256Hex(kFile);
  ASSERT_TRUE(Await(store_.stores().queues->SyncQueue(queue, reading, {}, token)).ok());
  EXPECT_THAT(See()[0].previewed, IsEmpty()) << "another time, the same text";
}

TEST_F(QueueOfClient, ABrokenFileIsSaidAndTheRecordsStay) {
  Fill(Open(file()), {"lr1"});
  ASSERT_TRUE(base::WriteFileAtomic(file(), "accelerators: [\n").ok());
  const auto seen = See();
  EXPECT_THAT(seen[0].error, HasSubstr("tasks.yaml"));
  EXPECT_THAT(IdsOf(TasksOf(seen)), ElementsAre("lr1"));
  ASSERT_TRUE(base::WriteFileAtomic(file(), "defautls: {}\n").ok());
  EXPECT_EQ(See()[0].error, "tasks.yaml:1: unknown key \"defautls\" (did you mean \"defaults\"?)");
  std::filesystem::remove(file());
  EXPECT_EQ(See()[0].error, "tasks.yaml: the file is not there");
}

TEST_F(QueueOfClient, AFileThatBecomesALinkIsStillThatQueue) {
  const std::string name = file();
  Fill(Open(name), {"lr1"});
  std::filesystem::rename(name, name + ".2");
  std::filesystem::create_symlink(name + ".2", name);
  const auto seen = See(name);
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].queue.file, name);
  EXPECT_THAT(IdsOf(TasksOf(seen)), testing::Contains("lr1"));
}

TEST_F(QueueOfClient, AFileThatIsNowhereIsNotFound) {
  const auto seen = Await(SeeQueues(Context(), (home_.path() / "none.yaml").string()));
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code, base::Code::kNotFound);
}

TEST_F(QueueOfClient, WordsAreIdsAndPatterns) {
  Fill(Open(std::string(ports::kSubmittedQueue)), {"lr2", "lr1", "eval"});
  const auto seen = See();
  EXPECT_THAT(IdsOf(*FindTasks(seen, {"eval", "lr*"})), ElementsAre("eval", "lr2", "lr1"));
  EXPECT_THAT(IdsOf(*FindTasks(seen, {"lr1", "lr*"})), ElementsAre("lr1", "lr2"));
  EXPECT_THAT(FindTasks(seen, {"evel"}).error().hint, HasSubstr("eval"));
  EXPECT_EQ(FindTasks(seen, {"x*"}).error().code, base::Code::kNotFound);
}

TEST_F(QueueOfClient, AnIdInSeveralQueuesIsNotGuessed) {
  Fill(Open(std::string(ports::kSubmittedQueue)), {"lr1"});
  Fill(Open(file()), {"lr1"});
  const auto found = FindTasks(See(), {"lr1"});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(found.error().message, HasSubstr("submitted tasks"));
  EXPECT_THAT(IdsOf(*FindTasks(See(file()), {"lr1"})), ElementsAre("lr1"));
}

TEST_F(QueueOfClient, ATaskIsChangedAsItIsRecordedByThen) {
  const core::QueueId queue = Open(std::string(ports::kSubmittedQueue));
  Fill(queue, {"lr1", "lr2"});
  int calls = 0;
  // Somebody writes the task between the command's look at it and its write.
  const TaskEdit edit = [&](core::Task task, core::TimePoint now) {
    core::Task other = task;
    if (calls++ == 0) {
      other.prioritized = true;
      EXPECT_TRUE(store_.ChangeTasks({other}).ok());
    }
    return core::PauseTask(std::move(task), true, now);
  };
  const auto changed = Await(ChangeTasks(Context(), {{queue, "lr1"}, {queue, "lr2"}}, edit));
  ASSERT_TRUE(changed.ok()) << changed.error().ToString();
  ASSERT_THAT(*changed, SizeIs(2));
  EXPECT_TRUE(changed->at(0).paused);
  EXPECT_TRUE(changed->at(0).prioritized) << "the other change is not lost";
  EXPECT_TRUE(changed->at(1).paused);
}

TEST_F(QueueOfClient, ATaskThatIsWrittenAllTheTimeIsGivenUp) {
  const core::QueueId queue = Open(std::string(ports::kSubmittedQueue));
  Fill(queue, {"lr1"});
  const TaskEdit edit = [this](core::Task task, core::TimePoint now) {
    core::Task other = task;
    other.prioritized = !other.prioritized;
    EXPECT_TRUE(store_.ChangeTasks({other}).ok());
    return core::PauseTask(std::move(task), true, now);
  };
  const auto changed = Await(ChangeTasks(Context(), {{queue, "lr1"}}, edit));
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().code, base::Code::kAborted);
}

TEST_F(QueueOfClient, APreviewedTaskCannotBeChanged) {
  const auto keep = [](core::Task task, core::TimePoint) { return task; };
  const auto changed = Await(ChangeTasks(Context(), {{core::QueueId{}, "lr1"}}, keep));
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().code, base::Code::kNotFound);
}

TEST_F(QueueOfClient, AnErasedTaskTakesItsLogsWithIt) {
  const core::QueueId queue = Open(std::string(ports::kSubmittedQueue));
  Fill(queue, {"lr1"});
  const base::Path logs = Context().paths.TaskDir(queue.value, "lr1");
  ASSERT_TRUE(base::EnsureDir(logs / "run_001_job000001").ok());
  EXPECT_TRUE(Await(EraseTask(Context(), {queue, "lr1"})).ok());
  EXPECT_FALSE(std::filesystem::exists(logs));
  EXPECT_FALSE(Await(IsTaskOfStore(Context(), "lr1")).value_or(true));
}

TEST_F(QueueOfClient, ATaskThatItsFileHasIsNotErased) {
  const core::QueueId queue = Open(file());
  Fill(queue, {"lr1"});
  const auto erased = Await(EraseTask(Context(), {queue, "lr1"}));
  ASSERT_FALSE(erased.ok());
  EXPECT_EQ(erased.error().code, base::Code::kFailedPrecondition);
  EXPECT_THAT(erased.error().message, HasSubstr("would come back"));
}

TEST_F(QueueOfClient, WorkersAreJobsThatServeAQueueAndAreNotOver) {
  core::Job worker = test::JobBuilder("worker").Build();
  worker.spec.queue = core::QueueSpec{.enabled = true, .config = file()};
  worker.state = core::Idle{};
  Put(worker);
  worker.state = core::Done{};
  Put(worker);
  Put(test::JobBuilder("train").Build());
  const auto workers = Await(ReadWorkers(Context()));
  ASSERT_TRUE(workers.ok());
  ASSERT_THAT(*workers, SizeIs(1));
  EXPECT_EQ(workers->at(0).worker.phase, core::WorkerPhase::kIdle);
  EXPECT_THAT(WorkersOf(*workers, file()), SizeIs(1));
  EXPECT_THAT(WorkersOf(*workers, ""), IsEmpty());
}

}  // namespace
}  // namespace jobman::client

#include "controller/queue_desk.hpp"

#include <map>
#include <set>
#include <string>

#include "tests/unit/controller/cloud_fixture.hpp"

namespace jobman::controller {
namespace {

using testing::UnorderedElementsAre;

/// A queue file that the test writes by setting `content`; the disks of some files hang.
class FakeQueueFiles final : public ports::QueueFiles {
 public:
  base::Task<std::optional<ports::QueueFileStamp>> Look(std::string file) override {
    ++looks[file];
    while (hanging.contains(file)) co_await base::Sleep(std::chrono::milliseconds{1});
    if (gone) co_return std::nullopt;
    co_return ports::QueueFileStamp{.modified = written};
  }
  base::Task<ports::QueueFileContent> Read(std::string file) override {
    ++reads;
    while (hanging_in_read.contains(file)) co_await base::Sleep(std::chrono::milliseconds{1});
    co_return content;
  }
  void Write(std::vector<core::TaskDefinition> tasks) {
    content = {.list = core::TaskList{.tasks = std::move(tasks)},
               .fingerprint = std::to_string(++written)};
  }
  void Break() {
    content = {.error = "tasks.yaml:1: no YAML"};
    ++written;
  }
  ports::QueueFileContent content = {};
  std::int64_t written = 0;
  int reads = 0;
  bool gone = false;
  std::set<std::string> hanging = {};
  std::set<std::string> hanging_in_read = {};
  std::map<std::string, int> looks = {};
};

core::TaskDefinition TaskCalled(const std::string& id) {
  return {.id = id, .accelerator = "v4-16", .zone = "us-central2-b", .run = "true"};
}

class QueueDeskTest : public CloudFixture {
 protected:
  QueueDeskTest() {
    ports_.queue_files = &files_;
    desk_.emplace(loop_, ports_, *book_);
  }
  /// A job that waits for tasks on its slice.
  core::JobId AddWorker(const std::string& file = "/tasks.yaml") {
    core::Job job = test::SampleJob("worker");
    job.spec.queue = core::QueueSpec{.enabled = true, .config = file};
    job.spec.command.cmd.clear();
    job.spec.tpu.accelerator = "v4-16";
    job.spec.tpu.zone = "us-central2-b";
    job.id = core::JobId{++jobs_};
    job.state = core::Idle{};
    job.attempt = 1;
    job.wake_at = clock_.Now() + std::chrono::hours{1};
    job.slice = test::SampleSlice("worker-" + core::FormatJobId(job.id) + "-a1");
    job.slice->unhealthy_since.reset();
    job.slice->not_found_since.reset();
    job.slice->omitted_since.reset();
    job.slice->lacking_since.reset();
    job.slice->delete_requested_at.reset();
    job.slice->lent_until.reset();
    EXPECT_EQ(store_.Create(job, "source", clock_.Now())->value, jobs_);
    EXPECT_TRUE(base::RunTask(loop_, book_->Load()).ok());
    return job.id;
  }
  void Look() {
    desk_->Wake();
    Turn();
  }
  /// The same for what waits for nothing.
  void LookAtOnce() {
    desk_->Wake();
    for (int i = 0; i < 10; ++i) {
      loop_.restart();
      loop_.poll();
    }
  }
  void Start() {
    desk_->Start((*base::RunTask(loop_, ports_.stores.leases->CurrentLease()))->token);
    Turn();
  }
  /// What the job runs; empty while it runs nothing.
  std::string TaskOf(core::JobId job) {
    const auto stage = store_.Get(job)->stage;
    return stage && stage->task ? stage->task->definition.id : "";
  }
  std::vector<core::Task> Recorded() {
    return base::RunTask(loop_, ports_.stores.queues->Tasks(core::QueueId{1}, 0))->tasks;
  }
  std::string ErrorOfFile() {
    return base::RunTask(loop_, ports_.stores.queues->Queues())->front().reading.error;
  }
  FakeQueueFiles files_;
  std::optional<QueueDesk> desk_;
};

TEST_F(QueueDeskTest, AnIdleWorkerGetsTheFirstTaskOfTheFile) {
  const core::JobId worker = AddWorker();
  files_.Write({TaskCalled("a"), TaskCalled("b")});
  Start();
  EXPECT_EQ(TaskOf(worker), "a");
  EXPECT_EQ(Recorded().size(), 2u);
}

TEST_F(QueueDeskTest, TwoIdleWorkersGetTwoTasks) {
  const core::JobId one = AddWorker(), other = AddWorker();
  files_.Write({TaskCalled("a"), TaskCalled("b")});
  Start();
  Look();
  EXPECT_THAT((std::vector{TaskOf(one), TaskOf(other)}), UnorderedElementsAre("a", "b"));
}

TEST_F(QueueDeskTest, ATaskThatAllowsOneRunIsRunOnce) {
  const core::JobId one = AddWorker(), other = AddWorker();
  files_.Write({TaskCalled("a")});
  Start();
  Look();
  EXPECT_THAT((std::vector{TaskOf(one), TaskOf(other)}), UnorderedElementsAre("a", ""));
}

TEST_F(QueueDeskTest, ATaskThatIsWrittenLaterIsTakenWhenItComes) {
  const core::JobId worker = AddWorker();
  files_.Write({});
  Start();
  EXPECT_EQ(TaskOf(worker), "");
  files_.Write({TaskCalled("late")});
  Look();
  EXPECT_EQ(TaskOf(worker), "late");
}

TEST_F(QueueDeskTest, ABrokenFileIsRecordedAndTheLastGoodListGoesOn) {
  files_.Write({TaskCalled("a"), TaskCalled("b")});
  AddWorker();
  Start();
  files_.Break();
  Look();
  const auto queues = *base::RunTask(loop_, ports_.stores.queues->Queues());
  EXPECT_EQ(queues.front().reading.error, "tasks.yaml:1: no YAML");
  EXPECT_FALSE(queues.front().reading.fingerprint.empty()) << "of the last good one";
  EXPECT_TRUE(Recorded()[1].listed);
  const core::JobId other = AddWorker();
  Look();
  EXPECT_EQ(TaskOf(other), "b");
}

TEST_F(QueueDeskTest, AFileThatHasNotChangedIsNotReadAgain) {
  AddWorker();
  files_.Write({TaskCalled("a")});
  Start();
  Look();
  Look();
  EXPECT_EQ(files_.reads, 1);
}

TEST_F(QueueDeskTest, AnOfferOfATaskThatAUserHasJustPausedIsRefusedAndNotMadeAgain) {
  const core::JobId worker = AddWorker();
  files_.Write({});
  Start();
  core::Task paused{.queue = core::QueueId{1}, .definition = TaskCalled("a"), .paused = true};
  const auto stored = base::RunTask(loop_, ports_.stores.queues->ChangeTasks({paused}));
  ASSERT_TRUE(stored.ok());
  core::Task stale = paused;
  stale.paused = false;
  book_->Post(worker, core::TaskOffered{.task = stale});
  Turn();
  EXPECT_EQ(TaskOf(worker), "");
  EXPECT_FALSE(book_->Busy()) << "no decision is tried again and again";
}

TEST_F(QueueDeskTest, WithoutWorkersNothingIsRead) {
  Start();
  EXPECT_EQ(files_.reads, 0);
  EXPECT_TRUE(desk_->Quiet());
}

TEST_F(QueueDeskTest, ARunWhoseWorkerIsGoneIsEndedAsInterrupted) {
  const core::JobId worker = AddWorker();
  files_.Write({TaskCalled("a"), TaskCalled("b")});
  Start();
  core::Task orphan = Recorded()[1];
  ASSERT_EQ(orphan.definition.id, "b");
  orphan.runs = 1;
  orphan.claims.push_back({.job = core::JobId{77}, .attempt = 1, .run = 1});
  ASSERT_TRUE(base::RunTask(loop_, ports_.stores.queues->ChangeTasks({orphan})).ok());
  clock_.Advance(kEndOrphans);
  Look();
  EXPECT_THAT(Recorded()[1].claims, testing::IsEmpty());
  EXPECT_EQ(Recorded()[1].failures, 0);
  EXPECT_EQ(base::RunTask(loop_, ports_.stores.queues->Runs(core::QueueId{1}, "b"))->size(), 1u);
  EXPECT_EQ(TaskOf(worker), "a") << "a run whose worker has it goes on";
  EXPECT_THAT(Recorded()[0].claims, testing::SizeIs(1));
}

TEST_F(QueueDeskTest, TheQueueOfSubmittedTasksHasNoFile) {
  core::Job job = test::SampleJob("worker");
  job.spec.queue = core::QueueSpec{.enabled = true};
  job.spec.command.cmd.clear();
  job.state = core::Idle{};
  job.attempt = 1;
  EXPECT_EQ(store_.Create(job, "source", clock_.Now())->value, 1);
  EXPECT_TRUE(base::RunTask(loop_, book_->Load()).ok());
  Start();
  EXPECT_EQ(files_.reads, 0);
}

TEST_F(QueueDeskTest, AFileWhoseDiskHangsHoldsUpNoOtherQueue) {
  const core::JobId stuck = AddWorker("/a/hangs.yaml"), other = AddWorker();
  files_.Write({TaskCalled("a")});
  files_.hanging = {"/a/hangs.yaml"};
  Start();
  EXPECT_EQ(TaskOf(other), "a");
  EXPECT_EQ(TaskOf(stuck), "");
  Look();
  Look();
  EXPECT_EQ(files_.looks["/a/hangs.yaml"], 1) << "one at a time";
  EXPECT_GT(files_.looks["/tasks.yaml"], 1);
  EXPECT_FALSE(desk_->Quiet());
  files_.hanging.clear();
  Turn();
  EXPECT_EQ(TaskOf(stuck), "a") << "its end wakes the desk; a task of the same id in another queue";
}

TEST_F(QueueDeskTest, AFileThatIsLateIsToldAndItsQueueGoesOnAsItIsRecorded) {
  const core::JobId one = AddWorker();
  files_.Write({TaskCalled("a"), TaskCalled("b")});
  Start();
  ASSERT_EQ(TaskOf(one), "a");
  files_.hanging = {"/tasks.yaml"};
  const core::JobId other = AddWorker();
  Look();
  EXPECT_EQ(TaskOf(other), "") << "the file may say something else by now";
  EXPECT_EQ(ErrorOfFile(), "");
  clock_.Advance(kQueueFileLate);
  Look();
  EXPECT_EQ(TaskOf(other), "b");
  EXPECT_EQ(ErrorOfFile(), "/tasks.yaml: its disk has not answered for 30s (look at the mount)");
  Look();
  EXPECT_TRUE(desk_->Quiet()) << "it is not waited for";
  files_.hanging.clear();
  Turn();
  Look();
  EXPECT_EQ(ErrorOfFile(), "") << "it is read, although it has not changed";
  EXPECT_EQ(files_.reads, 2);
}

TEST_F(QueueDeskTest, AReadingThatHangsIsNotBegunTwiceNorWaitedForAtTheEnd) {
  AddWorker();
  files_.Write({TaskCalled("a")});
  files_.hanging_in_read = {"/tasks.yaml"};
  Start();
  clock_.Advance(kQueueFileLate);
  Look();
  Look();
  EXPECT_EQ(files_.reads, 1);
  desk_.reset();
  Turn();
  loop_.restart();
  EXPECT_EQ(loop_.poll(), 0u) << "nothing of it is left on the loop";
}

TEST_F(QueueDeskTest, AFileThatChangesToAndFroLeavesNothingBehind) {
  core::TaskDefinition other = TaskCalled("a");
  other.run = "false";
  files_.Write({TaskCalled("a"), TaskCalled("b")});
  AddWorker("/tasks.yaml");
  Start();
  for (int round = 0; round < 100; ++round) {
    files_.Write({TaskCalled("c"), other});
    LookAtOnce();
    files_.Write({TaskCalled("a"), TaskCalled("b")});
    LookAtOnce();
  }
  const auto recorded = Recorded();
  ASSERT_EQ(recorded.size(), 3u);
  EXPECT_EQ(base::RunTask(loop_, ports_.stores.queues->Queues())->size(), 1u);
  for (const core::Task& task : recorded) {
    const auto runs =
        base::RunTask(loop_, ports_.stores.queues->Runs(task.queue, task.definition.id));
    EXPECT_EQ(runs->size(), task.definition.id == "a" ? 1u : 0u) << task.definition.id;
  }
  EXPECT_EQ(recorded[0].definition.run, "true");
}

}  // namespace
}  // namespace jobman::controller

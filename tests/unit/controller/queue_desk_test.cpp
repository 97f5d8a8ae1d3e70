#include "controller/queue_desk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/controller/times.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/tasks.hpp"

namespace jobman::controller {
namespace {

using core::JobId;
using core::QueueId;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kFile = "/lab/tasks.yaml";

/// One queue file.
class FakeQueueFiles final : public ports::QueueFiles {
 public:
  base::Result<ports::QueueFileStamp> Look(const std::string& path) override {
    EXPECT_EQ(path, kFile);
    if (removed) return base::NotFound("there is no file tasks.yaml", "");
    return ports::QueueFileStamp{.modified_ns = stamp};
  }
  base::Task<base::Result<ports::QueueFileContent>> Read(std::string /*path*/) override {
    ++reads;
    co_return content;
  }
  void Write(const std::vector<std::string>& ids) {
    content = {.list = core::TaskList{}};
    for (const std::string& id : ids) {
      content.list->tasks.push_back(test::MakeTask(id).definition);
      content.fingerprint += id + ",";
    }
    ++stamp;
  }
  void Break() {
    content = {.error = "tasks.yaml:1: no map", .fingerprint = "broken"};
    ++stamp;
  }
  ports::QueueFileContent content = {.list = core::TaskList{}};
  std::int64_t stamp = 1;
  bool removed = false;
  int reads = 0;
};

/// Workers, the queue that they serve, and the desk.
class QueueDeskTest : public testing::Test {
 protected:
  QueueDeskTest() {
    ports_.stores = store_.stores();
    ports_.clock = &clock_;
    ports_.queue_files = &files_;
    ports_.random = [] { return 0.5; };
    Restart();
  }
  /// Another controller in place of this one.
  void Restart() {
    desk_.reset();
    book_.reset();
    JobBook::Hooks hooks;
    hooks.decided = [this](const core::Job& job, const std::vector<core::Effect>&) {
      desk_->Decided(job);
    };
    hooks.offer_over = [this](JobId id, bool passed_over) { desk_->OfferOver(id, passed_over); };
    hooks.tasks_written = [this](const std::vector<core::TaskWrite>& tasks) {
      desk_->TasksWritten(tasks);
    };
    hooks.lease_lost = [] {};
    hooks.dropped = [](JobId) {};
    book_.emplace(loop_, ports_, policy_, std::move(hooks));
    desk_.emplace(loop_, ports_, *book_);
  }
  JobId Worker(const std::string& config = kFile) {
    core::Job job = test::SampleJob("worker");
    job.spec.tpu.accelerator = "v4-8";
    job.spec.setup.clear();
    job.spec.command.cmd.clear();
    job.spec.queue = core::QueueSpec{.enabled = true, .config = config};
    job.state = core::Idle{};
    job.since = clock_.Now();
    job.attempt = 1;
    job.wake_at = clock_.Now() + std::chrono::hours{1};
    core::Slice slice = test::SampleSlice("worker-a1");
    slice.hosts.resize(1);
    slice.nodes = {{.uid = "8123456789", .hosts = 1}};
    slice.unshown.clear();
    slice.delete_requested_at.reset();
    slice.omitted_since.reset();
    slice.lacking_since.reset();
    slice.not_found_since.reset();
    slice.unhealthy_since.reset();
    slice.notice.reset();
    slice.last_evidence_at = clock_.Now();
    job.slice = slice;
    return *store_.Create(job, "", clock_.Now());
  }
  void Load() {
    desk_->StoreChanged();
    ASSERT_TRUE(base::RunTask(loop_, book_->Load()).ok());
    Turn();
  }
  void Turn() {
    for (int i = 0; i < 3; ++i) {
      desk_->WakeDue(clock_.Now());
      loop_.restart();
      loop_.run_for(std::chrono::milliseconds{10});
    }
  }
  void Pass(base::Duration time) {
    clock_.Advance(time);
    Turn();
  }
  QueueId Queue(const std::string& file = kFile) { return *store_.OpenQueue(file); }
  core::Task GetTask(const std::string& id) { return store_.GetTask(Queue(), id).value(); }
  ports::QueueReading Reading() { return store_.Queues().value().at(0).reading; }
  /// What the worker runs; empty: nothing.
  std::string RunBy(JobId id) {
    const core::Job job = *store_.Get(id);
    return job.stage && job.stage->task ? job.stage->task->definition.id : "";
  }

  asio::io_context loop_;
  test::StoreInMemory store_;
  test::FakeClock clock_;
  FakeQueueFiles files_;
  Ports ports_ = {};
  core::Policy policy_ = {};
  std::optional<JobBook> book_;
  std::optional<QueueDesk> desk_;
};

TEST_F(QueueDeskTest, AnIdleWorkerTakesATaskAsItArrives) {
  const JobId worker = Worker();
  Load();
  EXPECT_EQ(RunBy(worker), "");
  EXPECT_TRUE(desk_->Quiet());
  files_.Write({"a"});
  Pass(kLookAtQueueFile);
  EXPECT_EQ(RunBy(worker), "a");
  EXPECT_THAT(GetTask("a").claims, SizeIs(1));
  EXPECT_TRUE(desk_->Quiet());
}

TEST_F(QueueDeskTest, TwoWorkersTakeTwoTasks) {
  files_.Write({"a", "b"});
  const JobId one = Worker();
  const JobId two = Worker();
  Load();
  EXPECT_THAT((std::vector{RunBy(one), RunBy(two)}), testing::UnorderedElementsAre("a", "b"));
}

TEST_F(QueueDeskTest, OneTaskIsTakenByOneOfTwoWorkers) {
  files_.Write({"a"});
  const JobId one = Worker();
  const JobId two = Worker();
  Load();
  EXPECT_THAT((std::vector{RunBy(one), RunBy(two)}), testing::UnorderedElementsAre("a", ""));
  EXPECT_EQ(GetTask("a").runs, 1);
}

TEST_F(QueueDeskTest, AFileIsReadOnlyWhenItHasChanged) {
  Worker();
  files_.Write({"a"});
  Load();
  Pass(kLookAtQueueFile);
  Pass(kLookAtQueueFile);
  EXPECT_EQ(files_.reads, 1);
  const std::int64_t writes = *store_.ChangeCounter();
  ++files_.stamp;  // it was touched
  Pass(kLookAtQueueFile);
  EXPECT_EQ(files_.reads, 2);
  EXPECT_EQ(*store_.ChangeCounter(), writes);
}

TEST_F(QueueDeskTest, TheLastGoodContentOfABrokenFileGoesOn) {
  files_.Write({"a"});
  Load();
  EXPECT_EQ(files_.reads, 0) << "no worker serves it";
  Worker();
  Load();
  files_.Break();
  Pass(kLookAtQueueFile);
  EXPECT_EQ(Reading().error, "tasks.yaml:1: no map");
  EXPECT_EQ(Reading().fingerprint, "a,");
  EXPECT_TRUE(GetTask("a").listed);
  files_.removed = true;
  Pass(kLookAtQueueFile);
  EXPECT_THAT(Reading().error, HasSubstr("there is no file"));
  EXPECT_TRUE(GetTask("a").listed);
  files_.removed = false;
  files_.Write({"b"});
  Pass(kLookAtQueueFile);
  EXPECT_EQ(Reading().error, "");
  EXPECT_FALSE(GetTask("a").listed);
}

TEST_F(QueueDeskTest, ATaskThatHasChangedUnseenIsReadAgainAndTheOtherTaken) {
  const JobId worker = Worker();
  Load();
  core::Task a = test::MakeTask("a", 0);
  core::Task b = test::MakeTask("b", 1);
  ASSERT_TRUE(store_.SyncQueue(Queue(), {}, {a, b}, 0).ok());
  desk_->StoreChanged();
  loop_.restart();
  for (int i = 0; i < 100 && !book_->Busy(); ++i) loop_.poll_one();  // until the offer is made
  ASSERT_TRUE(book_->Busy());
  ASSERT_THAT(store_.ChangeTasks({core::PauseTask(GetTask("a"), true, clock_.Now())}).value(),
              IsEmpty());
  Turn();
  EXPECT_EQ(RunBy(worker), "b");
  EXPECT_FALSE(book_->Busy());
  EXPECT_TRUE(GetTask("a").paused);
}

TEST_F(QueueDeskTest, SubmittedTasksNeedNoFile) {
  const JobId worker = Worker("");
  Load();
  core::Task task = test::MakeTask("s");
  task.queue = Queue("");
  ASSERT_TRUE(store_.ChangeTasks({task}).ok());
  Load();
  EXPECT_EQ(RunBy(worker), "s");
  EXPECT_EQ(files_.reads, 0);
}

TEST_F(QueueDeskTest, ATaskThatWaitsIsTakenWhenItsTimeHasCome) {
  const JobId worker = Worker("");
  core::Task task = test::MakeTask("s");
  task.queue = Queue("");
  task.not_before = clock_.Now() + std::chrono::seconds{30};
  ASSERT_TRUE(store_.ChangeTasks({task}).ok());
  Load();
  EXPECT_EQ(RunBy(worker), "");
  EXPECT_EQ(desk_->WakeDue(clock_.Now()), task.not_before);
  Pass(std::chrono::seconds{30});
  EXPECT_EQ(RunBy(worker), "s");
}

TEST_F(QueueDeskTest, ARunOfAJobThatIsGoneIsEnded) {
  core::Task task = test::MakeTask("a");
  ASSERT_TRUE(store_.SyncQueue(Queue(), {}, {task}, 0).ok());
  const JobId gone = Worker();
  auto claim = core::ClaimTask(GetTask("a"), test::MakeWorker(gone.value), clock_.Now());
  ASSERT_TRUE(store_.Commit({.job = *store_.Get(gone), .tasks = {*claim}}, 0).ok());
  store_.Lose(gone);
  files_.Write({"a"});
  const JobId worker = Worker();
  Load();
  Turn();
  EXPECT_EQ(RunBy(worker), "a");
  const auto runs = store_.Runs(Queue(), "a").value();
  ASSERT_THAT(runs, SizeIs(2));
  ASSERT_TRUE(runs[0].end);
  EXPECT_EQ(runs[0].end->why, "its worker is gone");
  EXPECT_EQ(GetTask("a").failures, 0);
}

TEST_F(QueueDeskTest, AnotherControllerOffersNoTaskThatIsRun) {
  files_.Write({"a"});
  const JobId worker = Worker();
  Load();
  ASSERT_EQ(RunBy(worker), "a");
  const JobId other = Worker();
  Restart();
  Load();
  EXPECT_EQ(RunBy(worker), "a");
  EXPECT_EQ(RunBy(other), "");
  EXPECT_EQ(GetTask("a").runs, 1);
}

}  // namespace
}  // namespace jobman::controller

#include "controller/job_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "jobman/base/log.hpp"
#include "jobman/core/describe.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::controller {
namespace {

using core::HostPhase;
using std::chrono::milliseconds;

/// Moves by one step at every look, so that a decision with its commit takes that long.
class StepClock final : public base::Clock {
 public:
  explicit StepClock(base::Duration step) : step_(step) {}
  base::TimePoint Now() const override { return now_ += step_; }

 private:
  base::Duration step_;
  mutable base::TimePoint now_ = test::kNow;
};

/// A connection to a remote store: calls wait as long as it is closed.
class SlowWay final : public test::MemoryPorts {
 public:
  using MemoryPorts::MemoryPorts;
  base::Task<base::Status> Commit(ports::Turn turn, std::int64_t lease_token) override {
    ++commits;
    auto answer = co_await MemoryPorts::Commit(std::move(turn), lease_token);
    while (answers_late) co_await base::Sleep(milliseconds{1});
    co_return answer;
  }
  base::Task<base::Result<core::Job>> Get(core::JobId id) override {
    const base::Error away{.code = base::Code::kUnavailable, .message = "no connection"};
    if (id == unreadable) co_return away;
    co_return co_await MemoryPorts::Get(id);
  }
  std::optional<core::JobId> unreadable = {};
  bool closed = false;
  bool answers_late = false;  ///< to commits: they take effect before
  int commits = 0;
  int waiting = 0;  ///< calls that wait

 private:
  base::Task<void> Travel() override {
    ++waiting;
    while (closed) co_await base::Sleep(milliseconds{1});
    --waiting;
  }
};

/// A job that runs on three hosts, and the book that has it.
class JobBookTest : public testing::Test {
 protected:
  void Open(base::Duration decision_takes = {}, int hosts = 3) {
    MakeBook(decision_takes, hosts);
    ASSERT_TRUE(base::RunTask(loop_, book_->Load()).ok());
    loop_.run();
    loop_.restart();
    decisions_ = 0;
    effects_.clear();
  }
  /// Runs the loop for so long of its own time.
  void RunFor(base::Duration time) {
    loop_.restart();
    loop_.run_for(time);
  }
  void MakeBook(base::Duration decision_takes = {}, int hosts = 3) {
    clock_.emplace(decision_takes);
    ports_.stores = ports::StoresOf(way_);
    ports_.clock = &*clock_;
    core::Job job = test::SampleJob("train");
    job.state = core::Running{};
    job.attempt = 1;
    job.slice = test::SampleSlice("train-000001-a1");
    job.slice->lent_until.reset();
    job.slice->nodes = {{.uid = "8123456789", .hosts = hosts}};
    job.slice->hosts.resize(static_cast<std::size_t>(hosts));
    job.slice->unshown.clear();
    job.slice->last_evidence_at = test::kNow;
    job.wake_at = test::kNow + std::chrono::hours{1};
    job.stage = core::Stage{.name = "run", .generation = 2};
    for (int host = 0; host < hosts; ++host) job.stage->hosts.push_back({.host = host});
    id_ = *store_.Create(job, "source", test::kNow);
    const auto lease = store_.TakeLease("me", test::kNow, std::chrono::hours{1});
    JobBook::Hooks hooks;
    hooks.decided = [this](const core::Job&, const std::vector<core::Effect>& effects) {
      ++decisions_;
      for (const core::Effect& effect : effects) effects_.push_back(core::Describe(effect));
    };
    hooks.lease_lost = [] {};
    hooks.dropped = [this](core::JobId) { ++dropped_; };
    hooks.flaw_of = [this](const core::Job& then) -> std::optional<std::string> {
      if (flaw_ && flaw_(then)) return "it is in two places";
      return core::FlawOf(then);
    };
    book_.emplace(loop_, ports_, policy_, std::move(hooks));
    book_->set_lease_token((*lease)->token);
  }
  void Report(int host, HostPhase phase = HostPhase::kRunning) {
    book_->Post(id_, core::HostReport{.attempt = 1, .run = {.host = host, .phase = phase}});
  }
  /// A new job of the group, of which one may be at work.
  core::JobId CreateInGroup() {
    core::Job job = test::SampleJob("train");
    job.spec.group = "sweep";
    job.spec.max_running = 1;
    job.wake_at = test::kNow + std::chrono::hours{1};
    return *store_.Create(job, "source", test::kNow);
  }
  std::string StateOf(core::JobId id) {
    return std::string(core::StateName(store_.Get(id)->state));
  }
  void Load() { ASSERT_TRUE(base::RunTask(loop_, book_->Load()).ok()); }
  /// Runs until all is decided, or until a call waits for the closed connection.
  void Turn() {
    loop_.restart();
    loop_.run_for(milliseconds{20});
    const auto rests = [this] { return way_.closed ? way_.waiting > 0 : !book_->Busy(); };
    for (int turns = 0; turns < 10'000 && !rests(); ++turns) loop_.run_one_for(milliseconds{1});
  }
  std::string WhyListed() { return store_.List({}).value()[0].why; }
  int RunningHosts() {
    int running = 0;
    const core::Job job = *store_.Get(id_);
    for (const core::HostRun& run : job.stage->hosts) {
      running += run.phase == HostPhase::kRunning ? 1 : 0;
    }
    return running;
  }

  asio::io_context loop_;
  test::MemoryStore store_;
  SlowWay way_{store_};
  std::function<bool(const core::Job&)> flaw_ = {};
  int dropped_ = 0;
  std::optional<StepClock> clock_;
  Ports ports_ = {};
  core::Policy policy_ = {};
  std::optional<JobBook> book_;
  core::JobId id_ = {};
  int decisions_ = 0;
  std::vector<std::string> effects_ = {};
};

TEST_F(JobBookTest, OfAGroupAsManyWorkAsMay) {
  Open();
  const core::JobId first = CreateInGroup();
  const core::JobId second = CreateInGroup();
  way_.answers_late = true;  // the first start is decided, and not yet known to be recorded
  Load();
  Turn();
  way_.answers_late = false;
  Turn();
  EXPECT_EQ(StateOf(first), "REQUESTING");
  EXPECT_EQ(StateOf(second), "QUEUED");
  EXPECT_THAT(store_.Get(second)->why, testing::HasSubstr("waits for its turn: "));
  const base::Error denied{.code = base::Code::kPermissionDenied, .message = "no"};
  book_->Post(first, core::CreateAnswered{.slice = "train-000002-a1", .error = denied});
  Turn();
  EXPECT_EQ(StateOf(first), "FAILED");
  EXPECT_EQ(StateOf(second), "REQUESTING") << "at once";
}

TEST_F(JobBookTest, NobodyGetsAPlaceInItsGroupBeforeAllJobsAreKnown) {
  MakeBook();
  const core::JobId first = CreateInGroup();
  const core::JobId second = CreateInGroup();
  way_.unreadable = second;  // it may be at work
  EXPECT_FALSE(base::RunTask(loop_, book_->Load()).ok());
  Turn();
  EXPECT_EQ(StateOf(first), "QUEUED");
  way_.unreadable.reset();
  Load();
  Turn();
  EXPECT_THAT((std::vector{StateOf(first), StateOf(second)}),
              testing::UnorderedElementsAre("REQUESTING", "QUEUED"));
}

TEST_F(JobBookTest, AReportIsDecidedOnInTheNextTurnOfTheLoop) {
  Open(milliseconds(0));
  Report(0);
  loop_.poll();
  EXPECT_EQ(RunningHosts(), 1);
  EXPECT_EQ(decisions_, 1);
}

TEST_F(JobBookTest, ReportsShareADecisionWhenDecisionsTakeLong) {
  Open(milliseconds(500));
  Report(0);
  loop_.poll();
  EXPECT_EQ(RunningHosts(), 0);
  Report(1);
  Report(2);
  loop_.run();
  EXPECT_EQ(RunningHosts(), 3);
  EXPECT_EQ(decisions_, 1);
}

/// A commit writes all hosts: with a thousand of them, a commit for every few reports would be most
/// of what a job costs.
TEST_F(JobBookTest, ReportsOfManyHostsGatherForLongerThanACommitTakes) {
  Open(milliseconds(40), 640);
  const auto began = std::chrono::steady_clock::now();
  Report(0);
  RunFor(milliseconds(60));
  Report(1);
  RunFor(milliseconds(60));
  // On a machine that stands still meanwhile they may have gathered for half a second.
  if (std::chrono::steady_clock::now() - began < milliseconds(400)) {
    EXPECT_EQ(decisions_, 0);
  }
  loop_.restart();
  loop_.run();
  EXPECT_EQ(RunningHosts(), 2);
  EXPECT_EQ(decisions_, 1);
}

TEST_F(JobBookTest, OutdatedReportsAreDroppedUnlessTheyAreEnds) {
  Open(milliseconds(500));
  Report(0, HostPhase::kPending);
  Report(0);
  Report(1, HostPhase::kExited);
  Report(1);
  loop_.run();
  const core::Job job = *store_.Get(id_);
  EXPECT_EQ(job.stage->hosts[0].phase, HostPhase::kRunning);
  EXPECT_EQ(job.stage->hosts[1].phase, HostPhase::kExited);
}

TEST(JobBook, OtherJobsLearnNothingFromARefusalThatWasNotRecorded) {
  asio::io_context loop;
  test::StoreInMemory store;
  StepClock clock(milliseconds(0));
  Ports ports;
  ports.stores = store.stores();
  ports.clock = &clock;
  core::Job asking = test::SampleJob("first");
  asking.state = core::Requesting{};
  asking.attempt = 1;
  asking.slice = test::SampleSlice("first-000001-a1");
  asking.slice->phase = core::SlicePhase::kIntended;
  asking.slice->requests_sent = 1;
  asking.slice->nodes.clear();
  asking.slice->hosts.clear();
  asking.wake_at = test::kNow + std::chrono::hours{1};
  const core::JobId first = *store.Create(asking, "", test::kNow);
  const auto lease = store.TakeLease("me", test::kNow, std::chrono::hours{1});
  JobBook::Hooks hooks;
  hooks.decided = [](const core::Job&, const std::vector<core::Effect>&) {};
  hooks.lease_lost = [] {};
  const core::Policy policy;
  JobBook book(loop, ports, policy, std::move(hooks));
  book.set_lease_token((*lease)->token);
  ASSERT_TRUE(base::RunTask(loop, book.Load()).ok());
  loop.run();
  book.set_lease_token(0x7fff);  // of another controller: nothing is recorded
  book.Post(first, core::CreateAnswered{.slice = "first-000001-a1",
                                        .error = base::Error{.code = base::Code::kResourceExhausted,
                                                             .message = "no more capacity",
                                                             .reason = base::Reason::kStockout}});
  loop.restart();
  loop.poll();
  book.set_lease_token((*lease)->token);
  const core::JobId second = *store.Create(test::SampleJob("second"), "", test::kNow);
  ASSERT_TRUE(base::RunTask(loop, book.Load()).ok());
  loop.restart();
  loop.poll();
  EXPECT_EQ(core::StateName(store.Get(second)->state), "REQUESTING") << store.Get(second)->why;
}

TEST_F(JobBookTest, AnEffectNamesTheSliceOfItsOwnDecision) {
  Open(milliseconds(500));
  ASSERT_TRUE(
      store_.SetWish(id_, core::Wish::kRequeue, core::SetupWish::kAsNeeded, test::kNow).ok());
  for (int host = 0; host < 3; ++host) {
    book_->Post(
        id_,
        core::HostReport{
            .attempt = 1,
            .run = {.host = host, .phase = HostPhase::kExited, .exit_code = 143, .settled = true}});
  }
  book_->Post(id_,
              core::DeleteAnswered{.slice = "train-000001-a1", .began = test::kNow, .gone = true});
  loop_.run();
  EXPECT_THAT(effects_,
              testing::ElementsAre("StopStage run of attempt 1", "DeleteSlice train-000001-a1",
                                   "CreateSlice train-000001-a2"));
}

TEST_F(JobBookTest, ObservationsDuringACommitAreDecidedOnAfterIt) {
  Open();
  way_.commits = 0;
  way_.closed = true;
  Report(0);
  Turn();
  EXPECT_EQ(way_.commits, 1);
  Report(1);
  Report(2);
  Turn();
  EXPECT_EQ(way_.commits, 1) << "one decision of a job at a time";
  EXPECT_EQ(decisions_, 0) << "nothing is done before it is recorded";
  EXPECT_TRUE(book_->Busy());
  way_.closed = false;
  Turn();
  EXPECT_EQ(way_.commits, 2);
  EXPECT_EQ(RunningHosts(), 3);
  EXPECT_FALSE(book_->Busy());
}

TEST_F(JobBookTest, OtherJobsAreDecidedOnDuringACommit) {
  Open();
  way_.closed = true;
  Report(0);
  Turn();
  way_.closed = false;  // for later calls; the first one still waits
  const core::JobId second = *store_.Create(test::SampleJob("second"), "", test::kNow);
  auto load = book_->Load();
  base::Spawn(loop_.get_executor(), [](base::Task<base::Status> task) -> base::Task<void> {
    (void)co_await std::move(task);
  }(std::move(load)));
  loop_.restart();
  for (int i = 0; i < 20; ++i) loop_.poll();
  EXPECT_EQ(core::StateName(store_.Get(second)->state), "REQUESTING");
}

TEST_F(JobBookTest, AWishDuringACommitIsNotMissed) {
  Open();
  way_.closed = true;
  Report(0);
  Turn();
  ASSERT_TRUE(
      store_.SetWish(id_, core::Wish::kCancel, core::SetupWish::kAsNeeded, test::kNow).ok());
  way_.closed = false;
  Turn();
  EXPECT_EQ(core::StateName(store_.Get(id_)->state), "CANCELLING");
  EXPECT_EQ(RunningHosts(), 1) << "nor is the observation";
}

TEST_F(JobBookTest, AWishBetweenACommitAndItsAnswerIsNotMissed) {
  Open();
  way_.answers_late = true;
  const int before = way_.commits;
  Report(0);
  while (way_.commits == before) loop_.run_one_for(milliseconds{1});
  ASSERT_TRUE(
      store_.SetWish(id_, core::Wish::kCancel, core::SetupWish::kAsNeeded, test::kNow).ok());
  Load();  // finds that a commit is under way
  way_.answers_late = false;
  Turn();
  EXPECT_EQ(core::StateName(store_.Get(id_)->state), "CANCELLING");
}

TEST_F(JobBookTest, NothingRunsAfterItsDestruction) {
  Open(milliseconds(10));
  Report(0);
  loop_.poll();
  Report(1);  // its timer is pending
  book_.reset();
  decisions_ = 0;
  loop_.restart();
  loop_.run();
  EXPECT_EQ(decisions_, 0);
  Open();
  way_.closed = true;
  Report(0);
  Turn();  // its commit waits
  book_.reset();
  way_.closed = false;
  loop_.restart();
  loop_.run();
  EXPECT_EQ(decisions_, 0);
}

TEST_F(JobBookTest, OnlyTheRecordOfANewerJobmanIsSetAside) {
  Open();
  store_.MakeUnreadable(id_);
  const core::JobId second = *store_.Create(test::SampleJob("second"), "", test::kNow);
  Load();
  loop_.restart();
  loop_.run();
  EXPECT_EQ(core::StateName(store_.Get(second)->state), "REQUESTING");
  EXPECT_EQ(book_->Find(id_), nullptr);
  EXPECT_EQ(dropped_, 1) << "its runs are no longer followed";
  EXPECT_EQ(WhyListed(),
            "this jobman leaves the job alone: written by a newer jobman: \"flex\" is not a value "
            "of pricing");
  const std::int64_t writes = *store_.ChangeCounter();
  Load();
  EXPECT_EQ(*store_.ChangeCounter(), writes) << "reported once";
  store_.MakeReadable(id_);
  Load();
  EXPECT_NE(book_->Find(id_), nullptr);
}

TEST_F(JobBookTest, ARecordThatContradictsItselfIsLeftAlone) {
  Open();
  const std::int64_t sound = store_.Get(id_)->version;
  flaw_ = [sound](const core::Job& job) { return job.version > sound; };
  store_.MakeReadable(id_);
  Load();
  EXPECT_EQ(book_->Find(id_), nullptr);
  EXPECT_EQ(WhyListed(),
            "this jobman leaves the job alone: its record contradicts itself: it is in two places");
}

TEST_F(JobBookTest, ADecisionThatContradictsItselfIsNotRecorded) {
  Open();
  flaw_ = [](const core::Job& job) { return job.stage->hosts[0].phase == HostPhase::kRunning; };
  Report(0);
  Turn();
  EXPECT_EQ(RunningHosts(), 0);
  EXPECT_EQ(book_->Find(id_), nullptr);
  EXPECT_EQ(decisions_, 0);
  EXPECT_THAT(WhyListed(), testing::EndsWith("was not recorded: it is in two places"));
}

TEST_F(JobBookTest, TheLogTellsADecisionWithItsEffects) {
  Open();
  const test::TempDir dir;
  base::StartLog(dir / "log", base::LogLevel::kInfo, "");
  const core::HostRun failed{.host = 0, .phase = HostPhase::kExited, .exit_code = 1};
  book_->Post(id_, core::HostReport{.attempt = 1, .run = failed});
  Turn();
  base::StartLog({}, base::LogLevel::kWarn, "");
  EXPECT_THAT(base::ReadFile(dir / "log").value(),
              testing::HasSubstr("job 000001: RUNNING; StopStage "));
}

TEST_F(JobBookTest, TheLogTellsEqualDecisionsOfACommitOnce) {
  Open(milliseconds(500));
  const test::TempDir dir;
  base::StartLog(dir / "log", base::LogLevel::kInfo, "");
  for (int host = 0; host < 3; ++host) Report(host);
  loop_.run();
  base::StartLog({}, base::LogLevel::kWarn, "");
  const std::string log = base::ReadFile(dir / "log").value();
  EXPECT_THAT(log, testing::HasSubstr("job 000001: RUNNING; "));
  EXPECT_THAT(log, testing::HasSubstr("(3 times)"));
}

TEST_F(JobBookTest, AJobWithoutARecordIsDroppedAtOnce) {
  Open();
  store_.Lose(id_);
  Load();
  EXPECT_FALSE(book_->AnyCare());
  EXPECT_EQ(dropped_, 1);
}

TEST_F(JobBookTest, AJobThatIsErasedBeforeACommitIsDroppedAtOnce) {
  Open();
  store_.Lose(id_);
  Report(0);
  Turn();
  EXPECT_FALSE(book_->AnyCare());
  EXPECT_FALSE(book_->Busy()) << "it is not tried again";
  EXPECT_EQ(dropped_, 1);
}

}  // namespace
}  // namespace jobman::controller

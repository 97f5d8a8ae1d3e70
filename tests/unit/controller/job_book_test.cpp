#include "controller/job_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/core/describe.hpp"
#include "jobman/store/memory_store.hpp"
#include "tests/support/sample_job.hpp"

namespace jobman::controller {
namespace {

using core::HostPhase;
using std::chrono::milliseconds;

/// Moves by one step whenever somebody looks: so long a decision with its commit takes.
class StepClock final : public base::Clock {
 public:
  explicit StepClock(base::Duration step) : step_(step) {}
  base::TimePoint Now() const override { return now_ += step_; }

 private:
  base::Duration step_;
  mutable base::TimePoint now_ = test::kNow;
};

/// A job that runs on three hosts, and the book that has it.
class JobBookTest : public testing::Test {
 protected:
  void Open(base::Duration decision_takes) {
    clock_.emplace(decision_takes);
    world_.store = &store_;
    world_.clock = &*clock_;
    core::Job job = test::SampleJob("train");
    job.state = core::Running{};
    job.attempt = 1;
    job.slice = test::SampleSlice("train-000001-a1");
    job.slice->nodes = {{.uid = "8123456789", .hosts = 3}};
    job.slice->hosts.resize(3);
    job.slice->unshown.clear();
    job.slice->last_evidence_at = test::kNow;
    job.stage = core::Stage{
        .name = "run", .generation = 2, .hosts = {{.host = 0}, {.host = 1}, {.host = 2}}};
    id_ = *store_.Create(job, "source", test::kNow);
    const auto lease = store_.TakeLease("me", test::kNow, std::chrono::hours{1});
    JobBook::Hooks hooks;
    hooks.decided = [this](const core::Job&, const std::vector<core::Effect>& effects) {
      ++decisions_;
      for (const core::Effect& effect : effects) effects_.push_back(core::Describe(effect));
    };
    book_.emplace(loop_, world_, policy_, std::move(hooks));
    book_->set_lease_token((*lease)->token);
    ASSERT_TRUE(book_->Load().ok());
    loop_.run();
    loop_.restart();
    decisions_ = 0;
    effects_.clear();
  }
  void Report(int host, HostPhase phase = HostPhase::kRunning) {
    book_->Post(id_, core::HostReport{.attempt = 1, .run = {.host = host, .phase = phase}});
  }
  int RunningHosts() {
    int running = 0;
    const core::Job job = *store_.Get(id_);
    for (const core::HostRun& run : job.stage->hosts) {
      running += run.phase == HostPhase::kRunning ? 1 : 0;
    }
    return running;
  }

  asio::io_context loop_;
  store::MemoryStore store_;
  std::optional<StepClock> clock_;
  World world_ = {};
  core::Policy policy_ = {};
  std::optional<JobBook> book_;
  core::JobId id_ = {};
  int decisions_ = 0;
  std::vector<std::string> effects_ = {};
};

TEST_F(JobBookTest, AReportIsDecidedUponInTheNextTurnOfTheLoop) {
  Open(milliseconds(0));
  Report(0);
  loop_.poll();
  EXPECT_EQ(RunningHosts(), 1);
  EXPECT_EQ(decisions_, 1);
}

TEST_F(JobBookTest, WhereDecisionsTakeLongReportsGatherForOne) {
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

TEST_F(JobBookTest, WhatIsOutdatedIsForgottenButNeverAnEnd) {
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

TEST(JobBook, OfARefusalThatIsNotRecordedTheOthersLearnNothing) {
  asio::io_context loop;
  store::MemoryStore store;
  StepClock clock(milliseconds(0));
  World world;
  world.store = &store;
  world.clock = &clock;
  core::Job asking = test::SampleJob("first");
  asking.state = core::Requesting{};
  asking.attempt = 1;
  asking.slice = test::SampleSlice("first-000001-a1");
  asking.slice->phase = core::SlicePhase::kIntended;
  asking.slice->requests_sent = 1;
  asking.slice->nodes.clear();
  asking.slice->hosts.clear();
  const core::JobId first = *store.Create(asking, "", test::kNow);
  const auto lease = store.TakeLease("me", test::kNow, std::chrono::hours{1});
  JobBook::Hooks hooks;
  hooks.decided = [](const core::Job&, const std::vector<core::Effect>&) {};
  hooks.lease_lost = [] {};
  const core::Policy policy;
  JobBook book(loop, world, policy, std::move(hooks));
  book.set_lease_token((*lease)->token);
  ASSERT_TRUE(book.Load().ok());
  loop.run();
  book.set_lease_token(0x7fff);  // another's: nothing is recorded
  book.Post(first, core::CreateAnswered{.slice = "first-000001-a1",
                                        .error = base::Error{.code = base::Code::kResourceExhausted,
                                                             .message = "no more capacity",
                                                             .reason = base::Reason::kStockout}});
  loop.restart();
  loop.poll();
  book.set_lease_token((*lease)->token);
  const core::JobId second = *store.Create(test::SampleJob("second"), "", test::kNow);
  ASSERT_TRUE(book.Load().ok());
  loop.restart();
  loop.poll();
  EXPECT_EQ(core::StateName(store.Get(second)->state), "REQUESTING") << store.Get(second)->why;
}

TEST_F(JobBookTest, AnEffectIsAboutTheSliceOfItsOwnDecision) {
  Open(milliseconds(500));
  ASSERT_TRUE(store_.SetWish(id_, core::Wish::kRequeue, false, test::kNow).ok());
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

}  // namespace
}  // namespace jobman::controller

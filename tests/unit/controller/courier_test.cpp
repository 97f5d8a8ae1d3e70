#include "controller/courier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_clock.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/sample_job.hpp"

namespace jobman::controller {
namespace {

using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Keeps what it is to deliver; fails or hangs as long as the test says so.
class FakeNotifier final : public ports::Notifier {
 public:
  base::Task<base::Status> Tell(core::HookSpec hook, core::SmtpSpec,
                                ports::Message message) override {
    told.push_back(hook.command + " " + message.event_id);
    if (hangs) co_await base::Sleep(std::chrono::hours{1});
    if (fails) {
      base::Error error{.code = base::Code::kUnavailable, .message = "nobody listens"};
      co_return error;
    }
    co_return base::Ok();
  }
  std::vector<std::string> told = {};
  bool fails = false;
  bool hangs = false;
};

class CourierTest : public testing::Test {
 protected:
  CourierTest() {
    ports_.stores = store_.stores();
    ports_.clock = &clock_;
    ports_.notifier = &notifier_;
    core::Job job = test::SampleJob("train");
    job.spec.hooks = {{.event = core::HookEvent::kFailed, .command = "one"},
                      {.event = core::HookEvent::kFailed, .command = "two"}};
    id_ = *store_.Create(job, "source", clock_.Now());
    token_ = (*store_.TakeLease("me", clock_.Now(), std::chrono::hours{9}))->token;
  }
  void Put(int hook, const std::string& event_id) {
    const core::Job job = *store_.Get(id_);
    const ports::HookDelivery delivery{.event_id = event_id,
                                       .event = "failed",
                                       .hook = hook,
                                       .target = "command " + event_id,
                                       .body = "{}",
                                       .at = clock_.Now(),
                                       .next_try = clock_.Now()};
    ASSERT_TRUE(store_.Commit({.job = job, .deliveries = {delivery}}, token_).ok());
  }
  void Start() {
    courier_.emplace(loop_, ports_, options_);
    courier_->Start(token_);
    Turn();
  }
  void Turn() {
    for (int i = 0; i < 100; ++i) {
      loop_.restart();
      loop_.poll();
    }
  }
  std::string LastLine() { return store_.Events(id_, 0)->back().text; }

  test::FakeClock clock_;
  asio::io_context loop_;
  test::StoreInMemory store_;
  FakeNotifier notifier_;
  Ports ports_;
  Options options_;
  core::JobId id_;
  std::int64_t token_ = 0;
  std::optional<Courier> courier_;
};

TEST_F(CourierTest, TellsEachHookOnce) {
  Put(0, "e1");
  Put(1, "e1");
  Start();
  EXPECT_THAT(notifier_.told, ElementsAre("one e1", "two e1"));
  EXPECT_FALSE(courier_->Busy());
  EXPECT_EQ(LastLine(), "hook e1 was told of \"failed\"");
  Put(0, "e2");
  courier_->PollNow();
  Turn();
  EXPECT_THAT(notifier_.told, ElementsAre("one e1", "two e1", "one e2"));
}

TEST_F(CourierTest, RetriesAndGivesUpInTheEnd) {
  notifier_.fails = true;
  Put(0, "e1");
  Start();
  EXPECT_THAT(LastLine(), HasSubstr("; try 1 of 12, "));
  EXPECT_THAT(LastLine(), HasSubstr("nobody listens; try 1 of 12, again in 5s"));
  EXPECT_TRUE(courier_->Busy());
  courier_->PollNow();
  Turn();
  EXPECT_EQ(notifier_.told.size(), 1U) << "not before its time";
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(minutes{10});
    courier_->PollNow();
    Turn();
  }
  EXPECT_EQ(notifier_.told.size(), 12U);
  EXPECT_THAT(LastLine(), HasSubstr("nobody listens; try 12 of 12, given up"));
  EXPECT_FALSE(courier_->Busy());
  EXPECT_THAT(store_.Deliveries(id_)->at(0).error, HasSubstr("nobody listens"));
}

TEST_F(CourierTest, ADeliveryThatACrashInterruptedIsRepeated) {
  notifier_.hangs = true;
  Put(0, "e1");
  Start();
  EXPECT_FALSE(courier_->Quiet(clock_.Now()));
  courier_.reset();
  Turn();
  notifier_.hangs = false;
  Start();
  EXPECT_THAT(notifier_.told, ElementsAre("one e1", "one e1"));
  EXPECT_THAT(*store_.Waiting(), IsEmpty());
}

/// As with `tick` alone, which may be shorter than the hook's timeout.
TEST_F(CourierTest, ADeliveryThatEveryTickCutsShortIsGivenUpInTheEnd) {
  notifier_.hangs = true;
  Put(0, "e1");
  for (int pass = 1; pass <= 20; ++pass) {
    Start();
    base::RunTask(loop_, courier_->Stop());
    if (pass == 1) {
      EXPECT_THAT(LastLine(), HasSubstr("; try 1 of 12, "));
      EXPECT_THAT(LastLine(),
                  HasSubstr("not done when the controller ended; try 1 of 12, again in 5s"));
    }
    courier_.reset();
    clock_.Advance(minutes{10});
  }
  EXPECT_EQ(notifier_.told.size(), 12U);
  EXPECT_THAT(LastLine(), HasSubstr("given up"));
  EXPECT_THAT(*store_.Waiting(), IsEmpty());
}

TEST_F(CourierTest, AHangingHookDelaysNoOther) {
  notifier_.hangs = true;
  Put(0, "e1");
  Start();
  notifier_.hangs = false;
  Put(1, "e2");
  courier_->PollNow();
  Turn();
  EXPECT_THAT(notifier_.told, ElementsAre("one e1", "two e2"));
  EXPECT_EQ(store_.Waiting()->size(), 1U);
}

TEST_F(CourierTest, DeliveriesOfAnErasedJobAreForgotten) {
  notifier_.hangs = true;
  Put(0, "e1");
  Start();
  core::Job job = *store_.Get(id_);
  job.state = core::Done{.outcome = core::Outcome::kDeleted};
  job.wish_new = false;
  ASSERT_TRUE(store_.Commit({.job = job}, token_).ok());
  ASSERT_TRUE(store_.Erase({.id = id_, .version = job.version + 1}).ok());
  courier_->PollNow();
  base::RunTask(loop_, courier_->Stop());
  Turn();
  EXPECT_THAT(*store_.Waiting(), IsEmpty());
}

}  // namespace
}  // namespace jobman::controller

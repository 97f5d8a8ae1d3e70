#include "controller/hook_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/json.hpp"
#include "tests/support/sample_job.hpp"

namespace jobman::controller {
namespace {

using core::HookEvent;

class HookEventsTest : public testing::Test {
 protected:
  HookEventsTest() {
    before_ = test::SampleJob("train");
    before_.id = core::JobId{1};
    before_.version = 7;
    before_.spec.hooks = {{.event = HookEvent::kStarted, .command = "true"},
                          {.event = HookEvent::kFailed, .command = "mail"},
                          {.event = HookEvent::kStarted, .command = "page"}};
    step_.job = before_;
    step_.effects = {core::TellHooks{.event = HookEvent::kStarted, .attempt = 2, .why = "it runs"}};
  }
  std::vector<ports::HookDelivery> Deliveries() {
    ports::Turn turn;
    AddDeliveries(before_, step_, test::kNow, "store1", turn);
    return turn.deliveries;
  }
  core::Job before_;
  core::Step step_;
};

TEST_F(HookEventsTest, EachHookOfTheEventGetsADelivery) {
  const auto deliveries = Deliveries();
  ASSERT_EQ(deliveries.size(), 2u);
  EXPECT_EQ(deliveries[0].hook, 0);
  EXPECT_EQ(deliveries[1].hook, 2);
  EXPECT_EQ(deliveries[1].next_try, test::kNow);
  EXPECT_EQ(deliveries[0].event_id, deliveries[1].event_id);
  EXPECT_EQ(deliveries[0].event_id, "store1-000001-v7-a2-started");
}

TEST_F(HookEventsTest, AnEventOfATaskNamesItAndItsRun) {
  before_.spec.hooks = {{.event = HookEvent::kTaskFailed, .command = "page"}};
  step_.job = before_;
  const auto failed = [](const std::string& task) {
    return core::TellHooks{.event = HookEvent::kTaskFailed,
                           .attempt = 2,
                           .why = "run 3 of it failed",
                           .task = task,
                           .task_run = 3};
  };
  step_.effects = {failed("lr 1"), failed("lr2")};
  const auto deliveries = Deliveries();
  ASSERT_EQ(deliveries.size(), 2u);
  EXPECT_NE(deliveries[0].event_id, deliveries[1].event_id);
  EXPECT_THAT(deliveries[0].event_id,
              testing::MatchesRegex("store1-000001-v7-a2-task_failed-t[0-9a-f]+-3"));
  const auto body = base::ParseJson(deliveries[0].body).value();
  EXPECT_EQ(base::GetString(body, "task"), "lr 1");
  EXPECT_EQ(base::GetInt(body, "task_run"), 3);
}

TEST_F(HookEventsTest, OtherEffectsMakeNoDelivery) {
  step_.effects = {core::RunStage{.attempt = 2}};
  EXPECT_TRUE(Deliveries().empty());
}

TEST_F(HookEventsTest, TheBodyHasWhatListShowsAndNoSecrets) {
  before_.spec.command.env["TOKEN"] = "secret";
  step_.job = before_;
  const auto body = base::ParseJson(Deliveries()[0].body).value();
  EXPECT_EQ(base::GetString(body, "name"), "train");
  EXPECT_EQ(base::GetString(body, "why"), "it runs");
  EXPECT_EQ(base::GetInt(body, "attempt"), 2);
  EXPECT_FALSE(body.contains("exit_code"));
  EXPECT_THAT(Deliveries()[0].body, testing::Not(testing::HasSubstr("secret")));
}

TEST_F(HookEventsTest, AFinishedJobHasItsExitCodeAndError) {
  step_.job.state = core::Done{.outcome = core::Outcome::kFailed,
                               .exit_code = 9,
                               .error = base::Error{.message = "too bad"}};
  const auto body = base::ParseJson(Deliveries()[0].body).value();
  EXPECT_EQ(base::GetInt(body, "exit_code"), 9);
  EXPECT_TRUE(body.contains("error"));
}

}  // namespace
}  // namespace jobman::controller

// What hooks are told. Without hooks, nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "tests/support/cloud_words.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"
#include "tests/support/values_of.hpp"

namespace jobman::core {
namespace {

using std::chrono::minutes;
using test::JobBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A job with hooks for every event, and the events they were told.
class NotifyTest : public testing::Test {
 protected:
  NotifyTest() {
    job_ = JobBuilder().Build();
    for (const HookEvent event : test::ValuesOf<HookEvent>()) {
      job_.spec.hooks.push_back({.event = event, .command = "true"});
    }
  }
  void See(Observation seen) {
    if (auto* const look = std::get_if<SliceSeen>(&seen)) look->began = clock_.Now();
    const Step step = Reconcile(job_, seen, clock_.Now(), {.store_id = "store1"}, 0.5);
    job_ = step.job;
    for (const Effect& effect : step.effects) {
      const auto* notify = std::get_if<TellHooks>(&effect);
      if (notify == nullptr) continue;
      told_.push_back(std::to_string(notify->attempt) + " " +
                      std::string(HookEventName(notify->event)) + ": " + notify->why);
    }
  }
  void See(NodeState state) {
    SliceSeen seen{.slice = job_.slice->ref.name};
    seen.queued = QueuedSeen{.state = QueuedState::kActive, .raw_state = "ACTIVE"};
    seen.nodes = {NodeSeen{.id = seen.slice,
                           .uid = "uid-" + seen.slice,
                           .state = state,
                           .raw_state = test::WordFor(state),
                           .hosts = test::Addresses(1)}};
    See(seen);
    seen.by_name = state == NodeState::kPreempted;
    if (seen.by_name) See(seen);
  }
  void HostEnds(int exit_code) {
    const bool stopping = job_.stage->stop.has_value();
    See(HostReport{
        .attempt = job_.attempt,
        .stage = CommandStage{},
        .run = {.phase = HostPhase::kExited, .exit_code = exit_code, .settled = stopping}});
  }
  std::ptrdiff_t CountOf(const std::string& event) const {
    return std::count_if(told_.begin(), told_.end(), [&](const std::string& told) {
      return told.find(" " + event + ": ") != std::string::npos;
    });
  }
  void Run() {
    See(Tick{});
    See(NodeState::kReady);
  }

  static constexpr const char* kReady = "1 ready: slice train-000042-a1 is ready: 1 host";
  test::FakeClock clock_;
  Job job_;
  std::vector<std::string> told_;
};

TEST_F(NotifyTest, TellsThatTheSliceIsReadyTheStartAndTheEnd) {
  Run();
  HostEnds(0);
  EXPECT_THAT(told_, ElementsAre(kReady, "1 started: running the command on 1 of 1 host",
                                 "1 succeeded: the command ended with exit code 0 on 1 host"));
}

TEST_F(NotifyTest, TellsAPreemptionWithItsReasonAndTheNextStart) {
  Run();
  See(NodeState::kPreempted);
  See(SliceSeen{.slice = job_.slice->ref.name});
  See(SliceSeen{.slice = job_.slice->ref.name, .by_name = true});
  Run();
  EXPECT_THAT(told_, ElementsAre(kReady, "1 started: running the command on 1 of 1 host",
                                 "1 preempted: slice train-000042-a1 was preempted during run",
                                 "2 ready: slice train-000042-a2 is ready: 1 host",
                                 "2 started: running the command on 1 of 1 host"));
}

TEST_F(NotifyTest, AFailureWithinTheBudgetIsARestart) {
  job_.spec.retries.failure = 1;
  Run();
  HostEnds(3);
  HostEnds(3);  // its leftovers are stopped
  EXPECT_EQ(told_.size(), 3U);
  EXPECT_TRUE(
      told_.back().starts_with("1 restarting: run ended with exit code 3 on host 0: trying"));
  clock_.Advance(minutes{10});
  Run();
  HostEnds(3);
  HostEnds(3);
  EXPECT_EQ(told_.back(), "2 failed: run ended with exit code 3 on host 0");
  EXPECT_EQ(CountOf("ready"), 1) << "the slice was held";
}

TEST_F(NotifyTest, ASliceIsReadyOnceWhateverIsRepaired) {
  See(Tick{});
  See(NodeState::kCreating);
  EXPECT_THAT(told_, IsEmpty());
  See(NodeState::kReady);
  See(NodeState::kRepairing);
  See(NodeState::kReady);
  EXPECT_EQ(CountOf("ready"), 1);
}

TEST_F(NotifyTest, AJobThatIsResumedOnItsSliceIsNotToldAgain) {
  Run();
  HostEnds(0);
  job_.wish = Wish::kRun;
  job_.wish_new = true;
  See(Tick{});
  See(NodeState::kReady);
  EXPECT_EQ(CountOf("started"), 2);
  EXPECT_EQ(CountOf("ready"), 1);
}

TEST_F(NotifyTest, ACancelIsToldWhenTheJobHasStopped) {
  Run();
  job_.wish = Wish::kCancel;
  job_.wish_new = true;
  See(Tick{});
  EXPECT_EQ(told_.size(), 2U);
  HostEnds(143);
  EXPECT_EQ(told_.back(), "1 cancelled: cancelled by the user; slice train-000042-a1 is kept");
}

TEST_F(NotifyTest, WithoutAHookNothingIsTold) {
  job_.spec.hooks = {{.event = HookEvent::kFailed, .command = "true"}};
  Run();
  HostEnds(0);
  EXPECT_THAT(told_, IsEmpty());
}

TEST(HookTarget, HidesPossibleSecrets) {
  EXPECT_EQ(HookTarget({.url = "https://hooks.lab.org/T0/secret"}), "webhook hooks.lab.org");
  EXPECT_EQ(HookTarget({.url_from = {.env = "HOOK"}}), "webhook");
  EXPECT_EQ(HookTarget({.mail_to = {"a@b", "c@d"}}), "mail to a@b, c@d");
  EXPECT_EQ(HookTarget({.brevo = {.api_key = {.env = "KEY"}, .sender = "a@b", .receiver = "c@d"}}),
            "mail over Brevo to c@d");
  EXPECT_EQ(HookTarget({.command = "./notify.sh"}), "command ./notify.sh");
}

TEST(HookTarget, ShowsNothingOfWhatIsNoUrl) {
  EXPECT_EQ(HookTarget({.url = "T0/B0/secret"}), "webhook ");
}

}  // namespace
}  // namespace jobman::core

// Slices that the cloud lends for tpu.max_run_duration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/core/explain.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"
#include "tests/support/sample_task.hpp"

namespace jobman::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using test::JobBuilder;
using test::Reconciling;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Job Lent(Duration time, Pricing pricing = Pricing::kFlexStart) {
  Job job = JobBuilder().Build();
  job.spec.tpu.pricing = pricing;
  job.spec.tpu.max_run_duration = time;
  return job;
}

TEST(ReconcileLent, TheEndIsKnownFromTheBeginning) {
  Reconciling r(Lent(hours{4}));
  r.ToRunning();
  const TimePoint end = r.clock.Now() + hours{4};
  EXPECT_EQ(r.job().slice->lent_until, end);
  EXPECT_THAT(Explain(r.job(), r.clock.Now()).facts,
              Contains("the cloud lends the slice for 4h more, until 2026-01-01T04:00:00.000Z"));
  r.clock.Advance(hours{1});
  r.Ready();
  EXPECT_EQ(r.job().slice->lent_until, end) << "it does not begin anew";
}

TEST(ReconcileLent, TheCommandIsToldBefore) {
  Reconciling r(Lent(hours{4}));
  r.ToRunning().After(hours{3} + minutes{58} + seconds{59});
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.job().wake_at, r.clock.Now() + seconds{1});
  r.After(seconds{1});
  EXPECT_THAT(r.effects(), ElementsAre("PassNotice imminent preemption to attempt 1, signal TERM"))
      << "command.on_notice.grace and half a minute before";
  EXPECT_EQ(r.job().why,
            "notice of preemption (its run duration of 4h ends at 2026-01-01T04:00:00.000Z): the "
            "command is sent TERM");
  EXPECT_THAT(r.Tick().effects(), IsEmpty()) << "once";
  r.AllEnd(143);
  EXPECT_THAT(r.job().why, HasSubstr("after notice of preemption (its run duration of 4h ends"));
  EXPECT_THAT(r.ended(), ElementsAre("1 preempted"));
  EXPECT_EQ(r.job().spent.preemption, 1);
  r.Gone();
  EXPECT_EQ(r.state(), "REQUESTING") << "with a new slice";
}

TEST(ReconcileLent, MostOfAShortTimeBelongsToTheCommand) {
  Reconciling r(Lent(seconds{20}));
  r.ToRunning().After(seconds{17});
  EXPECT_THAT(r.effects(), IsEmpty());
  r.After(seconds{1});
  EXPECT_THAT(r.effects(), Contains(HasSubstr("PassNotice")));
}

TEST(ReconcileLent, AWorkerTakesNoTaskThatItWouldHaveToStopAtOnce) {
  Job job = JobBuilder().Worker().Build();
  job.spec.tpu.max_run_duration = hours{4};
  Reconciling early(job);
  early.ToRunning().After(hours{3}).Offered(test::SampleTask());
  EXPECT_TRUE(early.job().stage);
  Reconciling late(std::move(job));
  late.ToRunning().After(hours{4} - seconds{10}).Offered(test::SampleTask());
  EXPECT_EQ(late.state(), "IDLE");
  EXPECT_FALSE(late.job().stage);
}

TEST(ReconcileLent, ASliceThatIsTakenAtItsEndIsOver) {
  Reconciling r(Lent(hours{4}));
  r.ToRunning();
  r.clock.Advance(hours{4});
  r.Queued(QueuedState::kSuspended);
  EXPECT_THAT(r.job().why,
              HasSubstr("slice train-000042-a1 is over: its run duration of 4h ended during run"));
  EXPECT_EQ(r.job().spent.preemption, 1);
}

TEST(ReconcileLent, ASliceThatIsTakenEarlierWasPreempted) {
  Reconciling r(Lent(hours{4}, Pricing::kSpot));
  r.ToRunning();
  r.clock.Advance(hours{3});
  r.Queued(QueuedState::kSuspended);
  EXPECT_THAT(r.job().why, HasSubstr("was preempted (SUSPENDED) during run"));
}

TEST(ReconcileLent, OtherSlicesHaveNoEnd) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().After(hours{1000});
  EXPECT_FALSE(r.job().slice->lent_until);
  EXPECT_THAT(r.effects(), IsEmpty());
  r.Queued(QueuedState::kSuspended);
  EXPECT_THAT(r.job().why, Not(HasSubstr("run duration")));
}

/// What a listing shows of the slice, with one node.
SliceSeen Granted(const Reconciling& r, const NodeSeen& node) {
  SliceSeen seen{.slice = r.job().slice->ref.name};
  seen.queued = QueuedSeen{.id = seen.slice, .state = QueuedState::kActive, .raw_state = "ACTIVE"};
  seen.nodes = {node};
  return seen;
}

NodeSeen ReadyNode() {
  NodeSeen node{.id = "train-000042-a1", .uid = "1", .state = NodeState::kReady};
  node.raw_state = "READY";
  node.hosts = {{.internal = "10.0.0.1"}};
  return node;
}

TEST(ReconcileLent, TheTimeIsReckonedFromWhenTheNodeWasCreated) {
  Reconciling r(Lent(hours{4}));
  r.Tick().Answered();
  r.clock.Advance(minutes{30});
  NodeSeen node = ReadyNode();
  node.create_time = "2026-01-01T00:20:00.5Z";
  r.See(Granted(r, node));
  EXPECT_EQ(r.job().slice->lent_until, base::ParseRfc3339("2026-01-01T04:20:00.5Z").value());
}

TEST(ReconcileLent, ANodeIsNotOlderThanItsRequest) {
  Reconciling r(Lent(hours{4}));
  r.Tick().Answered();
  NodeSeen node = ReadyNode();
  node.create_time = "2025-12-31T23:00:00Z";  // this machine's clock is ahead
  r.See(Granted(r, node));
  EXPECT_EQ(r.job().slice->lent_until, r.clock.Now() + hours{4});
}

TEST(ReconcileLent, WhatTheCloudSaysCounts) {
  Reconciling r(Lent(hours{4}));
  r.Tick().Answered();
  NodeSeen node = ReadyNode();
  node.ends_at = base::ParseRfc3339("2026-01-01T05:00:00Z").value();
  r.See(Granted(r, node));
  EXPECT_EQ(r.job().slice->lent_until, node.ends_at);
}

}  // namespace
}  // namespace jobman::core

#include "jobman/core/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using base::Code;
using base::Reason;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using test::JobBuilder;
using test::Reconciling;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Explanation Of(const Reconciling& r) {
  return Explain(r.job(), r.clock.Now());
}

TEST(Explain, TheQueueNamesTheCapacityAndTheTime) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Queued(QueuedState::kWaitingForResources).After(hours{5});
  const Explanation told = Of(r);
  EXPECT_EQ(told.state, "WAITING");
  EXPECT_EQ(told.because, "queued resource train-000042-a1 is in the queue");
  EXPECT_EQ(told.waits_for, "capacity for v4-32 in us-central2-b, for 5h so far");
  EXPECT_THAT(told.facts,
              ElementsAre("slice train-000042-a1 in us-central2-b: the cloud says "
                          "WAITING_FOR_RESOURCES",
                          "attempt 1; retries used: preemption 0/unlimited, failure 0/0, "
                          "infra 0/10"));
  EXPECT_EQ(told.next_step,
            "wait, or leave the queue for another zone or a smaller type: "
            "jobman requeue 000042 --set tpu.zone=ZONE");
}

TEST(Explain, TheQueueShowsHowLongARequestMayStillWait) {
  Job job = JobBuilder().Build();
  job.spec.tpu.valid_for = hours{6};
  Reconciling r(job);
  r.Tick().Answered().Queued(QueuedState::kWaitingForResources).After(hours{5});
  EXPECT_THAT(Explain(r.job(), r.clock.Now()).waits_for,
              HasSubstr("for 5h so far; tpu.valid_until ends the wait in 1h"));
}

TEST(Explain, AWaitIsCountedOverAllItsRequests) {
  Job job = JobBuilder().Build();
  job.spec.retries.backoff = job.spec.retries.backoff_cap = minutes{10};
  Reconciling r(job);
  r.Tick().Answered().Queued(QueuedState::kWaitingForResources).After(hours{1});
  r.Queued(QueuedState::kFailed).Gone();
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(Of(r).waits_for, testing::Not(HasSubstr("tries"))) << "there was one";
  r.After(minutes{5}).Answered().Queued(QueuedState::kWaitingForResources);
  EXPECT_EQ(Of(r).because, "queued resource train-000042-a2 is in the queue");
  r.After(hours{1});
  EXPECT_EQ(Of(r).waits_for, "capacity for v4-32 in us-central2-b, for 2h5m so far, 2 tries");
  r.Queued(QueuedState::kFailed).Gone();
  EXPECT_THAT(r.job().why, HasSubstr("; 2 tries in 2h5m"));
  EXPECT_THAT(Of(r).because, testing::Not(HasSubstr("tries"))) << "they are counted below";
  EXPECT_EQ(Of(r).waits_for, "the next try in 5m; waiting for 2h5m so far, 2 tries");
  r.After(minutes{5}).Answered().Ready(4);
  EXPECT_FALSE(r.job().search) << "it is over when work begins";
}

TEST(Explain, ARunCountsItsHosts) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Ready(4).HostRuns(0).HostEnds(3);
  r.See(HostReport{.attempt = 1,
                   .stage = CommandStage{},
                   .run = {.host = 2, .error = base::Error{.message = "connection refused"}}});
  EXPECT_THAT(Of(r).facts, Contains("run: 1 running, 1 ended, not started on hosts 1-2 "
                                    "(connection refused)"));
  EXPECT_EQ(Of(r).waits_for, "run to end on 4 hosts");
}

TEST(Explain, ACommandThatNoHostRunsIsStarting) {
  Job job = JobBuilder().Build();
  job.spec.ssh.user = "root";
  Reconciling r(job);
  r.Tick().Answered().Ready(4);
  EXPECT_EQ(Of(r).state, "RUNNING");
  EXPECT_EQ(Of(r).status, "STARTING");
  EXPECT_EQ(Of(r).waits_for, "run to start on 4 hosts");
  const base::Error refused{.code = Code::kUnauthenticated,
                            .message = "10.0.0.2:22: login as root refused (tried key)",
                            .reason = Reason::kHostAuth,
                            .hint = "check ssh.user"};
  const auto refuse = [&](int host) {
    r.See(
        HostReport{.attempt = 1, .stage = CommandStage{}, .run = {.host = host, .error = refused}});
  };
  refuse(1);
  EXPECT_EQ(r.job().why, "host 1 refuses login as root; check ssh.user and ssh.private_key");
  refuse(0);
  EXPECT_THAT(r.job().why, HasSubstr("host 1 ")) << "said of one host";
  r.After(seconds{72});
  const Explanation told = Of(r);
  EXPECT_EQ(told.status, "STARTING");
  EXPECT_EQ(told.next_step, "check ssh.user");
  EXPECT_THAT(told.facts, Contains("hosts 0-1 tried for 1m12s so far; given up after 5m (or the "
                                   "controller's --host-limit)"));
  r.HostRuns(0);
  EXPECT_EQ(StatusWord(r.job()), "RUNNING");
  EXPECT_THAT(r.job().why, HasSubstr("host 1 refuses"));
  r.HostRuns(1);
  EXPECT_EQ(r.job().why, "started run on 2 of 4 hosts");
  EXPECT_THAT(Of(r).next_step, IsEmpty());
}

TEST(Explain, EachKindOfTroubleIsSaidOnce) {
  Reconciling r(JobBuilder().Step("install").Build());
  r.Tick().Answered().Ready(4);
  const auto fail = [&](Reason reason, const char* message) {
    const base::Error error{.code = Code::kUnavailable, .message = message, .reason = reason};
    r.See(HostReport{.attempt = 1, .stage = SetupStage{}, .run = {.host = 2, .error = error}});
    return r.job().why;
  };
  EXPECT_EQ(fail(Reason::kHostRefused, "10.0.0.4:22: connection refused"),
            "host 2 cannot start setup-0-install yet: 10.0.0.4:22: connection refused");
  EXPECT_THAT(fail(Reason::kHostRefused, "10.0.0.4:22: something else"),
              HasSubstr("connection refused"));
  EXPECT_THAT(fail(Reason::kHostTimeout, "10.0.0.4:22: no answer"), HasSubstr("no answer"));
  EXPECT_EQ(Of(r).status, "SETUP");
}

TEST(Explain, WhatHappenedComesBeforeWhereItHappened) {
  const base::Error error{.code = Code::kUnavailable, .message = "no more capacity."};
  EXPECT_EQ(ErrorSentence(error), "no more capacity.");
  const base::Error framed = base::Error(error).With("GET /v2/a").With("looking");
  EXPECT_EQ(ErrorSentence(framed), "no more capacity (looking: GET /v2/a)");
}

TEST(Explain, AStageThatIsHeldBackWaitsForTheRepair) {
  Reconciling r(JobBuilder().Step("tools").Build());
  r.Tick().Answered().Ready(4).HostRuns(0).Unhealthy("UNHEALTHY_TPU").AllEnd();
  ASSERT_EQ(r.state(), "SETUP");
  EXPECT_EQ(Of(r).waits_for, "the cloud to repair the slice");
  EXPECT_EQ(Of(r.Ready(4)).waits_for, "run to start on 4 hosts");
}

TEST(Explain, AWaitShowsItsErrorItsEndAndItsCure) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Refused({.code = Code::kResourceExhausted,
                    .message = "limit 32 of v4 cores is reached",
                    .reason = Reason::kQuota,
                    .hint = "jobman list shows who holds them",
                    .retry_after = seconds{300}});
  const Explanation told = Of(r);
  EXPECT_EQ(told.because, "limit 32 of v4 cores is reached") << "without a time that passes";
  EXPECT_EQ(told.waits_for, "the next try in 5m");
  EXPECT_EQ(told.next_step, "jobman list shows who holds them");
  EXPECT_THAT(told.facts, testing::Not(Contains(HasSubstr("limit 32")))) << "it is said once";
}

TEST(Explain, AnElapsedWaitShowsWhatIsStillBeingDeleted) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Refused({.code = Code::kUnavailable, .message = "no answer"});
  r.After(seconds{10}).Absent().After(seconds{10}).Absent();
  ASSERT_THAT(r.effects(), ElementsAre("CreateSlice train-000042-a1"))
      << "requests again with the same name";
  r.Refused({.code = Code::kResourceExhausted,
             .message = "too many requests",
             .reason = Reason::kRateLimit});
  EXPECT_THAT(Of(r).waits_for, HasSubstr("the next try in"));
  r.After(seconds{20});
  EXPECT_EQ(Of(r).state, "BACKOFF");
  EXPECT_EQ(Of(r).waits_for, "the outcome of a request without a clear answer");

  Reconciling leaving(JobBuilder().Build());
  leaving.ToRunning().Node(NodeState::kPreempted);
  EXPECT_EQ(Of(leaving).waits_for, "the last slice to be deleted");
}

TEST(Explain, AMissingSliceIsNamed) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().Absent();
  EXPECT_THAT(Of(r).facts, Contains("slice train-000042-a1 in us-central2-b, 4 hosts: the cloud "
                                    "says READY, but the last listing did not show it"));
}

TEST(Explain, ASilentCloudIsShownUntilItAnswers) {
  const base::Error refused{.code = Code::kUnavailable,
                            .message = "cannot reach the API: connection refused",
                            .reason = Reason::kUnreachable,
                            .hint = "check the network"};
  Reconciling r(JobBuilder().Build());
  r.ToRunning().NoAnswer(refused).After(minutes{5}).NoAnswer(refused);
  EXPECT_FALSE(r.changed()) << "the second failed look changes nothing";
  EXPECT_EQ(Of(r).state, "RUNNING");
  EXPECT_THAT(Of(r).facts,
              Contains("the cloud has not answered for 5m, so the slice is left alone: "
                       "cannot reach the API: connection refused"));
  EXPECT_EQ(Of(r).next_step, "check the network");
  r.Ready();
  EXPECT_THAT(Of(r).facts, testing::Not(Contains(HasSubstr("connection refused"))));
  EXPECT_THAT(Of(r).next_step, IsEmpty());
}

TEST(Explain, ACloudThatRefusesToAnswerIsNotCalledSilent) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().NoAnswer({.code = Code::kPermissionDenied, .message = "denied"});
  EXPECT_THAT(Of(r).facts, Contains("the cloud has refused for 0s to show the slice, which is left "
                                    "alone: denied"));
}

TEST(Explain, ARefusalForGoodNamesTheCallThatWasRefused) {
  base::Error refused{.code = Code::kInvalidArgument, .message = "no such type."};
  refused.context = {"POST /v2/projects/p/locations/z/nodes"};
  Reconciling r(JobBuilder().Build());
  r.Tick().Refused(refused);
  EXPECT_EQ(Of(r).state, "FAILED");
  EXPECT_EQ(Of(r).because, "no such type (POST /v2/projects/p/locations/z/nodes)");
}

TEST(Explain, TheCureOfASilentCloudComesFirst) {
  const base::Error stockout{.code = Code::kResourceExhausted,
                             .message = "no more capacity",
                             .reason = Reason::kStockout,
                             .hint = "another zone"};
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick().Answered().Failed(stockout);
  EXPECT_EQ(Of(r).next_step, "another zone");
  r.NoAnswer({.code = Code::kUnauthenticated, .message = "no token", .hint = "log in"});
  EXPECT_EQ(Of(r).state, "BACKOFF");
  EXPECT_EQ(Of(r).next_step, "log in") << "nothing else helps before";
}

TEST(Explain, AFailureLeadsToTheLog) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostEnds(2, 3).AllEnd(143);
  EXPECT_EQ(Of(r).state, "FAILED");
  EXPECT_EQ(Of(r).next_step, "jobman logs 000042 --stage run --host 2");
}

TEST(Explain, ADeletionWaitsForTheHostsFirst) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning(2).WishFor(Wish::kDelete);
  EXPECT_EQ(Of(r).waits_for, "the remote processes to end on hosts 0-1");
  r.HostEnds(0, 143).HostEnds(1, 143);
  EXPECT_EQ(Of(r).waits_for, "the cloud to delete the slice");
}

/// The default grace is 30 s, and after half a minute more jobman goes on.
TEST(Explain, AHostThatDoesNotStopIsNamedAndWhenItIsLeft) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kDelete);
  for (const int host : {0, 2, 3}) r.HostEnds(host, 143);
  EXPECT_EQ(Of(r).waits_for, "the remote processes to end on host 1");
  r.clock.Advance(seconds{35});
  EXPECT_EQ(Of(r).waits_for, "the remote processes to end on host 1");
  r.clock.Advance(seconds{5});
  EXPECT_EQ(Of(r).waits_for, "host 1, which does not answer: jobman goes on without it in 20s");
  r.clock.Advance(minutes{1});
  EXPECT_EQ(Of(r).waits_for, "host 1, which does not answer: jobman goes on without it soon");
}

TEST(Explain, AfterAFailureTheHostsThatStillHaveToStopAreNamed) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().HostEnds(0, 1);
  EXPECT_EQ(Of(r).state, "RUNNING");
  EXPECT_THAT(Of(r).waits_for, HasSubstr("the remote processes to end on hosts "));
  r.clock.Advance(seconds{50});
  EXPECT_THAT(Of(r).waits_for,
              HasSubstr(", which do not answer: jobman goes on without them in 10s"));
}

TEST(Explain, AHeldSliceIsNamed) {
  Reconciling r(JobBuilder().Build());
  EXPECT_EQ(Of(r.ToDone()).next_step,
            "the slice is still held; to give it back: jobman delete 000042");
  EXPECT_EQ(Of(r.WishFor(Wish::kDelete)).waits_for, "the cloud to delete the slice");
  EXPECT_EQ(Of(r.Gone()).next_step, "to drop its records and logs: jobman clean 000042");
}

TEST(Explain, ACancelledJobCanBeResumed) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kCancel);
  EXPECT_EQ(Of(r).waits_for, "the remote processes to end on hosts 0-3");
  EXPECT_EQ(Of(r.AllEnd(143)).next_step, "jobman resume 000042");
  EXPECT_THAT(Of(r).waits_for, IsEmpty());
}

TEST(FamiliarStatus, UsesTheWordsOfThePythonJobman) {
  Reconciling r(JobBuilder().Step("install").Retries({.preemption = 0}).Build());
  EXPECT_EQ(FamiliarStatus(r.job()), "QUEUEING");
  r.Tick().Answered().Ready();
  EXPECT_EQ(FamiliarStatus(r.job()), "RUNNING");
  r.AllEnd().AllEnd();
  EXPECT_EQ(FamiliarStatus(r.job()), "IDLE");
  r.WishFor(Wish::kRun).Ready().Queued(QueuedState::kSuspended);
  EXPECT_EQ(FamiliarStatus(r.job()), "DEAD");
}

TEST(FamiliarStatus, AJobThatIsBeingStoppedIsNotQueued) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kDelete);
  EXPECT_EQ(FamiliarStatus(r.job()), "RUNNING") << "processes are being stopped";
  r.AllEnd(143);
  EXPECT_EQ(r.state(), "DELETING");
  EXPECT_EQ(FamiliarStatus(r.job()), "DEAD");
}

}  // namespace
}  // namespace jobman::core

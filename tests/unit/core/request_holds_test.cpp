#include "jobman/core/request_holds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using test::JobBuilder;
using test::Reconciling;

const base::Error kNone = {.code = base::Code::kResourceExhausted,
                           .message = "There is no more capacity in the zone",
                           .reason = base::Reason::kStockout};

/// Jobs of one controller that all want the same capacity, in a zone without any.
class Waiting {
 public:
  explicit Waiting(int count, bool queued = false) : queued_(queued) {
    for (int id = 1; id <= count; ++id) {
      JobBuilder job;
      jobs_.emplace_back(queued ? job.Id(id).Build() : job.Id(id).Direct().Build());
    }
    for (int i = 0; i < count; ++i) jobs_[static_cast<std::size_t>(i)].unit_random = 0.1 * (i % 10);
  }
  /// One decision for each job now. Without capacity a request is refused at once; a queued one is
  /// accepted first.
  void Pass(bool capacity) {
    for (Reconciling& one : jobs_) {
      Decide(one, [&] { one.After(Duration{0}); });
      const bool asks = !one.effects().empty() && one.effects().front().starts_with("CreateSlice ");
      if (!asks) continue;
      ++requests_;
      if (capacity)
        Decide(one, [&] { one.Answered().Ready(4); });
      else if (!queued_)
        Decide(one, [&] { one.Refused(kNone); });
      else
        FailInTheQueue(one);
    }
  }
  void Advance(Duration step) {
    for (Reconciling& one : jobs_) one.clock.Advance(step);
  }
  int requests() const { return requests_; }
  /// For how long no job may make a request.
  Duration Hold() const {
    const auto hold = zone_.HoldFor(jobs_[0].job());
    return hold ? hold->not_before - jobs_[0].clock.Now() : Duration{0};
  }
  int running() const {
    return static_cast<int>(std::count_if(jobs_.begin(), jobs_.end(), [](const Reconciling& one) {
      return one.state() == "RUNNING";
    }));
  }

 private:
  template <class Act>
  void Decide(Reconciling& one, Act act) {
    one.policy.hold = zone_.HoldFor(one.job());
    const Job before = one.job();
    act();
    zone_.Learn(before, one.job(), one.clock.Now(), one.unit_random);
  }

  void FailInTheQueue(Reconciling& one) {
    Decide(one, [&] { one.Answered().Queued(QueuedState::kWaitingForResources); });
    Decide(one, [&] { one.Queued(QueuedState::kProvisioning); });
    Decide(one, [&] { one.Queued(QueuedState::kSuspending); });
    Decide(one, [&] { one.Gone(); });
  }

  bool queued_;
  std::vector<Reconciling> jobs_ = {};
  RequestHolds zone_ = {};
  int requests_ = 0;
};

int RequestsInAnHour(int jobs, bool queued = false) {
  Waiting waiting(jobs, queued);
  for (int step = 0; step < 3600 / 5; ++step) {
    waiting.Pass(false);
    waiting.Advance(seconds{5});
  }
  return waiting.requests();
}

TEST(RequestHolds, FiftyJobsRequestAboutAsOftenAsOne) {
  const int one = RequestsInAnHour(1);
  const int fifty = RequestsInAnHour(50);
  EXPECT_GE(one, 6);
  EXPECT_GE(fifty, 6) << "the cap is ten minutes";
  EXPECT_LE(fifty, 2 * one);
}

TEST(RequestHolds, TheSameHoldsWhenTheQueueAcceptsBeforeItFails) {
  const int one = RequestsInAnHour(1, /*queued=*/true);
  const int fifty = RequestsInAnHour(50, /*queued=*/true);
  EXPECT_GE(one, 6);
  EXPECT_GE(fifty, 6);
  EXPECT_LE(fifty, 2 * one);
}

TEST(RequestHolds, RefusalsOfLongAgoDoNotMakeTheHoldLonger) {
  Waiting waiting(1);
  waiting.Pass(false);
  const Duration first = waiting.Hold();
  for (int step = 0; step < 3600 / 5; ++step) {
    waiting.Advance(seconds{5});
    waiting.Pass(false);
  }
  const int before = waiting.requests();
  waiting.Advance(minutes{24 * 60});
  waiting.Pass(false);
  ASSERT_EQ(waiting.requests(), before + 1);
  EXPECT_LE(waiting.Hold(), first);
}

TEST(RequestHolds, WhenOneStaysInTheQueueAllMayRequest) {
  Reconciling first(JobBuilder().Build());
  first.Tick();
  RequestHolds zone;
  const Job asked = first.job();
  first.Refused(kNone);
  zone.Learn(asked, first.job(), first.clock.Now(), 0.5);
  Reconciling second(JobBuilder().Id(43).Build());
  second.Tick().Answered().Queued(QueuedState::kWaitingForResources);
  zone.Learn(second.job(), second.job(), second.clock.Now(), 0.5);
  EXPECT_TRUE(zone.HoldFor(first.job())) << "acceptance proves little";
  second.clock.Advance(minutes{3});
  zone.Learn(second.job(), second.job(), second.clock.Now(), 0.5);
  EXPECT_FALSE(zone.HoldFor(first.job()));
}

TEST(RequestHolds, AnOldRequestInTheQueueDoesNotEndANewHold) {
  Reconciling first(JobBuilder().Build());
  first.Tick().Answered().Queued(QueuedState::kWaitingForResources);
  first.clock.Advance(minutes{60});
  Reconciling second(JobBuilder().Id(43).Build());
  second.clock.Advance(minutes{60});
  second.Tick();
  const Job asked = second.job();
  second.Refused(kNone);
  RequestHolds zone;
  zone.Learn(asked, second.job(), second.clock.Now(), 0.5);
  zone.Learn(first.job(), first.job(), first.clock.Now(), 0.5);
  EXPECT_TRUE(zone.HoldFor(second.job()));
}

TEST(RequestHolds, WhenOneIsGrantedAllMayRequest) {
  Waiting waiting(5);
  waiting.Pass(false);
  EXPECT_EQ(waiting.requests(), 1) << "the others wait with the first";
  for (int minute = 0; minute < 11 && waiting.running() < 5; ++minute) {
    waiting.Advance(minutes{1});
    waiting.Pass(true);
  }
  EXPECT_EQ(waiting.running(), 5);
}

TEST(RequestHolds, OtherTypesAndZonesAreNotHeldUp) {
  Job refused = JobBuilder().Direct().Build();
  Reconciling r(refused);
  r.Tick();
  const Job asked = r.job();
  r.Refused(kNone);
  RequestHolds zone;
  zone.Learn(asked, r.job(), r.clock.Now(), 0.5);
  EXPECT_TRUE(zone.HoldFor(r.job()));
  Job other = refused;
  other.spec.tpu.zone = "europe-west4-a";
  EXPECT_FALSE(zone.HoldFor(other));
  other = refused;
  other.spec.tpu.accelerator = "v4-8";
  EXPECT_FALSE(zone.HoldFor(other));
}

TEST(RequestHolds, ARateLimitHoldsForTheWholeProject) {
  const base::Error too_often = {.code = base::Code::kResourceExhausted,
                                 .reason = base::Reason::kRateLimit};
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick();
  const Job asked = r.job();
  r.Refused(too_often);
  RequestHolds zone;
  zone.Learn(asked, r.job(), r.clock.Now(), 0.5);
  Reconciling other(JobBuilder().Id(43).Direct().Build());
  Job elsewhere = other.job();
  elsewhere.spec.tpu.zone = "europe-west4-a";
  elsewhere.spec.tpu.accelerator = "v4-8";
  ASSERT_TRUE(zone.HoldFor(elsewhere));
  EXPECT_EQ(zone.HoldFor(elsewhere)->error.reason, base::Reason::kRateLimit);
  Job of_another = other.job();
  of_another.spec.tpu.project = "another";
  EXPECT_FALSE(zone.HoldFor(of_another));
  // Another error shows that the project may request again.
  other.Tick();
  const Job before = other.job();
  other.Refused(kNone);
  zone.Learn(before, other.job(), other.clock.Now(), 0.5);
  EXPECT_FALSE(zone.HoldFor(elsewhere));
  EXPECT_TRUE(zone.HoldFor(other.job()));
}

TEST(RequestHolds, ARestartedControllerKnowsOfTheShortage) {
  Reconciling r(JobBuilder().Direct().Build());
  r.Tick().Refused(kNone);
  RequestHolds zone;
  zone.Recall(r.job());
  ASSERT_TRUE(zone.HoldFor(r.job()));
  EXPECT_EQ(zone.HoldFor(r.job())->not_before, r.As<BackingOff>().until);
  Reconciling fresh(JobBuilder().Id(43).Direct().Build());
  fresh.policy.hold = zone.HoldFor(fresh.job());
  fresh.Tick();
  EXPECT_EQ(fresh.state(), "BACKOFF");
  EXPECT_EQ(fresh.job().attempt, 0) << "it has not requested";
}

TEST(RequestHolds, TheLaterOfTwoHoldsCounts) {
  const base::Error too_often = {.code = base::Code::kResourceExhausted,
                                 .reason = base::Reason::kRateLimit};
  for (const bool rate_limit_first : {true, false}) {
    RequestHolds zone;
    Job job = JobBuilder().Direct().Build();
    const TimePoint now = Reconciling(job).clock.Now();
    job.state = BackingOff{.until = now + minutes{rate_limit_first ? 1 : 9}, .error = too_often};
    zone.Recall(job);
    job.state = BackingOff{.until = now + minutes{rate_limit_first ? 9 : 1}, .error = kNone};
    zone.Recall(job);
    EXPECT_EQ(zone.HoldFor(job)->not_before, now + minutes{9}) << rate_limit_first;
  }
}

TEST(RequestHolds, AnAcceptedRequestEndsARateLimit) {
  Job told = JobBuilder().Build();
  told.state = BackingOff{
      .until = base::TimePoint{} + minutes{9},
      .error = {.code = base::Code::kResourceExhausted, .reason = base::Reason::kRateLimit}};
  RequestHolds zone;
  zone.Recall(told);
  Reconciling other(JobBuilder().Id(43).Build());
  const Job queued = other.job();
  other.Tick();
  zone.Learn(queued, other.job(), other.clock.Now(), 0.5);
  EXPECT_TRUE(zone.HoldFor(told)) << "it has only asked";
  const Job asked = other.job();
  other.Answered();
  zone.Learn(asked, other.job(), other.clock.Now(), 0.5);
  EXPECT_FALSE(zone.HoldFor(told));
}

}  // namespace
}  // namespace jobman::core

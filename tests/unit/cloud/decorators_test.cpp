#include "jobman/cloud/decorators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_slice_api.hpp"
#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using base::Error;
using base::Reason;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::FakeClock;
using test::FakeSliceApi;
using test::Loop;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const core::Place kPlace{.project = "p", .zone = "us-central2-b"};
const Error kUnavailable{.code = Code::kUnavailable, .message = "HTTP status 503"};
const Error kTooFast{.code = Code::kResourceExhausted,
                     .message = "too many requests",
                     .reason = Reason::kRateLimit,
                     .retry_after = seconds{7}};

core::SliceRequest Request(const std::string& name) {
  core::SliceRequest request{.ref = {.place = kPlace, .name = name}};
  request.tpu.accelerator = "v4-8";
  return request;
}

/// The decorator under test owns its inner object; the test keeps a pointer to it.
class DecoratorTest : public testing::Test {
 protected:
  Inner TakeFake() { return std::move(owned_); }
  /// Waits by moving the clock, and records how long.
  Sleeper FakeSleep() {
    return [this](Duration wait) -> base::Task<void> { return Slept(this, wait); };
  }
  Inner Retry(RetryPolicy policy = {}) {
    return MakeRetrySliceApi(TakeFake(), policy, FakeSleep(), [] { return 0.5; });
  }

  Loop loop;
  FakeClock clock;
  std::vector<Duration> waits;

 private:
  static base::Task<void> Slept(DecoratorTest* self, Duration wait) {
    self->waits.push_back(wait);
    self->clock.Advance(wait);
    co_return;
  }
  std::unique_ptr<FakeSliceApi> owned_ = std::make_unique<FakeSliceApi>(clock);

 protected:
  FakeSliceApi& fake = *owned_;
};

TEST_F(DecoratorTest, RetryRepeatsAReadUntilItWorks) {
  fake.AddFault({.call = "ListNodes", .error = kUnavailable, .times = 2});
  const auto api = Retry();
  EXPECT_TRUE(loop.Run(api->ListNodes(kPlace)).ok());
  EXPECT_EQ(fake.CountCalls("ListNodes"), 3);
  EXPECT_THAT(waits, ElementsAre(milliseconds{250}, milliseconds{500}));
}

TEST_F(DecoratorTest, RetryGivesUpAndSaysSo) {
  fake.AddFault({.call = "GetNode", .error = kUnavailable, .times = 99});
  const auto api = Retry();
  const auto node = loop.Run(api->GetNode(kPlace, "n"));
  ASSERT_FALSE(node.ok());
  EXPECT_EQ(node.error().code, Code::kUnavailable);
  EXPECT_EQ(node.error().ToString(), "gave up after 3 tries: HTTP status 503");
  EXPECT_EQ(fake.CountCalls("GetNode"), 3);
}

TEST_F(DecoratorTest, RetryNeverRepeatsACreate) {
  fake.AddFault({.call = "Create", .error = kUnavailable, .reply_lost = true});
  const auto api = Retry();
  EXPECT_FALSE(loop.Run(api->Create(Request("n"))).ok());
  EXPECT_EQ(fake.CountCalls("Create"), 1);
  EXPECT_THAT(waits, IsEmpty());
}

TEST_F(DecoratorTest, RetryRepeatsADeleteWhoseAnswerWasLost) {
  ASSERT_TRUE(loop.Run(fake.Create(Request("n"))).ok());
  fake.AddFault({.call = "Delete", .error = kUnavailable, .reply_lost = true});
  const auto api = Retry();
  const auto deleted = loop.Run(api->Delete(Request("n").ref));
  ASSERT_FALSE(deleted.ok());
  EXPECT_EQ(deleted.error().code, Code::kNotFound);
  EXPECT_THAT(deleted.error().ToString(), HasSubstr("after 2 tries"));
  EXPECT_THAT(fake.Leftovers(), IsEmpty());
}

TEST_F(DecoratorTest, RetryDoesNotRepeatPermanentErrors) {
  for (const Code code : {Code::kInvalidArgument, Code::kPermissionDenied, Code::kNotFound,
                          Code::kUnauthenticated, Code::kCancelled, Code::kResourceExhausted}) {
    fake.AddFault({.call = "ListQueued", .error = {.code = code, .message = "m"}});
  }
  const auto api = Retry();
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(loop.Run(api->ListQueued(kPlace)).error().ToString(), "m");
  }
  EXPECT_EQ(fake.CountCalls("ListQueued"), 6);
  EXPECT_THAT(waits, IsEmpty());
}

TEST_F(DecoratorTest, RetryHonoursRetryAfter) {
  fake.AddFault({.call = "ListNodes", .error = kTooFast});
  const auto api = Retry();
  EXPECT_TRUE(loop.Run(api->ListNodes(kPlace)).ok());
  EXPECT_THAT(waits, ElementsAre(seconds{7}));
}

TEST_F(DecoratorTest, RetryDoesNotSleepForLong) {
  Error slow = kTooFast;
  slow.retry_after = seconds{60};
  fake.AddFault({.call = "ListNodes", .error = slow});
  const auto api = Retry();
  const auto nodes = loop.Run(api->ListNodes(kPlace));
  ASSERT_FALSE(nodes.ok());
  EXPECT_EQ(nodes.error().retry_after, seconds{60});
  EXPECT_THAT(nodes.error().ToString(), HasSubstr("did not wait the 1m"));
  EXPECT_THAT(waits, IsEmpty());
}

TEST_F(DecoratorTest, RateLimitLetsABurstThroughAndThenSpacesCalls) {
  const RatePolicy policy{.per_second = 2.0, .burst = 3.0};
  const auto api = MakeRateLimitSliceApi(TakeFake(), policy, clock, FakeSleep());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(loop.Run(api->ListNodes(kPlace)).ok());
  EXPECT_THAT(waits, ElementsAre(milliseconds{500}, milliseconds{500}));
}

TEST_F(DecoratorTest, RateLimitRefillsWithTime) {
  const RatePolicy policy{.per_second = 2.0, .burst = 2.0};
  const auto api = MakeRateLimitSliceApi(TakeFake(), policy, clock, FakeSleep());
  for (int i = 0; i < 2; ++i) loop.Run(api->ListNodes(kPlace)).ok();
  clock.Advance(seconds{60});
  for (int i = 0; i < 2; ++i) loop.Run(api->ListNodes(kPlace)).ok();
  EXPECT_THAT(waits, IsEmpty());
  loop.Run(api->ListNodes(kPlace)).ok();
  EXPECT_THAT(waits, ElementsAre(milliseconds{500}));
}

TEST_F(DecoratorTest, ARateLimitAnswerStopsEveryCallOfTheClient) {
  fake.AddFault({.call = "ListNodes", .error = kTooFast});
  const RatePolicy policy{.per_second = 2.0, .burst = 10.0};
  const auto api = MakeRateLimitSliceApi(TakeFake(), policy, clock, FakeSleep());
  EXPECT_FALSE(loop.Run(api->ListNodes(kPlace)).ok());
  EXPECT_TRUE(loop.Run(api->ListQueued(kPlace)).ok());
  EXPECT_THAT(waits, ElementsAre(seconds{7}));
  waits.clear();
  // The burst is used up, and the rate is about half of before.
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(loop.Run(api->ListQueued(kPlace)).ok());
  EXPECT_THAT(waits, testing::Each(testing::Gt(milliseconds{900})));
  EXPECT_EQ(waits.size(), 2U);
}

TEST_F(DecoratorTest, RateLimitSurvivesAClockThatGoesBack) {
  const RatePolicy policy{.per_second = 1.0, .burst = 1.0};
  const auto api = MakeRateLimitSliceApi(TakeFake(), policy, clock, FakeSleep());
  EXPECT_TRUE(loop.Run(api->ListNodes(kPlace)).ok());
  clock.Advance(-std::chrono::hours{1});
  EXPECT_TRUE(loop.Run(api->ListNodes(kPlace)).ok());
  EXPECT_THAT(waits, ElementsAre(seconds{1}));
}

TEST_F(DecoratorTest, LoggingPassesAnswersThrough) {
  const auto api = MakeLoggingSliceApi(TakeFake());
  EXPECT_TRUE(loop.Run(api->Create(Request("n"))).ok());
  EXPECT_EQ(loop.Run(api->ListNodes(kPlace))->size(), 1U);
  EXPECT_EQ(loop.Run(api->GetQueued(kPlace, "x")).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace jobman::cloud

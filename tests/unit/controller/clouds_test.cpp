#include "controller/clouds.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_slice_api.hpp"

namespace jobman::controller {
namespace {

/// Clouds that open when the test says so.
class CloudsTest : public testing::Test {
 protected:
  CloudsTest() {
    ports_.open_cloud = [this](core::CloudSpec) { return Open(this); };
  }
  static base::Task<Clouds::Opened> Open(CloudsTest* self) {
    ++self->opened_;
    while (self->held_) co_await self->go_.Wait();
    if (self->error_) co_return *self->error_;
    co_return std::make_shared<test::FakeSliceApi>(self->clock_);
  }

  using Answer = std::shared_ptr<std::optional<Clouds::Opened>>;
  Answer Get(const std::string& endpoint, const base::CancelScope& scope) {
    auto answer = std::make_shared<std::optional<Clouds::Opened>>();
    const auto task = [](Clouds* clouds, std::string at, Answer out) -> base::Task<void> {
      core::CloudSpec spec{.endpoint = at};
      *out = co_await clouds->Get(std::move(spec));
    };
    base::Spawn(loop_.get_executor(), scope, task(&clouds_, endpoint, answer));
    Turn();
    return answer;
  }
  Answer Get(const std::string& endpoint) { return Get(endpoint, scope_); }
  void LetGo() {
    held_ = false;
    go_.WakeAll();
    Turn();
  }
  void Turn() {
    loop_.restart();
    loop_.poll();
  }

  asio::io_context loop_;
  base::CancelScope scope_;
  test::FakeClock clock_;
  Ports ports_;
  int opened_ = 0;
  bool held_ = false;
  std::optional<base::Error> error_ = {};
  base::Waiters go_ = {};
  Clouds clouds_{ports_};
};

TEST_F(CloudsTest, EachCloudIsOpenedOnceUntilItIsForgotten) {
  const auto first = Get("local");
  EXPECT_EQ(first->value().value(), Get("local")->value().value());
  EXPECT_EQ(opened_, 1);
  Get("https://elsewhere");
  EXPECT_EQ(opened_, 2);
  clouds_.Forget({.endpoint = "local"});
  Get("local");
  EXPECT_EQ(opened_, 3);
}

TEST_F(CloudsTest, ASlowCloudIsOpenedOnceForAllCallersAndDelaysNoOther) {
  held_ = true;
  const auto first = Get("local"), second = Get("local");
  EXPECT_EQ(opened_, 1);
  EXPECT_FALSE(*first || *second);
  held_ = false;
  EXPECT_TRUE(*Get("https://elsewhere"));
  LetGo();
  ASSERT_TRUE(*first && *second);
  EXPECT_EQ(first->value().value(), second->value().value());
  EXPECT_EQ(opened_, 2);
}

TEST_F(CloudsTest, AllWaitersGetAFailureAndItIsNotCached) {
  held_ = true;
  error_ = base::Error{.code = base::Code::kUnavailable};
  const auto first = Get("local"), second = Get("local");
  LetGo();
  EXPECT_FALSE(first->value().ok() || second->value().ok());
  EXPECT_EQ(opened_, 1);
  error_.reset();
  EXPECT_TRUE(Get("local")->value().ok());
}

TEST_F(CloudsTest, AWaiterOpensTheCloudWhenTheFirstCallerIsCancelled) {
  held_ = true;
  std::optional<base::CancelScope> gone(std::in_place);
  Get("local", *gone);
  const auto second = Get("local"), third = Get("local");
  gone.reset();
  Turn();
  Turn();
  EXPECT_EQ(opened_, 2);
  LetGo();
  Turn();
  EXPECT_TRUE(*second && *third);
  EXPECT_EQ(opened_, 2);
}

}  // namespace
}  // namespace jobman::controller

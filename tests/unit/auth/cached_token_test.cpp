#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <asio/this_coro.hpp>
#include <deque>

#include "jobman/auth/token_source.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_transport.hpp"

namespace jobman::auth {
namespace {

using base::Code;
using base::Error;
using std::chrono::minutes;
using test::FakeClock;
using test::Loop;

const Error kFailed{.code = Code::kUnauthenticated, .message = "no"};

/// Returns prepared answers after some turns of the loop.
class Scripted final : public TokenSource {
 public:
  struct State {
    std::deque<Result<AccessToken>> answers = {};
    int calls = 0;
    int invalidated = 0;
  };
  explicit Scripted(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Task<Result<AccessToken>> Get() override {
    ++state_->calls;
    for (int turn = 0; turn < 5; ++turn) co_await base::Yield();
    if (state_->answers.empty()) co_return kFailed;
    auto answer = state_->answers.front();
    state_->answers.pop_front();
    co_return answer;
  }
  void Invalidate() override { ++state_->invalidated; }

 private:
  std::shared_ptr<State> state_;
};

base::Task<void> Collect(TokenSource* source, std::vector<std::string>* out) {
  const auto token = co_await source->Get();
  out->push_back(token ? token->value : token.error().message);
}

class CachedToken : public testing::Test {
 protected:
  void Give(const std::string& value, std::optional<base::Duration> life) {
    AccessToken token{.value = value};
    if (life) token.expires = clock.Now() + *life;
    inner->answers.push_back(token);
  }
  std::string Get() {
    const auto token = loop.Run(source->Get());
    return token ? token->value : token.error().message;
  }

  FakeClock clock;
  Loop loop;
  std::shared_ptr<Scripted::State> inner = std::make_shared<Scripted::State>();
  std::unique_ptr<TokenSource> source =
      MakeCachedTokenSource(std::make_unique<Scripted>(inner), clock);
};

TEST_F(CachedToken, IsKeptUntilFiveMinutesBeforeItExpires) {
  Give("one", minutes{60});
  EXPECT_EQ(Get(), "one");
  clock.Advance(minutes{54});
  EXPECT_EQ(Get(), "one");
  EXPECT_EQ(inner->calls, 1);
  clock.Advance(minutes{1});
  Give("two", minutes{60});
  EXPECT_EQ(Get(), "two");
}

TEST_F(CachedToken, IsKeptTenMinutesWithoutALifetime) {
  Give("one", {});
  Give("two", {});
  EXPECT_EQ(Get(), "one");
  clock.Advance(minutes{9});
  EXPECT_EQ(Get(), "one");
  clock.Advance(minutes{1});
  EXPECT_EQ(Get(), "two");
}

TEST_F(CachedToken, IsForgottenWhenRefused) {
  Give("one", minutes{60});
  Give("two", minutes{60});
  EXPECT_EQ(Get(), "one");
  source->Invalidate();
  EXPECT_EQ(inner->invalidated, 1);
  EXPECT_EQ(Get(), "two");
}

TEST_F(CachedToken, AServiceThatRefusesEveryTokenForcesTwoRefreshesAMinute) {
  for (const char* value : {"one", "two", "three"}) Give(value, minutes{60});
  EXPECT_EQ(Get(), "one");
  for (int refusal = 0; refusal < 3; ++refusal) {
    source->Invalidate();
    EXPECT_EQ(Get(), "two");
  }
  EXPECT_EQ(inner->invalidated, 1);
  clock.Advance(std::chrono::seconds{31});
  source->Invalidate();
  EXPECT_EQ(Get(), "three");
}

TEST_F(CachedToken, IsUsedUntilItExpiresWhenARefreshFails) {
  Give("one", minutes{60});
  EXPECT_EQ(Get(), "one");
  clock.Advance(minutes{57});
  EXPECT_EQ(Get(), "one");
  EXPECT_EQ(inner->calls, 2);
  clock.Advance(minutes{4});
  EXPECT_EQ(Get(), "no");
}

TEST_F(CachedToken, WhileItServesAServerThatFailsIsAskedTwiceAMinute) {
  Give("one", minutes{60});
  EXPECT_EQ(Get(), "one");
  clock.Advance(minutes{56});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Get(), "one");
  EXPECT_EQ(inner->calls, 2);
  clock.Advance(std::chrono::seconds{31});
  Give("two", minutes{60});
  EXPECT_EQ(Get(), "two");
}

TEST_F(CachedToken, ServesOthersWhileANewOneIsFetched) {
  Give("one", minutes{60});
  EXPECT_EQ(Get(), "one");
  clock.Advance(minutes{56});
  Give("two", minutes{60});
  std::vector<std::string> got;
  for (int i = 0; i < 3; ++i) {
    base::Spawn(loop.context.get_executor(), Collect(source.get(), &got));
  }
  loop.context.restart();
  loop.context.run();
  EXPECT_EQ(got, (std::vector<std::string>{"one", "one", "two"}));
  EXPECT_EQ(inner->calls, 2);
}

TEST_F(CachedToken, AnErrorIsNotCached) {
  inner->answers.push_back(kFailed);
  Give("one", minutes{60});
  EXPECT_EQ(Get(), "no");
  EXPECT_EQ(Get(), "one");
}

TEST_F(CachedToken, ManyCallersShareOneRefresh) {
  Give("one", minutes{60});
  std::vector<std::string> got;
  for (int i = 0; i < 10; ++i) {
    base::Spawn(loop.context.get_executor(), Collect(source.get(), &got));
  }
  loop.context.run();
  EXPECT_EQ(got, std::vector<std::string>(10, "one"));
  EXPECT_EQ(inner->calls, 1);
}

TEST_F(CachedToken, ManyCallersShareOneFailure) {
  inner->answers.push_back(kFailed);
  std::vector<std::string> got;
  for (int i = 0; i < 10; ++i) {
    base::Spawn(loop.context.get_executor(), Collect(source.get(), &got));
  }
  loop.context.run();
  EXPECT_EQ(got, std::vector<std::string>(10, "no"));
  EXPECT_EQ(inner->calls, 1);
}

TEST_F(CachedToken, ACancelledCallerLeavesTheOthersToAskAgain) {
  Give("one", minutes{60});
  std::vector<std::string> first;
  std::vector<std::string> others;
  base::CancelScope scope;
  base::Spawn(loop.context.get_executor(), scope, Collect(source.get(), &first));
  for (int i = 0; i < 3; ++i) {
    base::Spawn(loop.context.get_executor(), Collect(source.get(), &others));
  }
  for (int turn = 0; turn < 6; ++turn) loop.context.poll_one();
  EXPECT_EQ(inner->calls, 1);
  scope.Cancel();
  loop.context.run();
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(others, std::vector<std::string>(3, "one"));
  EXPECT_EQ(inner->calls, 2);
}

}  // namespace
}  // namespace jobman::auth

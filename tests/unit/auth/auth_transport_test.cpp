#include "jobman/auth/auth_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_transport.hpp"

namespace jobman::auth {
namespace {

using base::Code;
using test::FakeTransport;
using test::Loop;
using testing::ElementsAre;
using testing::IsEmpty;

/// Returns token-1 until it is invalidated, then token-2, ... up to `last`.
class Counting final : public TokenSource {
 public:
  explicit Counting(std::shared_ptr<int> number, int last)
      : number_(std::move(number)), last_(last) {}
  Task<Result<AccessToken>> Get() override {
    co_await base::Yield();
    co_return AccessToken{.value = "token-" + std::to_string(*number_)};
  }
  void Invalidate() override { *number_ = std::min(*number_ + 1, last_); }

 private:
  std::shared_ptr<int> number_;
  int last_;
};

class AuthTransportTest : public testing::Test {
 protected:
  std::unique_ptr<http::Transport> With(std::unique_ptr<TokenSource> tokens) {
    Identity identity{.tokens = std::move(tokens), .quota_project = quota_project};
    return MakeAuthTransport(std::make_unique<FakeTransport>(script), std::move(identity));
  }
  Result<http::Response> Send(http::Transport& transport, const std::string& url) {
    http::Request request{.url = url};
    return loop.Run(transport.Send(std::move(request)));
  }
  std::vector<std::string> SentTokens() const {
    std::vector<std::string> all;
    for (const auto& request : script->requests) {
      all.push_back(http::FindHeader(request.headers, "authorization").value_or("none"));
    }
    return all;
  }

  std::string quota_project = {};
  Loop loop;
  std::shared_ptr<FakeTransport::Script> script = std::make_shared<FakeTransport::Script>();
  std::shared_ptr<int> number = std::make_shared<int>(1);
};

TEST_F(AuthTransportTest, SaysWhoAsksAndWhosePays) {
  script->Answer(200, "{}");
  script->Answer(200, "{}");
  EXPECT_TRUE(Send(*With(MakeFixedTokenSource("abc", "x")), "https://h/").ok());
  quota_project = "lab";
  EXPECT_TRUE(Send(*With(MakeFixedTokenSource("abc", "x")), "https://h/").ok());
  const auto& sent = script->requests;
  EXPECT_EQ(http::FindHeader(sent[0].headers, "x-goog-user-project"), std::nullopt);
  EXPECT_EQ(http::FindHeader(sent[1].headers, "x-goog-user-project"), "lab");
  EXPECT_THAT(http::FindHeader(sent[1].headers, "x-goog-api-client").value_or(""),
              testing::StartsWith("gl-cpp/20 jobman/"));
}

TEST_F(AuthTransportTest, AddsTheToken) {
  script->Answer(200, "{}");
  const auto transport = With(MakeFixedTokenSource("abc", "x"));
  EXPECT_EQ(Send(*transport, "https://h/")->status, 200);
  EXPECT_THAT(SentTokens(), ElementsAre("Bearer abc"));
}

TEST_F(AuthTransportTest, AddsNothingWithoutAToken) {
  script->Answer(401, "{}");
  const auto transport = With(MakeNoTokenSource());
  EXPECT_EQ(Send(*transport, "http://10.0.0.1/")->status, 401);
  EXPECT_THAT(SentTokens(), ElementsAre("none"));
}

TEST_F(AuthTransportTest, SendsNoTokenUnencryptedToAnotherMachine) {
  const auto transport = With(MakeFixedTokenSource("SECRET", "x"));
  for (const char* url : {"http://tpu.googleapis.com/", "http://127.0.0.1.example.org/",
                          "http://127.0.0.256/", "http://127.1/", "http://0.0.0.0/"}) {
    const auto answer = Send(*transport, url);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, Code::kInvalidArgument);
    EXPECT_THAT(answer.error().ToString(), testing::Not(testing::HasSubstr("SECRET")));
  }
  EXPECT_THAT(script->requests, IsEmpty());
}

TEST_F(AuthTransportTest, SendsTheTokenUnencryptedToThisMachine) {
  script->Answer(200, "{}");
  const auto transport = With(MakeFixedTokenSource("abc", "x"));
  EXPECT_TRUE(Send(*transport, "http://127.0.0.1:8080/").ok());
  EXPECT_THAT(SentTokens(), ElementsAre("Bearer abc"));
}

TEST_F(AuthTransportTest, RefreshesOnceAfterA401) {
  script->Answer(401, "old");
  script->Answer(200, "good");
  const auto transport = With(std::make_unique<Counting>(number, 9));
  EXPECT_EQ(Send(*transport, "https://h/")->body, "good");
  EXPECT_THAT(SentTokens(), ElementsAre("Bearer token-1", "Bearer token-2"));
}

TEST_F(AuthTransportTest, ReturnsTheSecond401) {
  script->Answer(401, "one");
  script->Answer(401, "two");
  script->Answer(200, "never");
  const auto transport = With(std::make_unique<Counting>(number, 9));
  const auto answer = Send(*transport, "https://h/");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 401);
  EXPECT_EQ(answer->body, "two");
}

TEST_F(AuthTransportTest, DoesNotRepeatWithTheSameToken) {
  script->Answer(401, "one");
  const auto transport = With(std::make_unique<Counting>(number, 1));
  EXPECT_EQ(Send(*transport, "https://h/")->body, "one");
  EXPECT_EQ(script->requests.size(), 1U);
}

TEST_F(AuthTransportTest, DoesNotRefreshAfterA403) {
  script->Answer(403, "no");
  const auto transport = With(std::make_unique<Counting>(number, 9));
  EXPECT_EQ(Send(*transport, "https://h/")->status, 403);
  EXPECT_EQ(*number, 1);
}

base::Task<void> SendOne(http::Transport* transport, std::vector<int>* statuses) {
  http::Request request{.url = "https://h/"};
  const auto answer = co_await transport->Send(std::move(request));
  statuses->push_back(answer ? answer->status : -1);
}

TEST_F(AuthTransportTest, ManyConcurrent401sRefreshOnce) {
  for (int i = 0; i < 5; ++i) script->Answer(401, "");
  for (int i = 0; i < 5; ++i) script->Answer(200, "");
  const auto transport = With(std::make_unique<Counting>(number, 9));
  std::vector<int> statuses;
  for (int i = 0; i < 5; ++i) {
    base::Spawn(loop.context.get_executor(), SendOne(transport.get(), &statuses));
  }
  loop.context.run();
  EXPECT_EQ(statuses, std::vector<int>(5, 200));
  EXPECT_EQ(*number, 2);
}

TEST_F(AuthTransportTest, PassesOnAMissingToken) {
  const auto transport = With(MakeFixedTokenSource("two words", "GOOGLE_OAUTH_ACCESS_TOKEN"));
  const auto answer = Send(*transport, "https://h/");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnauthenticated);
  EXPECT_THAT(script->requests, IsEmpty());
}

}  // namespace
}  // namespace jobman::auth

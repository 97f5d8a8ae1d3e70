// All who act with the same credentials on one loop share one source of tokens.
#include "jobman/auth/token_caches.hpp"

#include "jobman/auth/auth_transport.hpp"
#include "tests/unit/auth/credentials_fixture.hpp"

namespace jobman::auth {
namespace {

using testing::SizeIs;

constexpr const char* kServices[] = {"https://tpu.googleapis.com", "https://storage.googleapis.com",
                                     "https://compute.googleapis.com",
                                     "https://oslogin.googleapis.com"};

/// Refuses whoever comes with the first token.
class Doorman final : public http::Transport {
 public:
  explicit Doorman(int refusal) : refusal_(refusal) {}
  Task<Result<http::Response>> Send(http::Request request) override {
    co_await base::Yield();
    const std::string token = http::FindHeader(request.headers, "Authorization").value_or("");
    http::Response answer{.status = token == "Bearer one" ? refusal_ : 200};
    co_return answer;
  }

 private:
  int refusal_;
};

base::Task<void> KeepToken(std::shared_ptr<TokenSource> source, std::vector<std::string>* out) {
  const auto token = co_await source->Get();
  out->push_back(token ? token->value : token.error().ToString());
}

base::Task<void> KeepStatus(http::Transport* transport, std::vector<int>* out) {
  http::Request request{.url = "https://h/"};
  const auto answer = co_await transport->Send(std::move(request));
  out->push_back(answer ? answer->status : -1);
}

class TokenCachesTest : public CredentialsTest {
 protected:
  TokenCachesTest() { machine.caches = &CachesOf(loop.context.get_executor()); }

  /// What one who asks there takes.
  Identity At(const std::string& endpoint, TokenSettings settings) {
    settings.endpoint = endpoint;
    auto identity = ChooseIdentity(settings, machine);
    EXPECT_TRUE(identity.ok()) << identity.error().ToString();
    return identity ? std::move(identity).value() : Identity{.tokens = MakeNoTokenSource()};
  }
  /// With the file that Choose() has written.
  Identity ByFileAt(const std::string& endpoint) {
    return At(endpoint, {.credentials_file = (dir / "credentials.json").string()});
  }
  /// The tokens of all services, which ask at the same time.
  std::vector<std::string> AllAtOnce(const TokenSettings& settings) {
    std::vector<std::string> got;
    for (const char* service : kServices)
      base::Spawn(loop.context.get_executor(), KeepToken(At(service, settings).tokens, &got));
    loop.context.restart();
    loop.context.run();
    return got;
  }
  /// The statuses of requests to all services, which are sent at the same time.
  std::vector<int> SendToAll(int refusal) {
    std::vector<std::unique_ptr<http::Transport>> transports;
    std::vector<int> statuses;
    for (const char* service : kServices) {
      transports.push_back(
          MakeAuthTransport(std::make_unique<Doorman>(refusal), ByFileAt(service)));
      base::Spawn(loop.context.get_executor(), KeepStatus(transports.back().get(), &statuses));
    }
    loop.context.restart();
    loop.context.run();
    return statuses;
  }
};

TEST_F(TokenCachesTest, AllServicesShareOneExchange) {
  Grant("one");
  ASSERT_TRUE(Choose(User()).ok());
  const TokenSettings settings{.credentials_file = (dir / "credentials.json").string()};
  EXPECT_EQ(AllAtOnce(settings), std::vector<std::string>(4, "one"));
  EXPECT_EQ(AllAtOnce(settings), std::vector<std::string>(4, "one")) << "it is kept";
  EXPECT_THAT(server->requests, SizeIs(1));
}

TEST_F(TokenCachesTest, AllServicesShareOneStartOfATokenCommand) {
  const base::Path calls = dir / "calls";
  const TokenSettings settings{.token_command = "echo call >>" + calls.string() + "; echo t"};
  EXPECT_EQ(AllAtOnce(settings), std::vector<std::string>(4, "t"));
  EXPECT_EQ(AllAtOnce(settings), std::vector<std::string>(4, "t"));
  EXPECT_EQ(base::ReadFile(calls).value_or(""), "call\n");
}

TEST_F(TokenCachesTest, WithoutSharedCachesEachHasItsOwn) {
  machine.caches = nullptr;
  for (int i = 0; i < 4; ++i) Grant("one");
  ASSERT_TRUE(Choose(User()).ok());
  AllAtOnce({.credentials_file = (dir / "credentials.json").string()});
  EXPECT_THAT(server->requests, SizeIs(4));
}

TEST_F(TokenCachesTest, ARefusalRefreshesTheTokenOfAllOnce) {
  Grant("one");
  Grant("two");
  ASSERT_TRUE(Choose(User()).ok());
  EXPECT_EQ(SendToAll(401), std::vector<int>(4, 200));
  EXPECT_THAT(server->requests, SizeIs(2));
}

TEST_F(TokenCachesTest, AMissingPermissionRefreshesNothing) {
  Grant("one");
  ASSERT_TRUE(Choose(User()).ok());
  EXPECT_EQ(SendToAll(403), std::vector<int>(4, 403));
  EXPECT_THAT(server->requests, SizeIs(1));
}

/// Their scope is another one.
TEST_F(TokenCachesTest, TokensToActWithAreNotThoseToAskWith) {
  auto plain = Choose(ServiceAccount());
  ASSERT_TRUE(plain.ok());
  const std::string own = Get(*plain)->value;
  Grant("to-act");
  server->Answer(200, R"({"accessToken":"robot","expireTime":"2026-01-01T01:00:00Z"})");
  server->Answer(200, R"({"accessToken":"other","expireTime":"2026-01-01T01:00:00Z"})");
  impersonate = "robot@lab.com";
  auto robot = Choose(ServiceAccount());
  ASSERT_TRUE(robot.ok());
  EXPECT_EQ(Get(*robot)->value, "robot");
  impersonate = "other@lab.com";
  auto other = Choose(ServiceAccount());
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(Get(*other)->value, "other");
  EXPECT_THAT(server->requests, SizeIs(3)) << "both act with the same token";
  EXPECT_EQ(Get(*plain)->value, own);
  EXPECT_EQ(Choose(ServiceAccount())->tokens, other->tokens);
}

TEST_F(TokenCachesTest, AFileThatIsWrittenAnewIsAskedAnew) {
  Grant("one");
  Grant("two");
  auto before = Choose(User());
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(Get(*before)->value, "one");
  base::Json changed = User();
  changed["client_id"] = "other-client";
  auto after = Choose(changed);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(Get(*after)->value, "two");
  EXPECT_EQ(Form(1).at("client_id"), "other-client");
}

TEST_F(TokenCachesTest, EachLoopHasItsOwnAndEndsThem) {
  const auto first = Choose(User());
  ASSERT_TRUE(first.ok());
  std::weak_ptr<TokenSource> kept;
  {
    test::Loop other;
    machine.caches = &CachesOf(other.context.get_executor());
    kept = Choose(User())->tokens;
    EXPECT_FALSE(kept.expired());
    EXPECT_NE(kept.lock(), first->tokens);
  }
  EXPECT_TRUE(kept.expired());
}

}  // namespace
}  // namespace jobman::auth

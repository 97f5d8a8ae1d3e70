#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "jobman/auth/identity.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/random.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_transport.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::auth {
namespace {

using base::Code;
using test::FakeClock;
using test::Loop;
using testing::HasSubstr;
using testing::Not;

class TempFile {
 public:
  TempFile() : path_(std::string(testing::TempDir()) + "/token-" + base::RandomHex(8)) {}
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() { ::unlink(path_.c_str()); }
  void Write(const std::string& text) { EXPECT_TRUE(base::WriteFileAtomic(path_, text).ok()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(ParseToken, TakesABareToken) {
  const auto token = ParseToken(" ya29.abc\n", {}, "x");
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->value, "ya29.abc");
  EXPECT_FALSE(token->expires.has_value());
}

TEST(ParseToken, TakesJsonWithALifetime) {
  const base::TimePoint now = base::FromMillis(1'000'000);
  const auto token = ParseToken(R"({"access_token":"t","expires_in":3599})", now, "x");
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->value, "t");
  EXPECT_EQ(token->expires, now + std::chrono::seconds{3599});
}

TEST(ParseToken, TakesJsonWithATime) {
  const auto token =
      ParseToken(R"({"access_token":"t","expiry":"1970-01-01T00:01:00.5Z"})", {}, "x");
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->expires, base::FromMillis(60'500));
}

TEST(ParseToken, RefusesOtherTextWithoutQuotingIt) {
  for (const char* text : {"", " \n", "SECRET two words", "{\"access_token\":\"SECRET\"", "{}",
                           R"({"token":"SECRET"})", "{\"access_token\":\"SECRET\\r\\nX: y\"}",
                           "SECRET\xc3\xa9", R"({"access_token":"SECRET","expiry":"tomorrow"})"}) {
    const auto token = ParseToken(text, {}, "the token file F");
    ASSERT_FALSE(token.ok()) << text;
    EXPECT_EQ(token.error().code, Code::kUnauthenticated);
    EXPECT_EQ(token.error().reason, base::Reason::kNoToken);
    EXPECT_THAT(token.error().message, HasSubstr("the token file F"));
    EXPECT_THAT(token.error().ToString(), Not(HasSubstr("SECRET")));
  }
}

TEST(FileTokenSource, ReadsTheFileAgainWhenItChanges) {
  TempFile file;
  FakeClock clock;
  Loop loop;
  file.Write("one\n");
  const auto source = MakeFileTokenSource(file.path(), clock);
  EXPECT_EQ(loop.Run(source->Get())->value, "one");
  file.Write("two\n");
  EXPECT_EQ(loop.Run(source->Get())->value, "two");
}

TEST(FileTokenSource, KeepsItsTokenWhileTheFileIsBeingFilled) {
  TempFile file;
  FakeClock clock;
  Loop loop;
  file.Write("one\n");
  const auto source = MakeFileTokenSource(file.path(), clock);
  EXPECT_EQ(loop.Run(source->Get())->value, "one");
  file.Write("");
  EXPECT_EQ(loop.Run(source->Get())->value, "one");
  file.Write("two words\n");
  EXPECT_FALSE(loop.Run(source->Get()).ok()) << "that is no token";
  file.Write("two\n");
  EXPECT_EQ(loop.Run(source->Get())->value, "two");
  file.Write("");
  source->Invalidate();
  EXPECT_FALSE(loop.Run(source->Get()).ok()) << "the last one was refused";
}

TEST(FileTokenSource, NamesTheFileThatCannotBeRead) {
  FakeClock clock;
  Loop loop;
  const auto source = MakeFileTokenSource("/nonexistent/token", clock);
  const auto token = loop.Run(source->Get());
  ASSERT_FALSE(token.ok());
  EXPECT_EQ(token.error().code, Code::kUnauthenticated);
  EXPECT_EQ(token.error().reason, base::Reason::kNoToken);
  EXPECT_THAT(token.error().message, HasSubstr("/nonexistent/token"));
}

TEST(FileTokenSource, RefusesAFileThatOthersCanWrite) {
  TempFile file;
  FakeClock clock;
  Loop loop;
  file.Write("SECRET");
  ASSERT_EQ(::chmod(file.path().c_str(), 0666), 0);
  const auto token = loop.Run(MakeFileTokenSource(file.path(), clock)->Get());
  ASSERT_FALSE(token.ok());
  EXPECT_EQ(token.error().reason, base::Reason::kNoToken);
  EXPECT_THAT(token.error().message, HasSubstr("can be written by other users"));
  EXPECT_THAT(token.error().hint, HasSubstr("chmod go-w"));
}

TEST(CommandTokenSource, DoesNotRunAFileThatOthersCanWrite) {
  TempFile file;
  FakeClock clock;
  Loop loop;
  file.Write("#!/bin/sh\necho token\n");
  ASSERT_EQ(::chmod(file.path().c_str(), 0700), 0);
  EXPECT_TRUE(loop.Run(MakeCommandTokenSource(file.path() + " x", clock)->Get()).ok());
  ASSERT_EQ(::chmod(file.path().c_str(), 0777), 0);
  const auto token = loop.Run(MakeCommandTokenSource(file.path() + " x", clock)->Get());
  ASSERT_FALSE(token.ok());
  EXPECT_EQ(token.error().reason, base::Reason::kNoToken);
  EXPECT_THAT(token.error().message, HasSubstr("can be written by other users"));
}

TEST(FileTokenSource, ReportsAnExpiredToken) {
  TempFile file;
  FakeClock clock;
  Loop loop;
  file.Write(R"({"access_token":"t","expiry":"2026-01-01T01:00:00Z"})");
  const auto source = MakeFileTokenSource(file.path(), clock);
  EXPECT_TRUE(loop.Run(source->Get()).ok());
  clock.Advance(std::chrono::hours{2});
  const auto token = loop.Run(source->Get());
  ASSERT_FALSE(token.ok());
  EXPECT_EQ(token.error().code, Code::kUnauthenticated);
  EXPECT_EQ(token.error().reason, base::Reason::kNoToken);
  EXPECT_THAT(token.error().message, HasSubstr("expired at 2026-01-01T01:00:00"));
}

TEST(CommandTokenSource, UsesTheOutputOfTheCommand) {
  FakeClock clock;
  Loop loop;
  EXPECT_EQ(loop.Run(MakeCommandTokenSource("echo to''ken", clock)->Get())->value, "token");
  const auto dated =
      MakeCommandTokenSource(R"(echo '{"access_token":"t","expires_in":60}')", clock);
  EXPECT_EQ(loop.Run(dated->Get())->expires, clock.Now() + std::chrono::minutes{1});
}

TEST(CommandTokenSource, ShowsTheErrorsOfAFailedCommand) {
  FakeClock clock;
  Loop loop;
  const auto source = MakeCommandTokenSource("echo SECRET; echo not logged in >&2; exit 3", clock);
  const auto token = loop.Run(source->Get());
  ASSERT_FALSE(token.ok());
  EXPECT_EQ(token.error().code, Code::kUnauthenticated);
  EXPECT_EQ(token.error().reason, base::Reason::kNoToken);
  EXPECT_THAT(token.error().message, HasSubstr("exit code 3: not logged in"));
  EXPECT_THAT(token.error().hint, HasSubstr("gcloud auth login"));
}

TEST(CommandTokenSource, ShowsTheErrorsOfACommandWithoutAToken) {
  FakeClock clock;
  Loop loop;
  const auto source = MakeCommandTokenSource("echo try again later >&2", clock);
  const auto token = loop.Run(source->Get());
  ASSERT_FALSE(token.ok());
  EXPECT_THAT(token.error().message, HasSubstr("try again later"));
}

class Choose : public testing::Test {
 protected:
  Result<Identity> From(const TokenSettings& settings, std::optional<std::string> variable) {
    Machine machine{.clock = &clock, .product_name = "/nowhere"};
    machine.env = [this, variable](const std::string& name) -> std::optional<std::string> {
      if (name == "PATH") return search_path;
      if (name == "HOME") return "/nowhere";
      return name == "GOOGLE_OAUTH_ACCESS_TOKEN" ? variable : std::nullopt;
    };
    machine.open_transport = []() -> Result<std::unique_ptr<http::Transport>> {
      return base::Internal("nothing is to be asked over the network");
    };
    return ChooseIdentity(settings, std::move(machine));
  }
  std::string TokenOf(const TokenSettings& settings, std::optional<std::string> variable = {}) {
    auto source = From(settings, variable);
    if (!source) return source.error().ToString();
    const auto token = loop.Run(source->tokens->Get());
    return token ? token->value : token.error().ToString();
  }

  FakeClock clock;
  Loop loop;
  TempFile file;
  std::optional<std::string> search_path = {};
};

/// A gcloud that counts its calls, on PATH.
TEST_F(Choose, AsksGcloudForGoogleAlone) {
  const test::TempDir dir;
  const std::string gcloud = (dir / "gcloud").string();
  ASSERT_TRUE(base::WriteFileAtomic(gcloud,
                                    "#!/bin/sh\n[ \"$*\" = 'auth print-access-token' ] || exit 1\n"
                                    "echo call >>" +
                                        dir.path().string() + "/calls\necho from-gcloud\n")
                  .ok());
  const TokenSettings google{.endpoint = "https://us-central2-tpu.googleapis.com"};
  search_path = dir.path().string();
  EXPECT_THAT(TokenOf(google), HasSubstr("no credentials")) << "it is not a program";
  ASSERT_EQ(::chmod(gcloud.c_str(), 0755), 0);
  search_path = "/nowhere::" + dir.path().string();
  const std::string path = std::getenv("PATH");
  ASSERT_EQ(::setenv("PATH", (dir.path().string() + ":" + path).c_str(), 1), 0);
  auto source = From(google, {});
  ASSERT_TRUE(source.ok());
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(loop.Run(source->tokens->Get()).value().value, "from-gcloud");
  }
  ASSERT_EQ(::setenv("PATH", path.c_str(), 1), 0);
  EXPECT_EQ(base::ReadFile(dir / "calls").value_or(""), "call\n") << "it is cached";
  for (const char* other : {"https://tpu.example.com", "http://tpu.googleapis.com",
                            "https://googleapis.com.evil.org"}) {
    EXPECT_THAT(TokenOf({.endpoint = other}), HasSubstr("no credentials")) << other;
  }
}

TEST_F(Choose, TakesEnvironmentThenFileThenCommand) {
  file.Write("from-file");
  TokenSettings settings{.endpoint = "https://tpu.googleapis.com",
                         .token_file = file.path(),
                         .token_command = "echo from-command"};
  EXPECT_EQ(TokenOf(settings, "from-env"), "from-env");
  EXPECT_EQ(TokenOf(settings), "from-file");
  settings.token_file.clear();
  EXPECT_EQ(TokenOf(settings), "from-command");
}

TEST_F(Choose, NeedsNoneForHttpOnThisMachine) {
  EXPECT_EQ(TokenOf({.endpoint = "http://127.0.0.1:1234"}), "");
  EXPECT_EQ(TokenOf({.endpoint = "http://localhost:1234"}), "");
}

TEST_F(Choose, ListsAllSourcesWhenThereIsNone) {
  for (const char* endpoint :
       {"https://tpu.googleapis.com", "http://10.0.0.1", "https://127.0.0.1"}) {
    const auto source = From({.endpoint = endpoint}, {});
    ASSERT_FALSE(source.ok()) << endpoint;
    EXPECT_EQ(source.error().code, Code::kUnauthenticated);
    EXPECT_THAT(source.error().message, HasSubstr(endpoint));
    for (const char* way :
         {"gcloud auth login", "token_file", "token_command", "GOOGLE_OAUTH_ACCESS_TOKEN",
          "application-default login", "credentials_file"}) {
      EXPECT_THAT(source.error().hint, HasSubstr(way));
    }
  }
}

TEST_F(Choose, NamesTheVariableWithoutAToken) {
  EXPECT_THAT(TokenOf({.endpoint = "https://tpu.googleapis.com"}, "two words"),
              HasSubstr("GOOGLE_OAUTH_ACCESS_TOKEN"));
}

}  // namespace
}  // namespace jobman::auth

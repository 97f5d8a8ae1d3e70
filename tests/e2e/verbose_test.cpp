// --verbose and JOBMAN_TRACE show on stderr what a command does, but no token or secret.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kToken = "ya29.hush-token-42";
constexpr const char* kSecret = "hush-secret-42";

class Verbose : public testing::Test {
 protected:
  void SetUp() override {
    setenv("GOOGLE_OAUTH_ACCESS_TOKEN", kToken, 1);
    setenv("E2E_SECRET", kSecret, 1);
    place_.StartSim({"--delays", "0", "--token", kToken});
  }
  ~Verbose() override {
    unsetenv("GOOGLE_OAUTH_ACCESS_TOKEN");
    unsetenv("E2E_SECRET");
    unsetenv("JOBMAN_TRACE");
  }

  /// Each command that talks to the cloud or to a host shows it; none shows a secret.
  void RunsAndTells(const std::vector<std::string>& flags) {
    const auto with = [&](std::vector<std::string> args) {
      args.insert(args.begin(), flags.begin(), flags.end());
      Ran ran = place_.Jobman(args);
      EXPECT_THAT(ran.All(), Not(HasSubstr("hush")));
      return ran;
    };
    const std::string file = place_.JobFile("told", 1, "echo hello", "  secrets: [E2E_SECRET]\n");
    const Ran run = with({"run", file});
    EXPECT_EQ(run.code, 0) << run.All();
    EXPECT_THAT(run.err, HasSubstr("/acceleratorTypes"));
    EXPECT_THAT(run.err, HasSubstr(" -> 200 in "));
    EXPECT_THAT(run.err, HasSubstr("starting one, which logs to"));
    const Ran exec = with({"exec", "1", "--", "echo there"});
    EXPECT_THAT(exec.out, StartsWith("host 0 | there\n")) << "messages are on stderr";
    EXPECT_THAT(exec.err, HasSubstr("ssh: connected to "));
    EXPECT_THAT(with({"ssh", "1", "true"}).err, HasSubstr("ssh: ssh "));
    EXPECT_THAT(with({"delete", "1", "--wait"}).err, HasSubstr("waking the controller"));
    const std::string log = base::ReadFile(place_.home() / "controller.log").value();
    EXPECT_THAT(log, HasSubstr("cloud: ListNodes"));
    EXPECT_THAT(log, Not(HasSubstr("hush")));
  }

  Place place_;
};

TEST_F(Verbose, ShowsWhatEveryCommandDoes) {
  RunsAndTells({"--verbose"});
}

TEST_F(Verbose, TracingShowsEverythingButTokensAndSecrets) {
  setenv("JOBMAN_TRACE", "all", 1);
  RunsAndTells({});
}

TEST_F(Verbose, WithoutItASuccessfulCommandIsQuiet) {
  const Ran ran = place_.Jobman({"--quiet", "create", place_.JobFile("mute", 1, "true")});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "");
}

}  // namespace
}  // namespace jobman::test

// quota and create ask services that answer, and services that refuse, hang or send nonsense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/listener.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kQuotaEndpoint = "JOBMAN_QUOTA_ENDPOINT";
constexpr const char* kComputeEndpoint = "JOBMAN_COMPUTE_ENDPOINT";

class Quota : public testing::Test {
 protected:
  void SetUp() override {
    place_.StartSim({"--delays", "0"});
    const std::string token(base::Trim(base::ReadFile(place_.SimTokenFile()).value_or("")));
    ::setenv("GOOGLE_OAUTH_ACCESS_TOKEN", token.c_str(), 1);
    ::setenv(kQuotaEndpoint, place_.SimEndpoint().c_str(), 1);
    ::setenv(kComputeEndpoint, place_.SimEndpoint().c_str(), 1);
  }
  ~Quota() override {
    for (const char* name : {kQuotaEndpoint, kComputeEndpoint, "GOOGLE_OAUTH_ACCESS_TOKEN"})
      ::unsetenv(name);
  }
  Ran Ask(const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"--endpoint", place_.SimEndpoint(), "quota", "--project",
                                     "lab"};
    args.insert(args.end(), more.begin(), more.end());
    return place_.Jobman(args);
  }
  /// A job with a v4-8 on demand, in project lab.
  Ran Create(const std::string& name, const std::vector<std::string>& more = {}) {
    const auto sim = base::ParseJson(*base::ReadFile(place_.home() / "sim" / "sim.json"));
    const std::string port = std::to_string(base::GetInt(*sim, "ssh_port"));
    const std::string file = place_.JobFile(name, 1, "sleep 1000", "ssh: {port: " + port + "}\n");
    std::vector<std::string> args = {
        "--endpoint", place_.SimEndpoint(), "create", file,
        "--set",      "tpu.project=lab",    "--set",  "tpu.pricing=ondemand"};
    args.insert(args.end(), more.begin(), more.end());
    return place_.Jobman(args);
  }
  static void AskFor(const char* variable, int port) {
    ::setenv(variable, ("http://127.0.0.1:" + std::to_string(port)).c_str(), 1);
  }

  Place place_;
};

TEST_F(Quota, LimitsAreShownBesideWhatAJobHolds) {
  ASSERT_EQ(place_.Sim({"set", "quota.us-central2-b/v4=64"}).code, 0);
  place_.StartController({"--poll", "1"});
  const Ran created = Create("train");
  ASSERT_EQ(created.code, 0) << created.All();
  ASSERT_TRUE(place_.Reaches("train", "RUNNING"));
  const Ran ran = Ask();
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, ContainsRegex("v4 +ondemand +us-central2-b +64 +8 +000001\n"));
  EXPECT_THAT(ran.out, ContainsRegex("addresses +- +us-central2 +4096 +1 +-\n"));
}

TEST_F(Quota, CreateRefusesWhatCanNeverFit) {
  place_.StartController({"--poll", "1"});
  ASSERT_EQ(place_.Sim({"set", "quota.us-central2-b/v4=4"}).code, 0);
  ASSERT_EQ(place_.Sim({"set", "quota.us-central2-b/v4-spot=64"}).code, 0);
  const Ran refused = Create("train");
  EXPECT_EQ(refused.code, 4) << refused.All();
  EXPECT_THAT(refused.err, HasSubstr("the slice takes 8 TensorCores of v4 ondemand in "
                                     "us-central2-b, and the project's limit "
                                     "tpu.googleapis.com/tpu-v4s is 4"));
  EXPECT_THAT(refused.err, HasSubstr("set tpu.pricing: spot, or ask for more"));
  EXPECT_THAT(place_.Jobman({"--json", "list", "--all"}).out, Not(HasSubstr("\"id\"")));
  ASSERT_EQ(place_.Sim({"set", "quota.us-central2-b/v4=8"}).code, 0);
  const Ran created = Create("train");
  ASSERT_EQ(created.code, 0) << created.All();
  EXPECT_THAT(created.err, Not(HasSubstr("are held")));
  ASSERT_TRUE(place_.Reaches("train", "RUNNING"));
  const Ran second = Create("second");
  EXPECT_EQ(second.code, 0) << second.All();
  EXPECT_THAT(second.err,
              HasSubstr("8 of the project's 8 are held, by 000001: others have to end"));
  ASSERT_EQ(place_.Sim({"set", "quota.us-central2-b/v4=0"}).code, 0);
  EXPECT_EQ(Create("third").code, 4);
  const Ran unasked = Create("third", {"--no-preflight"});
  EXPECT_EQ(unasked.code, 0) << unasked.All();
  EXPECT_THAT(unasked.err, Not(HasSubstr("note:")));
}

TEST_F(Quota, CreateDoesNotWaitForAServiceThatRefuses) {
  const Listener refuses(WebhookThatSays([] { return 403; }));
  AskFor(kQuotaEndpoint, refuses.port());
  place_.StartController({"--poll", "1"});
  const Ran created = Create("train");
  EXPECT_EQ(created.code, 0) << created.All();
  EXPECT_THAT(created.err, Not(HasSubstr("quota")));
}

TEST_F(Quota, WhatServiceUsageRefusesLeavesTheRest) {
  const Listener refuses(WebhookThatSays([] { return 403; }));
  AskFor(kQuotaEndpoint, refuses.port());
  const Ran ran = Ask({"-z", "us-central2-b"});
  EXPECT_EQ(ran.code, 4) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("limits are not known: "));
  EXPECT_THAT(ran.out, HasSubstr("roles/serviceusage.serviceUsageViewer"));
  EXPECT_THAT(ran.out, ContainsRegex("addresses +- +us-central2 +4096 +0 +-\n"));
}

TEST_F(Quota, AnswersThatAreNoneAreNamed) {
  int calls = 0;
  const Listener odd(ServiceThatFinds([&calls](const std::string&) -> std::string {
    ++calls;
    if (calls == 1) return {};  // 404
    return calls == 2 ? "<html>log in</html>" : std::string(std::size_t{100} << 20, 'x');
  }));
  AskFor(kQuotaEndpoint, odd.port());
  EXPECT_EQ(Ask().code, 3);
  const Ran html = Ask();
  EXPECT_EQ(html.code, 75) << html.All();
  EXPECT_THAT(html.out, HasSubstr("the answer is not that of Service Usage"));
  const Ran large = Ask();
  EXPECT_NE(large.code, 0);
  EXPECT_LT(large.All().size(), 4000U);
}

TEST_F(Quota, AServiceThatHangsCostsItsTimeAndNoMore) {
  const Listener hangs(SayNothing);
  AskFor(kQuotaEndpoint, hangs.port());
  AskFor(kComputeEndpoint, hangs.port());
  const Ran ran = Ask({"-z", "us-central2-b"});
  EXPECT_EQ(ran.code, 75) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("Service Usage: no answer within 8s"));
  EXPECT_THAT(ran.out, HasSubstr("Compute Engine: no answer within 8s"));
}

}  // namespace
}  // namespace jobman::test

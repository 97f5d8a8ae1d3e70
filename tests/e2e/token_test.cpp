// The cloud refuses the access token that a token_command prints: it is asked once more, and then
// awaited.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <string>
#include <vector>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Token : public testing::Test {
 protected:
  void SetUp() override {
    place_.StartSim({"--delays", "0"});
    place_.StartController({"--poll", "1"});
  }
  /// Creates the job "train", whose token comes from this shell command.
  Ran Create(const std::string& command) {
    const auto sim = base::ParseJson(*base::ReadFile(place_.home() / "sim" / "sim.json"));
    const std::string file =
        place_.JobFile("train", 1, "true",
                       "ssh: {port: " + std::to_string(base::GetInt(*sim, "ssh_port")) + "}\n");
    return place_.Jobman({"--endpoint", place_.SimEndpoint(), "create", file, "--set",
                          "tpu.project=sim", "--set", "cloud.token_command=" + command});
  }
  static std::vector<std::string> Lines(const base::Path& file) {
    std::vector<std::string> lines = base::Split(base::ReadFile(file).value_or(""), '\n');
    std::erase(lines, "");
    return lines;
  }
  /// Prints a token that the cloud refuses while `flag` exists, and then the right one.
  std::string StaleWhile(const base::Path& flag, const std::string& then = ":") const {
    return "if [ -e " + flag.string() + " ]; then " + then + "; echo ya29.stale; else cat " +
           place_.SimTokenFile().string() + "; fi";
  }

  Place place_;
  base::Path flag_ = place_.path() / "stale";
};

TEST_F(Token, OneRefusalIsOvercomeWithAFreshToken) {
  ASSERT_TRUE(base::WriteFileAtomic(flag_, "").ok());
  const Ran created = Create(StaleWhile(flag_, "rm " + flag_.string()));
  ASSERT_EQ(created.code, 0) << created.All();
  ASSERT_TRUE(place_.Reaches("train", "SUCCEEDED"));
  EXPECT_THAT(place_.Jobman({"history", "train"}).out, Not(HasSubstr("BACKOFF")));
}

TEST_F(Token, OneThatStaysRefusedIsAwaitedAndSaid) {
  ASSERT_EQ(Create(StaleWhile(flag_)).code, 0);
  ASSERT_TRUE(place_.Reaches("train", "SUCCEEDED"));
  ASSERT_EQ(place_.Jobman({"delete", "train", "--wait"}).code, 0);
  ASSERT_TRUE(base::WriteFileAtomic(flag_, "").ok());
  place_.KillController();  // it would keep the good token
  place_.StartController({"--poll", "1"});
  ASSERT_EQ(place_.Jobman({"resume", "train"}).code, 0);
  std::string why;
  EXPECT_TRUE(place_.Until("it waits for a token", [&] {
    why = place_.Jobman({"why", "train"}).out;
    return base::Contains(why, "BACKOFF");
  })) << why;
  EXPECT_THAT(why, HasSubstr("token"));
  EXPECT_THAT(why, Not(HasSubstr("ya29.stale"))) << "a token is not shown";
  ASSERT_TRUE(base::RemoveAll(flag_).ok());
  EXPECT_TRUE(place_.Reaches("train", "SUCCEEDED"));
  EXPECT_EQ(base::GetInt(base::GetMember(place_.Show("train"), "spent"), "infra"), 0);
}

/// create asks Cloud TPU and Compute Engine; the simulator is both.
TEST_F(Token, OneStartOfTheCommandServesAllThatAProcessAsks) {
  const base::Path starts = place_.path() / "starts";
  ::setenv("JOBMAN_COMPUTE_ENDPOINT", place_.SimEndpoint().c_str(), 1);
  // By the process that started it: create, and later the controller.
  const Ran created =
      Create("echo $PPID >>" + starts.string() + "; cat " + place_.SimTokenFile().string());
  ::unsetenv("JOBMAN_COMPUTE_ENDPOINT");
  ASSERT_EQ(created.code, 0) << created.All();
  ASSERT_TRUE(place_.Reaches("train", "SUCCEEDED"));
  std::map<std::string, int> times;
  for (const std::string& process : Lines(starts)) ++times[process];
  EXPECT_EQ(times.size(), 2U);
  for (const auto& [process, count] : times) EXPECT_EQ(count, 1) << process;
}

}  // namespace
}  // namespace jobman::test

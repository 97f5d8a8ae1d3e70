// The scripts of docs/guide/scripting.md and docs/guide/day.md, unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

/// The code block of this language under that heading of the page.
std::string Block(const std::string& heading, const std::string& language,
                  const std::string& name = "scripting") {
  const auto page = base::ReadFile(base::Path(JOBMAN_SOURCE_DIR) / "docs/guide" / (name + ".md"));
  if (!page.ok()) return {};
  const auto section = page->find("\n## " + heading + "\n");
  const std::string fence = "\n```" + language + "\n";
  const auto begin = page->find(fence, section);
  const auto end = page->find("\n```", begin + fence.size());
  EXPECT_NE(section, std::string::npos) << heading;
  EXPECT_NE(begin, std::string::npos) << heading;
  return page->substr(begin + fence.size(), end - begin - fence.size());
}

class Scripting : public testing::Test {
 protected:
  void SetUp() override { place_.StartSim({"--delays", "0"}); }

  /// Runs a script in the folder of the job files, with jobman in the PATH.
  Ran Script(const std::string& text) {
    const auto path = std::getenv("PATH");
    return RunProgram({"sh", "-c", "cd " + place_.path().string() + " && " + text},
                      {{"PATH", std::string(JOBMAN_BIN_DIR) + ":" + path},
                       {"JOBMAN_HOME", place_.home().string()}});
  }
  std::string Slices() { return place_.Sim({"status"}).out; }

  Place place_;
};

TEST_F(Scripting, ACronLineRunsAJobToItsEnd) {
  const auto words = base::Split(Block("A line for cron", "crontab"), ' ');
  ASSERT_GT(words.size(), 5u);
  EXPECT_EQ(std::count(words.begin(), words.begin() + 5, "*"), 5);
  const std::string line = base::Join({words.begin() + 5, words.end()}, " ");
  ASSERT_EQ(place_.Jobman({"create", place_.JobFile("by-cron", 2, "sleep 2; echo done")}).code, 0);
  ASSERT_EQ(place_.Jobman({"controller", "stop"}).code, 0);
  int minutes = 0;
  while (place_.StateOf("by-cron") != "SUCCEEDED" && ++minutes <= 30) {
    const Ran tick = Script(line);
    ASSERT_EQ(tick.code, 0) << tick.All();
    EXPECT_EQ(tick.All(), "") << "cron would mail it";
  }
  EXPECT_EQ(place_.Log(1, 1, "run", 1), "done\n");
}

TEST_F(Scripting, UntilItSucceedsRetriesTransientFailures) {
  const std::string script = Block("Try until it succeeds", "sh");
  // Exit code 75 without a retry budget: FAILED until the third run.
  place_.JobFile("train", 1, "echo try >>~/tries; [ $(wc -l <~/tries) -ge 3 ] || exit 75",
                 "retries: {infra: 0}\n");
  const Ran ran = Script(script);
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(Slices(), HasSubstr("no nodes, no queued resources"));
  EXPECT_EQ(place_.Show("train")["attempts"].size(), 3u);
}

TEST_F(Scripting, UntilItSucceedsGivesUpWhenTheCommandFails) {
  place_.JobFile("train", 1, "exit 7");
  const Ran ran = Script(Block("Try until it succeeds", "sh"));
  EXPECT_EQ(ran.code, 1) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("exit code 7"));
  EXPECT_THAT(Slices(), HasSubstr("no nodes, no queued resources"));
}

/// `timeout` signals the process and its group, so the process gets two signals.
TEST_F(Scripting, ALimitedWaitSaysWhatContinues) {
  ASSERT_EQ(place_.Jobman({"create", place_.JobFile("train", 1, "sleep 600")}).code, 0);
  ASSERT_TRUE(place_.Reaches("train", "RUNNING"));
  const Ran ran = Script("timeout 8 jobman wait train");
  EXPECT_EQ(ran.code, 124) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr("interrupted"));
  EXPECT_THAT(ran.err, HasSubstr("000001"));
}

TEST_F(Scripting, ASweepRunsFailedJobsAgain) {
  if (RunProgram({"jq", "--version"}).code != 0) GTEST_SKIP() << "jq is not installed";
  place_.JobFile("train", 1, "[ \"$SEED\" != 2 ] || [ $JOBMAN_ATTEMPT = 2 ]");
  const Ran ran = Script(Block("One job per value, and another try for those that failed", "sh"));
  EXPECT_EQ(ran.code, 0) << ran.All();
  const Ran list = place_.Jobman({"list", "-q", "--status", "succeeded"});
  EXPECT_EQ(list.out, "000001\n000002\n000003\n");
  for (const char* job : {"1", "2", "3"}) {
    EXPECT_EQ(place_.Show(job)["attempt"], std::string(job) == "2" ? 2 : 1);
  }
}

TEST_F(Scripting, ADayGoesAsItsPageSays) {
  const auto part = [this](const std::string& heading) {
    const Ran ran = Script("set -e\n" + Block(heading, "sh", "day"));
    EXPECT_EQ(ran.code, 0) << heading << ": " << ran.All();
    return ran;
  };
  EXPECT_THAT(part("Morning: five experiments").out, HasSubstr("sweep-4"));
  const Ran looked = part("Looking at them");
  EXPECT_THAT(looked.out, HasSubstr("lr 0.3, step 3"));
  part("Noon: the code was wrong");
  EXPECT_THAT(part("On the hosts").out, HasSubstr("lr 0.2, loss 0.5"));
  EXPECT_THAT(part("Evening: the results").out,
              testing::AllOf(HasSubstr("lr 0.1, loss 0.6"), HasSubstr("lr 0.003, loss 0.6")));
  part("Giving the slices back");
  EXPECT_THAT(Slices(), HasSubstr("no nodes, no queued resources"));
}

}  // namespace
}  // namespace jobman::test

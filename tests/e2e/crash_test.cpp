// kill -9 of the controller: nothing is lost, nothing runs twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

constexpr int kLines = 10'000;
constexpr int kHosts = 4;

std::string Expected(int host) {
  std::string text;
  for (int i = 1; i <= kLines; ++i) {
    text += "host " + std::to_string(host) + " line " + std::to_string(i) + "\n";
  }
  return text;
}

TEST(Crash, LogsAreCompleteByteForByteAfterTenKills) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  Place place;
  place.StartSim({"--delays", "0"});
  place.StartController();
  const std::string file = place.JobFile("lines", kHosts,
                                         "echo again >> ~/starts\n"
                                         "i=1\n"
                                         "while [ $i -le 10000 ]; do\n"
                                         "  echo \"host $JOBMAN_HOST_INDEX line $i\"\n"
                                         "  [ $((i % 200)) = 0 ] && sleep 0.2\n"
                                         "  i=$((i+1))\n"
                                         "done");
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  for (int kill = 0; kill < 10; ++kill) {
    usleep(std::uniform_int_distribution<useconds_t>(50'000, 900'000)(random));
    place.KillController();
    place.StartController();
  }
  ASSERT_TRUE(place.Reaches("lines", "SUCCEEDED", 120));
  for (int host = 0; host < kHosts; ++host) {
    EXPECT_TRUE(place.Log(1, 1, "run", host) == Expected(host)) << "host " << host;
  }
  const auto show = place.Show("lines");
  int ended = 0;
  for (const auto& exit : base::GetMember(show, "exits")) {
    if (base::GetString(exit, "stage") == "run") ++ended;
  }
  EXPECT_EQ(ended, kHosts) << show.dump(2);
  const Ran starts = place.Jobman({"exec", "lines", "--fold", "--", "cat ~/starts"});
  EXPECT_THAT(starts.out, testing::HasSubstr("hosts 0-3 (4): again")) << starts.All();
}

TEST(Crash, FollowingTheLogsStartsAnotherController) {
  Place place;
  place.StartSim({"--delays", "0"});
  place.StartController();
  const std::string file = place.JobFile(
      "go-on", 1, "touch ~/began; until [ -e ~/go ]; do sleep 0.5; done; echo done-now");
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(place.Until("the command began", [&] {
    return place.Jobman({"exec", "go-on", "--", "test -e ~/began"}).code == 0;
  }));
  place.KillController();
  ASSERT_EQ(place.Jobman({"exec", "go-on", "--", "touch ~/go"}).code, 0);
  const Ran logs = place.Jobman({"logs", "-f", "go-on"});
  EXPECT_EQ(logs.code, 0) << logs.All();
  EXPECT_THAT(logs.All(), testing::HasSubstr("SUCCEEDED"));
}

}  // namespace
}  // namespace jobman::test

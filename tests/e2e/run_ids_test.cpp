// Run ids distinguish store, slice and host: when hosts share one home folder (NFS), when two
// stores use one machine, and when an earlier jobman started the runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/env.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

constexpr int kHosts = 16;

/// Counts each host's runs in the home folder.
constexpr const char* kCount =
    "i=$JOBMAN_HOST_INDEX\n"
    "echo x >>~/runs-$i\n"
    "echo host $i, run $(grep -c x ~/runs-$i), step $(grep -c x ~/steps-$i)\n"
    "[ $JOBMAN_ATTEMPT != 1 ] || sleep 600";

bool AllSay(Place& place, int attempt, const std::string& what) {
  return place.Until("every host to say: " + what, [&] {
    for (int host = 0; host < kHosts; ++host) {
      const std::string line = "host " + std::to_string(host) + ", " + what + "\n";
      if (place.Log(1, attempt, "run", host) != line) return false;
    }
    return true;
  });
}

/// Each host is a separate machine with its own processes, boot id and pids.
TEST(SharedHome, SixteenHostsEachRunStopAndRunAgainTheirOwnRuns) {
  Place place;
  const base::Path homes = place.path() / "homes";
  place.StartSim({"--delays", "0", "--homes", homes.string()});
  const std::string file = place.JobFile(
      "nfs", kHosts, kCount, "setup: [{name: mark, run: 'echo x >>~/steps-$JOBMAN_HOST_INDEX'}]\n");
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(AllSay(place, 1, "run 1, step 1"));
  const Ran ps = place.Jobman({"exec", "1", "--fold", "--", "pgrep -fc '[s]leep 600'"});
  EXPECT_THAT(ps.out, HasSubstr("(16): 1")) << ps.All();
  EXPECT_EQ(place.Jobman({"gc"}).code, 0) << "no host takes another host's run for its own";
  // One of them is stopped by hand; the others go on.
  ASSERT_EQ(place.Jobman({"exec", "1", "-w", "3", "--", "pkill -f '[s]leep 600'"}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "FAILED"));
  EXPECT_THAT(place.Jobman({"why", "1"}).All(),
              HasSubstr("run ended with exit code 143 on host 3"));
  const Ran left = place.Jobman({"exec", "1", "--fold", "--", "pgrep -fc '[s]leep 600' || :"});
  EXPECT_THAT(left.out, HasSubstr("(16): 0")) << left.All();
  ASSERT_EQ(place.Jobman({"resume", "1"}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED"));
  EXPECT_TRUE(AllSay(place, 2, "run 2, step 1"));
  EXPECT_EQ(place.Jobman({"delete", "1", "--wait"}).code, 0);
}

/// Hosts without sandbox of two simulators, with one home folder and one boot id: one machine for
/// their runs. The jobs have the same number, name and slice.
TEST(TwoStores, OnOneMachineHaveTheirOwnRuns) {
  Place first, second;
  const base::Path homes = first.path() / "homes";
  ASSERT_TRUE(base::EnsureDir(homes / base::UserName()).ok());
  ASSERT_TRUE(base::WriteFileAtomic(homes / base::UserName() / ".bashrc",
                                    "export JOBMAN_BOOT_ID_FILE=/proc/sys/kernel/random/boot_id\n")
                  .ok());
  for (Place* place : {&first, &second}) {
    place->StartSim({"--light", "--delays", "0", "--homes", homes.string()});
  }
  const std::string waits =
      "echo first\nuntil [ -e ~/go ]; do sleep 0.5; done\necho first has ended";
  ASSERT_EQ(first.Jobman({"create", first.JobFile("same", 1, waits)}).code, 0);
  ASSERT_TRUE(
      first.Until("the command to run", [&] { return first.Log(1, 1, "run", 0) == "first\n"; }));

  const std::string file =
      second.JobFile("same", 1, "echo second, attempt $JOBMAN_ATTEMPT; exit 3");
  EXPECT_EQ(second.Jobman({"run", file}).code, 3);
  EXPECT_EQ(second.Log(1, 1, "run", 0), "second, attempt 1\n");
  EXPECT_EQ(second.Jobman({"resume", "1", "--wait"}).code, 3);
  EXPECT_EQ(second.Log(1, 2, "run", 0), "second, attempt 2\n");
  EXPECT_EQ(second.Jobman({"gc", "--yes"}).code, 0);
  EXPECT_EQ(first.Jobman({"gc", "--yes"}).code, 0);

  EXPECT_EQ(first.StateOf("1"), "RUNNING");
  ASSERT_TRUE(base::WriteFileAtomic(homes / base::UserName() / "go", "").ok());
  ASSERT_TRUE(first.Reaches("1", "SUCCEEDED"));
  EXPECT_EQ(first.Log(1, 1, "run", 0), "first\nfirst has ended\n");
}

/// A setup step starts the command with the run id of an earlier jobman.
TEST(EarlierJobman, ItsRunsAreFollowedAndNotStartedTwice) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string begin =
      "printf '%s\\n' \"jm_workdir=''\" \"jm_script='echo of before; sleep 1; exit 7'\" "
      "\"jm_env=''\" "
      "\"jm_signal=''\" jobman-end >~/order\n"
      "setsid sh ~/.jobman/bin/host-*.sh run j000001-a1 0 <~/order >/dev/null 2>&1 &\n"
      "until [ -s ~/.jobman/runs/j000001-a1/pid ]; do sleep 0.5; done";
  std::string step;
  for (const char c : begin) step += c == '\n' ? "\n      " : std::string(1, c);
  const std::string file = place.JobFile(
      "upgraded", 1, "echo once more", "setup:\n  - name: begin\n    run: |\n      " + step + "\n");
  EXPECT_EQ(place.Jobman({"run", file}).code, 7);
  EXPECT_EQ(place.Log(1, 1, "run", 0), "of before\n");
}

}  // namespace
}  // namespace jobman::test

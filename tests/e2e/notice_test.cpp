// The cloud announces that it will take machines away: the command hears of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

/// Attempt 1 says what it is told, and ends with `code`; the next says why there is another.
std::string Saves(const std::string& signal, int code) {
  return "exec 2>/dev/null\n"
         "if [ $JOBMAN_ATTEMPT != 1 ]; then\n"
         "  echo $JOBMAN_ATTEMPT $JOBMAN_RESTART_REASON $(ls $JOBMAN_CHECKPOINT_DIR); exit 0\n"
         "fi\n"
         "trap 'touch $JOBMAN_CHECKPOINT_DIR/saved; cat $JOBMAN_NOTICE_FILE; exit " +
         std::to_string(code) + "' " + signal +
         "\n"
         "echo up; while :; do sleep 0.1; done";
}

bool AllUp(Place& place, int hosts) {
  return place.Until("the command to be up", [&] {
    for (int host = 0; host < hosts; ++host) {
      if (place.Log(1, 1, "run", host) != "up\n") return false;
    }
    return true;
  });
}

std::string SliceOf(Place& place) {
  return base::GetString(base::GetMember(place.Show("1"), "slice"), "name");
}

TEST(Notice, APreemptionIsToldToEveryHostAndCostsNoFailure) {
  Place place;
  place.StartSim({"--delays", "0"});
  ASSERT_EQ(place.Jobman({"create", place.JobFile("spot", 2, Saves("TERM", 3))}).code, 0);
  ASSERT_TRUE(AllUp(place, 2));
  ASSERT_EQ(place.Sim({"preempt", "spot-000001-a1", "--notice", "40s"}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED", 35)) << "before the machines are taken away";
  for (const int host : {0, 1}) {
    EXPECT_THAT(place.Log(1, 1, "run", host),
                HasSubstr("{\"imminent\":true,\"kind\":\"preemption\",\"text\":\"TRUE\"}\n"));
    EXPECT_EQ(place.Log(1, 2, "run", host), "2 preempted\n") << "new machines, new disks";
  }
  const base::Json job = place.Show("1");
  EXPECT_EQ(job["spent"]["preemption"], 1);
  EXPECT_EQ(job["spent"]["failure"], 0);
  EXPECT_EQ(SliceOf(place), "spot-000001-a2");
  EXPECT_THAT(place.Jobman({"history", "1"}).out, HasSubstr("notice of preemption (TRUE)"));
}

TEST(Notice, AMaintenanceIsToldAndWaitedForOnTheSameSlice) {
  Place place;
  place.StartSim({"--delays", "0"});
  ASSERT_EQ(place.Jobman({"create", place.JobFile("kept", 2, Saves("TERM", 1))}).code, 0);
  ASSERT_TRUE(AllUp(place, 2));
  ASSERT_EQ(place.Sim({"maintain", "kept-000001-a1", "--notice", "6s", "--for", "1s"}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED", 90));
  for (const int host : {0, 1}) {
    EXPECT_THAT(place.Log(1, 1, "run", host), HasSubstr("TERMINATE_ON_HOST_MAINTENANCE"));
    EXPECT_EQ(place.Log(1, 2, "run", host), "2 maintenance saved\n") << "the same disks";
  }
  EXPECT_EQ(SliceOf(place), "kept-000001-a1");
  EXPECT_EQ(place.Show("1")["spent"]["preemption"], 1);
}

TEST(Notice, TheSignalIsTheUsersChoiceAndExitCodeZeroIsSuccess) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file = place.JobFile("usr", 1, Saves("USR1", 0));
  ASSERT_EQ(place.Jobman({"create", file, "--set", "command.on_notice.signal=USR1"}).code, 0);
  ASSERT_TRUE(AllUp(place, 1));
  ASSERT_EQ(place.Sim({"preempt", "usr-000001-a1", "--notice", "40s"}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED", 35));
  EXPECT_EQ(place.Show("1")["attempt"], 1);
}

}  // namespace
}  // namespace jobman::test

// cancel, resume, reboot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

TEST(Stop, CancelLeavesNoProcessAndResumeUsesTheSliceAgain) {
  Place place;
  place.StartSim({"--delays", "0"});
  // A child that ignores TERM, and a daemon in its own session.
  const std::string file = place.JobFile("stubborn", 2,
                                         "[ $JOBMAN_ATTEMPT = 1 ] || exit 0\n"
                                         "setsid sleep 1234 &\n"
                                         "sh -c 'trap \"\" TERM; while :; do sleep 1; done' &\n"
                                         "echo up\n"
                                         "wait");
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(place.Until("the command to be up on both hosts", [&] {
    return place.Log(1, 1, "run", 0) == "up\n" && place.Log(1, 1, "run", 1) == "up\n";
  }));
  const Ran cancel = place.Jobman({"cancel", "1", "--wait"});
  EXPECT_EQ(cancel.code, 0) << cancel.All();
  const Ran left = place.Jobman(
      {"exec", "1", "--",
       "grep -lE 'JOBMAN_RUN_ID=[^.]*[.]j000001[.]' /proc/[0-9]*/environ 2>/dev/null"});
  EXPECT_THAT(left.out, testing::Not(HasSubstr("/proc/"))) << left.All();
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("stubborn-000001-a1"));
  ASSERT_EQ(place.Jobman({"resume", "1"}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED"));
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("stubborn-000001-a1"));
  EXPECT_THAT(place.Sim({"status"}).out, testing::Not(HasSubstr("stubborn-000001-a2")));
}

TEST(Stop, CancelEndsLeftoversOfAnEndedCommand) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file = place.JobFile("parent", 2,
                                         "setsid sleep 4321 &\n"
                                         "echo up\n"
                                         "[ $JOBMAN_HOST_INDEX = 0 ] || wait");
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(place.Until("host 0 to end and host 1 to be up", [&] {
    const base::Json hosts = place.Show("1")["stage"]["hosts"];
    return hosts.size() == 2 && hosts[0]["phase"] == "exited" &&
           place.Log(1, 1, "run", 1) == "up\n";
  }));
  ASSERT_EQ(place.Jobman({"cancel", "1", "--wait"}).code, 0);
  const Ran left = place.Jobman({"exec", "1", "--", "pgrep -f '[s]leep 4321' || echo none"});
  EXPECT_THAT(left.out, testing::AllOf(HasSubstr("host 0 | none"), HasSubstr("host 1 | none")))
      << left.All();
}

TEST(Stop, NothingOfALostRunIsLeftInTheNextAttempt) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file =
      place.JobFile("orphan", 1,
                    "[ $JOBMAN_ATTEMPT = 1 ] || { pgrep -fc '[s]leep 4567'; exit 0; }\n"
                    "sleep 4567",
                    "retries: {backoff: 1s}\n");
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(place.Until("the command to run", [&] {
    return place.Jobman({"exec", "1", "--", "pgrep -f '[s]leep 4567'"}).code == 0;
  }));
  ASSERT_EQ(
      place.Jobman({"exec", "1", "--", "kill -9 $(cut -d' ' -f1 ~/.jobman/runs/*.a1/pid)"}).code,
      0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED"));
  EXPECT_EQ(place.Log(1, 2, "run", 0), "0\n");
}

TEST(Stop, SetupRunsOncePerHostAndAgainWhenForced) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file = place.JobFile("setup", 1, "cat ~/count",
                                         "setup: [{name: count, run: 'echo x >> ~/count'}]\n");
  ASSERT_EQ(place.Jobman({"run", file}).code, 0);
  EXPECT_EQ(place.Log(1, 1, "run", 0), "x\n");
  ASSERT_EQ(place.Jobman({"reboot", "1", "--wait"}).code, 0);
  EXPECT_EQ(place.Log(1, 2, "run", 0), "x\n");
  ASSERT_EQ(place.Jobman({"reboot", "1", "--force", "--wait"}).code, 0);
  EXPECT_EQ(place.Log(1, 3, "run", 0), "x\nx\n");
}

TEST(Stop, SetupRunsAgainAfterTheHostsRebooted) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file =
      place.JobFile("mounts", 1, "cat ~/count; [ $JOBMAN_ATTEMPT = 2 ] || sleep 600",
                    "setup: [{name: count, run: 'echo x >> ~/count'}]\n");
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(
      place.Until("the first attempt to run", [&] { return place.Log(1, 1, "run", 0) == "x\n"; }));
  ASSERT_EQ(place.Sim({"reboot", "mounts-000001-a1"}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED"));
  EXPECT_EQ(place.Log(1, 2, "run", 0), "x\nx\n");
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("mounts-000001-a1"));
}

TEST(Stop, CancelInTheQueueDeletesTheRequest) {
  Place place;
  place.StartSim({"--set", "stock.us-central2-b/v4=0"});
  ASSERT_EQ(place.Jobman({"create", place.JobFile("queued", 1, "true")}).code, 0);
  ASSERT_TRUE(place.Reaches("queued", "WAITING"));
  EXPECT_EQ(place.Jobman({"cancel", "queued", "--wait"}).code, 0);
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
}

}  // namespace
}  // namespace jobman::test

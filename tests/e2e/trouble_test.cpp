// Faults of the cloud and of hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

TEST(Trouble, APreemptedJobContinuesOnANewSliceAndTheOldOneIsDeleted) {
  Place place;
  place.StartSim({"--delays", "0"});
  place.StartController({"--poll", "1"});
  ASSERT_EQ(place
                .Jobman({"create", place.JobFile("spot", 2,
                                                 "echo attempt $JOBMAN_ATTEMPT\n"
                                                 "[ $JOBMAN_ATTEMPT = 2 ] || sleep 600")})
                .code,
            0);
  ASSERT_TRUE(place.Until("the first attempt to run",
                          [&] { return place.Log(1, 1, "run", 1) == "attempt 1\n"; }));
  ASSERT_EQ(place.Sim({"preempt", "spot-000001-a1"}).code, 0);
  ASSERT_TRUE(place.Reaches("spot", "SUCCEEDED"));
  EXPECT_EQ(place.Log(1, 2, "run", 0), "attempt 2\n");
  EXPECT_THAT(place.Sim({"status"}).out, testing::Not(HasSubstr("spot-000001-a1")));
}

TEST(Trouble, AHostThatDiesFailsTheStageAndIsNamed) {
  Place place;
  place.StartSim({"--delays", "0"});
  place.StartController({"--poll", "1", "--host-limit", Place::kHostLimit});
  ASSERT_EQ(place
                .Jobman({"create",
                         place.JobFile("dying", 4, "echo up; sleep 600", "retries: {infra: 0}\n")})
                .code,
            0);
  ASSERT_TRUE(place.Until("all hosts to be up", [&] {
    for (int host = 0; host < 4; ++host) {
      if (place.Log(1, 1, "run", host) != "up\n") return false;
    }
    return true;
  }));
  ASSERT_EQ(place.Sim({"host", "dying-000001-a1/2", "kill"}).code, 0);
  ASSERT_TRUE(place.Reaches("dying", "FAILED"));
  EXPECT_THAT(place.Jobman({"why", "dying"}).out, HasSubstr("host 2"));
  const Ran left =
      place.Jobman({"exec", "dying", "-w", "0,1,3", "--", "pgrep -f '[s]leep 600' | wc -l"});
  EXPECT_THAT(left.out, testing::Not(HasSubstr("| 1"))) << left.All();
}

TEST(Trouble, AnApiThatFailsForAWhileDeletesNothing) {
  Place place;
  place.StartSim({"--delays", "0"});
  place.StartController({"--poll", "1"});
  ASSERT_EQ(place.Jobman({"create", place.JobFile("calm", 1, "echo up; sleep 6; echo done")}).code,
            0);
  ASSERT_TRUE(
      place.Until("the command to be up", [&] { return place.Log(1, 1, "run", 0) == "up\n"; }));
  ASSERT_EQ(place.Sim({"fault", "*", "unavailable", "--times", "1000"}).code, 0);
  ASSERT_TRUE(place.Reaches("calm", "SUCCEEDED"));
  EXPECT_EQ(place.Log(1, 1, "run", 0), "up\ndone\n");
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("calm-000001-a1"));
  EXPECT_EQ(place.Show("calm")["attempt"], 1);
}

TEST(Trouble, ALostCreateAnswerMakesOneSlice) {
  Place place;
  place.StartSim({"--delays", "0"});
  ASSERT_EQ(place.Sim({"fault", "queuedResources.create", "drop_reply"}).code, 0);
  const Ran ran = place.Jobman({"run", place.JobFile("lost", 1, "echo once")});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_EQ(place.Jobman({"delete", "lost", "--wait"}).code, 0);
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
}

TEST(Trouble, ALoginThatIsRefusedIsSaidAtOnceAndTheJobRunsOnceItIsNot) {
  Place place;
  const std::string key = (place.path() / "key").string();
  ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}).code, 0);
  const std::string file =
      place.JobFile("barred", 2, "echo up", "ssh: {private_key: " + key + "}\n");
  place.StartSim({"--delays", "0"});
  place.StartController({"--poll", "1"});
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(place.Reaches("barred", "SUCCEEDED"));
  place.KillController();  // with its connections
  ASSERT_EQ(RunProgram({"mv", key, key + ".good"}).code, 0);
  ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}).code, 0);
  place.StartController({"--poll", "1s"});
  ASSERT_EQ(place.Jobman({"resume", "barred"}).code, 0);
  ASSERT_TRUE(place.Until("the refusal to be shown", [&] {
    return place.Jobman({"list"}).out.find("refuses login as ") != std::string::npos;
  }));
  EXPECT_THAT(place.Jobman({"list", "-s", "starting"}).out, HasSubstr("STARTING"));
  const std::string why = place.Jobman({"why", "barred"}).out;
  EXPECT_THAT(why, HasSubstr("; check ssh.user and ssh.private_key"));
  EXPECT_THAT(why, HasSubstr("waits for  run to start on 2 hosts"));
  EXPECT_THAT(why, HasSubstr(" so far; given up after 5m"));
  ASSERT_EQ(RunProgram({"mv", key + ".good", key}).code, 0);
  ASSERT_EQ(RunProgram({"rm", key + ".pub"}).code, 0);
  ASSERT_TRUE(place.Reaches("barred", "SUCCEEDED"));
  EXPECT_THAT(place.Jobman({"history", "barred"}).out, HasSubstr("started run on "));
}

}  // namespace
}  // namespace jobman::test

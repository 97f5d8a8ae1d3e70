// Faults of the cloud and of hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

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
  ASSERT_TRUE(place.Until("the command to be up",
                          [&] { return place.Log(1, 1, "run", 0).starts_with("up\n"); }));
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

/// A job that has succeeded, and was resumed with a key that its hosts refuse.
class RefusedLogin : public testing::Test {
 protected:
  RefusedLogin() {
    MakeKey();
    const std::string file =
        place_.JobFile("barred", 2, "echo up", "ssh: {private_key: " + key_ + "}\n");
    place_.StartSim({"--delays", "0"});
    place_.StartController({"--poll", "1"});
    EXPECT_EQ(place_.Jobman({"create", file}).code, 0);
    EXPECT_TRUE(place_.Reaches("barred", "SUCCEEDED"));
    place_.KillController();  // with its connections
    EXPECT_EQ(RunProgram({"mv", key_, key_ + ".good"}).code, 0);
    MakeKey();
    place_.StartController({"--poll", "1s"});
    EXPECT_EQ(place_.Jobman({"resume", "barred"}).code, 0);
    EXPECT_TRUE(place_.Until("the refusal to be shown", [&] {
      return place_.Jobman({"list"}).out.find("refuses login as ") != std::string::npos;
    }));
  }
  void MakeKey() const {
    EXPECT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key_}).code, 0);
  }

  Place place_;
  const std::string key_ = (place_.path() / "key").string();
};

TEST_F(RefusedLogin, IsSaidAtOnceAndTheJobRunsOnceItIsNot) {
  EXPECT_THAT(place_.Jobman({"list", "-s", "starting"}).out, HasSubstr("STARTING"));
  const std::string why = place_.Jobman({"why", "barred"}).out;
  EXPECT_THAT(why, HasSubstr("; check ssh.user and ssh.private_key"));
  EXPECT_THAT(why, HasSubstr("waits for  run to start on 2 hosts"));
  EXPECT_THAT(why, HasSubstr(" so far; given up after 5m"));
  ASSERT_EQ(RunProgram({"mv", key_ + ".good", key_}).code, 0);
  ASSERT_EQ(RunProgram({"rm", key_ + ".pub"}).code, 0);
  ASSERT_TRUE(place_.Reaches("barred", "SUCCEEDED"));
  EXPECT_THAT(place_.Jobman({"history", "barred"}).out, HasSubstr("started run on "));
}

/// A host that may answer would get the grace, five seconds here, and half a minute.
TEST_F(RefusedLogin, DoesNotKeepCancelWaiting) {
  const auto began = std::chrono::steady_clock::now();
  const Ran cancel = place_.Jobman({"cancel", "barred", "--wait"});
  EXPECT_EQ(cancel.code, 0) << cancel.All();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{25});
  EXPECT_THAT(place_.Jobman({"why", "barred"}).out, HasSubstr("slice barred-000001-a1 is kept"));
}

TEST_F(RefusedLogin, DoesNotKeepDeleteWaiting) {
  const Ran removed = place_.Jobman({"delete", "barred", "--yes", "--wait"});
  EXPECT_EQ(removed.code, 0) << removed.All();
  const std::string history = place_.Jobman({"history", "barred"}).out;
  EXPECT_THAT(history, HasSubstr("waiting until slice barred-000001-a1 is deleted"));
  EXPECT_THAT(history, testing::Not(HasSubstr("stopping run on 2 hosts")));
}

}  // namespace
}  // namespace jobman::test

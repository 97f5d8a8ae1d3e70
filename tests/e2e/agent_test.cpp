// The user's ssh-agent. One that does not answer: the job that needs it says so, and nobody else
// waits. One that is forwarded to the hosts (ssh.agent_forwarding).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"
#include "tests/support/silent_agent.hpp"
#include "tests/support/ssh_agent.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SilentAgentOfAJob, IsNamedAndOtherJobsGoOn) {
  Place place;
  place.StartSim({"--delays", "0"});
  const SilentAgent agent(place.path());
  const pid_t controller = place.StartController({"--poll", "1"});
  // Only the agent could unlock this key.
  const std::string key = (place.path() / "locked").string();
  ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", key}).code, 0);
  const std::string locked =
      place.JobFile("locked", 1, "true", "ssh: {private_key: '" + key + "'}\n");
  ASSERT_EQ(place.Jobman({"create", locked}).code, 0);
  ASSERT_TRUE(place.Reaches("locked", "RUNNING"));
  const Ran other = place.Jobman({"run", place.JobFile("other", 2, "echo done")});
  EXPECT_EQ(other.code, 0) << other.All();
  EXPECT_TRUE(place.Until("why to name the agent", [&] {
    return base::Contains(place.Jobman({"why", "locked"}).out, "the ssh-agent at SSH_AUTH_SOCK=");
  }));
  EXPECT_EQ(place.StateOf("locked"), "RUNNING") << "the fault is not the host's";
  const Ran deleted = place.Jobman({"delete", "locked", "other", "--wait"});
  EXPECT_EQ(deleted.code, 0) << deleted.All();
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
  EXPECT_EQ(kill(controller, 0), 0) << "the first controller did it all";
  EXPECT_THAT(base::ReadFile(place.home() / "controller.log").value_or(""),
              Not(HasSubstr("took over")));
}

constexpr const char* kForwarded = "ssh: {agent_forwarding: true}\n";

/// Gives the agent a key; returns its fingerprint.
std::string AddKey(const base::Path& folder) {
  const std::string key = (folder / "agent_key").string();
  EXPECT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}).code, 0);
  EXPECT_EQ(RunProgram({"ssh-add", "-q", key}).code, 0);
  const std::string shown = RunProgram({"ssh-keygen", "-l", "-f", key}).out;
  return shown.substr(0, shown.find(' ', shown.find("SHA256:")));
}

TEST(ForwardedAgent, IsThereInSetupStepsAndCommandsOfItsJobOnly) {
  Place place;
  place.StartSim({"--delays", "0"});
  const SshAgent agent(place.path());
  const std::string key = AddKey(place.path());
  const std::string setup = "setup: [{name: look, run: ssh-add -l}]\n";
  const Ran ran = place.Jobman({"run", place.JobFile("with", 2, "ssh-add -l", kForwarded + setup)});
  EXPECT_EQ(ran.code, 0) << ran.All();
  for (int host = 0; host < 2; ++host) {
    EXPECT_THAT(place.Log(1, 1, "setup-0-look", host), HasSubstr(key));
    EXPECT_THAT(place.Log(1, 1, "run", host), HasSubstr(key));
  }
  EXPECT_THAT(place.Jobman({"exec", "1", "-w", "1", "--", "ssh-add -l"}).out, HasSubstr(key));
  EXPECT_THAT(place.Jobman({"ssh", "1", "-w", "1", "ssh-add -l"}).out, HasSubstr(key));
  const Ran without = place.Jobman({"run", place.JobFile("without", 1, "ssh-add -l || true")});
  EXPECT_EQ(without.code, 0) << without.All();
  EXPECT_THAT(place.Log(2, 1, "run", 0), HasSubstr("not open a connection to your authentication"));
  EXPECT_THAT(place.Jobman({"exec", "2", "--", "ssh-add -l"}).out, Not(HasSubstr(key)));
}

TEST(ForwardedAgent, ComesBackToARunningCommandWithAnotherController) {
  Place place;
  place.StartSim({"--delays", "0"});
  const SshAgent agent(place.path());
  const std::string key = AddKey(place.path());
  place.StartController({"--poll", "1"});
  const std::string command =
      "ssh-add -l; while [ -S \"$SSH_AUTH_SOCK\" ]; do sleep 0.5; done; echo away\n"
      "until [ -e ~/go ]; do sleep 0.5; done; ssh-add -l && echo back";
  ASSERT_EQ(place.Jobman({"create", place.JobFile("one", 1, command, kForwarded)}).code, 0);
  ASSERT_TRUE(place.Until("the command to see the key",
                          [&] { return base::Contains(place.Log(1, 1, "run", 0), key); }));
  place.KillController();
  // With the connection its socket goes.
  ASSERT_TRUE(place.Until("the agent to be away", [&] {
    const std::string look = "grep -qx away ~/.jobman/runs/*/log";
    return place.Jobman({"exec", "1", "--", look}).code == 0;
  }));
  place.StartController({"--poll", "1"});
  ASSERT_TRUE(place.Until("the agent to be back", [&] {
    return place.Jobman({"exec", "1", "--", "test -S ~/.jobman/agent/[0-9]*"}).code == 0;
  }));
  ASSERT_EQ(place.Jobman({"exec", "1", "--", "touch ~/go"}).code, 0);
  ASSERT_TRUE(place.Reaches("one", "SUCCEEDED"));
  const std::string log = place.Log(1, 1, "run", 0);
  EXPECT_THAT(log.substr(log.find("away")), HasSubstr(key));
  EXPECT_THAT(log, HasSubstr("back"));
}

TEST(ForwardedAgent, ThatHangsHoldsUpNothing) {
  Place place;
  place.StartSim({"--delays", "0"});
  const SilentAgent agent(place.path());
  const std::string file =
      place.JobFile("hangs", 2, "timeout 3 ssh-add -l || echo code $?; echo on", kForwarded);
  const Ran ran = place.Jobman({"run", file});
  EXPECT_EQ(ran.code, 0) << ran.All();
  for (int host = 0; host < 2; ++host)
    EXPECT_THAT(place.Log(1, 1, "run", host), HasSubstr("code 124\non\n"));
}

TEST(ForwardedAgent, ThatIsNotThereIsSaidAndTheJobRuns) {
  ::unsetenv("SSH_AUTH_SOCK");
  Place place;
  place.StartSim({"--delays", "0"});
  const Ran ran = place.Jobman({"run", place.JobFile("none", 1, "echo ran", kForwarded)});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr("note: ssh.agent_forwarding: no SSH agent is known here"));
  EXPECT_THAT(place.Log(1, 1, "run", 0), HasSubstr("no SSH agent is forwarded"));
  EXPECT_THAT(place.Log(1, 1, "run", 0), HasSubstr("ran"));
}

}  // namespace
}  // namespace jobman::test

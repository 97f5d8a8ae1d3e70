// jobman exec: one command on the hosts of a job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <thread>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

class Exec : public testing::Test {
 protected:
  /// A finished job of two hosts that holds its slice.
  void Run(const std::string& more = {}) {
    place_.StartSim({"--delays", "0"});
    ASSERT_EQ(place_.Jobman({"run", place_.JobFile("one", 2, "true", more)}).code, 0);
  }
  Place place_;
};

TEST_F(Exec, QuietOutputOfOneHostIsRaw) {
  Run();
  const Ran one = place_.Jobman({"exec", "-q", "1", "-w", "0", "--", "printf 'a\\nb'; exit 3"});
  EXPECT_EQ(one.code, 1);
  EXPECT_EQ(one.out, "a\nb");
  EXPECT_THAT(place_.Jobman({"exec", "-q", "1", "--", "echo a"}).out, HasSubstr("host 1 | a\n"));
}

TEST_F(Exec, EndsWhenNobodyReadsItsOutput) {
  Run();
  const std::string command =
      "timeout 60 \"$0\" --home \"$1\" exec 1 -- yes | head -n 1; exit ${PIPESTATUS[0]}";
  const Ran ran =
      RunProgram({"bash", "-c", command, JOBMAN_BIN_DIR "/jobman", place_.home().string()});
  EXPECT_EQ(ran.code, 141);
  EXPECT_THAT(ran.out, HasSubstr("| y\n"));
}

/// Nobody vouches for the hosts' keys: what was pinned is in the job's history and in the log.
TEST_F(Exec, AKeyThatIsPinnedOnFirstUseIsShown) {
  place_.StartSim({"--delays", "0"});
  ASSERT_EQ(place_.Sim({"fault", "nodes.getGuestAttributes", "denied", "--times", "999"}).code, 0);
  ASSERT_EQ(place_.Jobman({"run", place_.JobFile("one", 1, "true")}).code, 0);
  for (const std::string& text : {place_.Jobman({"history", "1"}).out,
                                  base::ReadFile(place_.home() / "controller.log").value_or("")}) {
    EXPECT_THAT(text, HasSubstr("pinned key ED25519 SHA256:"));
    EXPECT_THAT(text, HasSubstr("on first use, as the cloud refused to tell it"));
  }
  EXPECT_EQ(place_.Jobman({"exec", "1", "--", "true"}).code, 0);
}

TEST_F(Exec, AStrictJobLogsInToVouchedHostsOnly) {
  Run("ssh: {host_keys: strict}\n");
  EXPECT_EQ(place_.Jobman({"exec", "1", "--", "true"}).code, 0);
  EXPECT_THAT(place_.Jobman({"history", "1"}).out, testing::Not(HasSubstr("pinned key")));
  ASSERT_EQ(place_.Sim({"fault", "nodes.getGuestAttributes", "denied", "--times", "999"}).code, 0);
  const std::string file =
      place_.JobFile("two", 1, "true", "ssh: {host_keys: strict}\nretries: {infra: 0}\n");
  EXPECT_NE(place_.Jobman({"run", file}).code, 0);
  const std::string why = place_.Jobman({"why", "2"}).out;
  EXPECT_THAT(why, HasSubstr("ssh.host_keys is strict"));
  EXPECT_THAT(why, HasSubstr("first-use"));
  const Ran exec = place_.Jobman({"exec", "2", "--", "true"});
  EXPECT_NE(exec.code, 0);
  EXPECT_THAT(exec.All(), HasSubstr("ssh.host_keys is strict"));
}

TEST_F(Exec, AnUnreadableKeyIsACredentialsError) {
  ::unsetenv("SSH_AUTH_SOCK");
  ::unsetenv("JOBMAN_SSH_PASSPHRASE");
  const std::string key = (place_.path() / "key").string();
  ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}).code, 0);
  Run("ssh: {private_key: " + key + "}\n");
  ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-p", "-N", "secret", "-f", key}).code, 0);
  const Ran ran = place_.Jobman({"exec", "1", "--", "true"});
  EXPECT_EQ(ran.code, 5);
  EXPECT_THAT(ran.err, HasSubstr("is encrypted"));
  EXPECT_THAT(ran.err, HasSubstr("JOBMAN_SSH_PASSPHRASE"));
}

TEST_F(Exec, AnInterruptEndsTheCommandOnTheHosts) {
  Run();
  const pid_t exec = place_.Start({"exec", "1", "--", "sleep 6123; echo on"});
  // Their shells too, since the command is on their command line.
  const auto running = [&] {
    return place_.Jobman({"exec", "1", "-q", "--", "pgrep -f '[s]leep 6123'"}).out;
  };
  const auto on_both = [&] {
    const std::string out = running();
    return base::Contains(out, "host 0 |") && base::Contains(out, "host 1 |");
  };
  ASSERT_TRUE(place_.Until("the command to run", on_both));
  // Twice, as with `timeout --signal=INT` and impatient users: the last message still appears.
  ::kill(exec, SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds{30});
  ::kill(exec, SIGINT);
  EXPECT_EQ(place_.EndOf(exec), 130);
  EXPECT_TRUE(place_.Until("nothing of it to be left", [&] { return running().empty(); }));
  const std::string said = base::ReadFile(place_.home() / "controller.log").value();
  EXPECT_THAT(said, HasSubstr("was sent TERM"));
  EXPECT_THAT(said, HasSubstr("jobman exec 000001"));
}

}  // namespace
}  // namespace jobman::test

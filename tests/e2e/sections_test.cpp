// Sections of the job file that prepare the hosts, from `create` to the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

bool HasVenv() {
  return std::system("/usr/bin/python3 -I -c 'import venv, ensurepip' 2>/dev/null") == 0;
}

/// "3.11"
std::string PythonVersion() {
  FILE* const pipe =
      popen("/usr/bin/python3 -I -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'", "r");
  char version[16] = {};
  EXPECT_EQ(fscanf(pipe, "%15s", version), 1);
  pclose(pipe);
  return version;
}

TEST(Sections, KeysAndAVirtualEnvironmentAreReadyBeforeTheCommand) {
  if (!HasVenv()) GTEST_SKIP() << "/usr/bin/python3 cannot make virtual environments here";
  Place place;
  place.StartSim({"--delays", "0"});
  const base::Path key = place.path() / "pod_key";
  std::ofstream(key) << "the secret of the key\n";
  const std::string version = PythonVersion();
  const std::string file = place.JobFile(
      "sections", 2, "python -c 'import sys; print(sys.prefix)'; cat ~/.ssh/pod_key | wc -l",
      "venv: {name: env, python: \"" + version + "\"}\n" +
          "setup: [{name: mine, run: \"echo x >> ~/mine\"}]\n");
  const Ran ran = place.Jobman(
      {"run", file, "--set", "job.env_type=venv", "--set",
       "ssh.identities=[{private_key: " + key.string() + ", config_entry: 'Host 10.*'}]"});
  EXPECT_EQ(ran.code, 0) << ran.All();
  for (int host = 0; host < 2; ++host) {
    EXPECT_THAT(place.Log(1, 1, "run", host), HasSubstr("/env\n1\n"));
    EXPECT_THAT(place.Log(1, 1, "setup-0-identities", host), HasSubstr("installed ~/.ssh/pod_key"));
  }
  EXPECT_THAT(ran.err, HasSubstr("setup step 2 of 3, venv"));
  // Nothing is done again on the same machines, and the key is nowhere here.
  const Ran again = place.Jobman({"run", "1"});
  EXPECT_EQ(again.code, 0) << again.All();
  EXPECT_EQ(place.Jobman({"exec", "1", "--", "test $(wc -l < ~/mine) = 1"}).code, 0);
  EXPECT_NE(std::system(("grep -r 'the secret of the key' " + place.home().string() +
                         " --include=*.db* --include=*.log -q")
                            .c_str()),
            0);
}

/// The number of calls of the script that begin with `verb`, on all simulated hosts.
int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Sections, ASecondAttemptBeginsWithTheCommandAndARestartedHostIsSetUpAgain) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file =
      place.JobFile("twice", 2, "echo ran",
                    "setup: [{name: mine, run: 'echo x >>~/mine-$JOBMAN_HOST_INDEX'}, {name: more, "
                    "run: 'true'}]\n");
  ASSERT_EQ(place.Jobman({"run", file}).code, 0);
  const Ran second = place.Jobman({"run", "1"});
  EXPECT_EQ(second.code, 0) << second.All();
  EXPECT_EQ(Count(second.err, "setup step"), 0) << second.err;
  EXPECT_THAT(place.Log(1, 2, "run", 1), HasSubstr("ran"));
  place.Sim({"host", "twice-000001-a1/1", "kill"});
  place.Sim({"host", "twice-000001-a1/1", "boot"});
  const Ran third = place.Jobman({"run", "1"});
  EXPECT_EQ(third.code, 0) << third.All();
  EXPECT_THAT(third.err, HasSubstr("its setup is not done any more"));
  EXPECT_THAT(third.err, HasSubstr("setup step 1 of 2, mine"));
  const Ran marks = place.Jobman(
      {"exec", "1", "--", "cat ~/mine-$JOBMAN_HOST_INDEX 2>/dev/null; wc -l ~/mine-*"});
  EXPECT_THAT(marks.out, HasSubstr("1 ")) << "host 0 did its step once";
  EXPECT_THAT(marks.out, HasSubstr("2 ")) << "host 1 once for each boot";
}

TEST(Sections, TheCommandRunsAloneWhileAStepFails) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file = place.JobFile("alone", 1, "echo the command");
  const Ran first = place.Jobman({"run", file, "--set", "setup=[{name: broken, run: 'exit 3'}]"});
  EXPECT_EQ(first.code, 1) << first.All();
  const Ran alone = place.Jobman({"run", "alone", "--cmd-only"});
  EXPECT_EQ(alone.code, 0) << alone.All();
  EXPECT_THAT(alone.out, HasSubstr("the command"));
  EXPECT_EQ(place.Jobman({"run", "alone"}).code, 1) << "it is forgotten with the next wish";
  EXPECT_EQ(place.Jobman({"delete", "1", "--wait"}).code, 0);
  const Ran without = place.Jobman({"run", "alone", "--cmd-only"});
  EXPECT_NE(without.code, 0);
  EXPECT_THAT(without.err, HasSubstr("holds no slice"));
  EXPECT_EQ(place.Jobman({"run", file, "--cmd-only"}).code, 2) << "a file is no stored job";
}

TEST(Sections, HostsLogInToEachOtherWithTheKeyOfTheJob) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file = place.JobFile(
      "peers", 2,
      "cat ~/podips.txt; ls -l ~/.ssh/jobman-peers; "
      "for one in $(echo $JOBMAN_HOSTS | tr , ' '); do "
      "ssh -n -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=20 $one "
      "'echo logged in to $(hostname)'; done; ssh-keygen -l -f ~/.ssh/jobman-peers");
  const Ran ran = place.Jobman({"run", file, "--set", "ssh.host_to_host=true"});
  EXPECT_EQ(ran.code, 0) << ran.All();
  std::string keys[2];
  for (int host = 0; host < 2; ++host) {
    const std::string log = place.Log(1, 1, "run", host);
    EXPECT_THAT(log, HasSubstr("-rw-------"));
    EXPECT_THAT(log, AllOf(HasSubstr("logged in to "), Not(HasSubstr("verification failed"))))
        << "the cloud told the keys of all hosts";
    keys[host] = log.substr(log.find("256 "));
    EXPECT_THAT(place.Log(1, 1, "setup-0-host-to-host", host),
                HasSubstr("may log in to each other"));
  }
  EXPECT_EQ(keys[0], keys[1]) << "one key for all";
  EXPECT_EQ(place.Jobman({"delete", "1", "--wait"}).code, 0);
  EXPECT_EQ(place.Jobman({"clean", "1"}).code, 0);
  EXPECT_NE(
      std::system(("find " + place.home().string() + " -name 'peers_key*' | grep -q .").c_str()), 0)
      << "the key goes with the job";
}

TEST(Sections, WhyShowsWhatPipSaysOfAWrongRequirementsFile) {
  if (!HasVenv()) GTEST_SKIP() << "/usr/bin/python3 cannot make virtual environments here";
  Place place;
  place.StartSim({"--delays", "0"});
  const base::Path list = place.path() / "requirements.txt";
  std::ofstream(list) << "nothing-of-this-name==1\n";
  const std::string file = place.JobFile("wrong", 1, "true");
  const Ran ran = place.Jobman({"run", file, "--set", "job.env_type=venv", "--set",
                                "venv={name: env, python: python" + PythonVersion() +
                                    ", requirements_file: " + list.string() + "}",
                                "--set", "job.environment={PIP_NO_INDEX: '1'}"});
  EXPECT_EQ(ran.code, 1) << ran.All();
  const Ran why = place.Jobman({"why", "wrong"});
  EXPECT_THAT(why.out, HasSubstr("host 0 wrote last in setup-0-venv:"));
  EXPECT_THAT(why.out, HasSubstr("No matching distribution found for nothing-of-this-name==1"));
}

TEST(Sections, AMissingKeyIsRefusedByCreate) {
  Place place;
  const std::string file = place.JobFile("keys", 1, "true");
  const std::string set = "ssh.identities=[{private_key: /nowhere/key}]";
  const Ran checked = place.Jobman({"config", "check", file, "--set", set});
  EXPECT_EQ(checked.code, 0) << checked.All();
  EXPECT_THAT(checked.All(), HasSubstr("/nowhere/key"));
  const Ran created = place.Jobman({"create", file, "--set", set});
  EXPECT_EQ(created.code, 2) << created.All();
  EXPECT_THAT(created.err, HasSubstr("/nowhere/key"));
}

TEST(Sections, WithoutACommandTheSliceIsHeldUntilTheJobIsCancelled) {
  Place place;
  place.StartSim({"--delays", "0"});
  const base::Path file = place.path() / "hold.yaml";
  std::ofstream(file) << "cloud: local\ntpu: {accelerator: v4-8, zone: us-central2-b}\n";
  const Ran created = place.Jobman({"create", file.string()});
  EXPECT_EQ(created.code, 0) << created.All();
  EXPECT_THAT(created.All(), HasSubstr("the job holds its slice until it is cancelled"));
  ASSERT_TRUE(place.Reaches("hold", "RUNNING"));
  EXPECT_EQ(place.Jobman({"exec", "hold", "--", "true"}).code, 0);
  EXPECT_EQ(place.Jobman({"cancel", "hold", "--wait"}).code, 0);
  EXPECT_EQ(place.Jobman({"delete", "hold", "--wait"}).code, 0);
}

}  // namespace
}  // namespace jobman::test

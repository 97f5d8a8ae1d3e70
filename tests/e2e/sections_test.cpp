// Sections of the job file that prepare the hosts, from `create` to the command.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "jobman/base/handle.hpp"
#include "jobman/base/json.hpp"
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

/// How often the word stands in the text.
int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
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
  EXPECT_EQ(Count(again.err, "setup step"), 0) << again.err;
  EXPECT_EQ(place.Jobman({"exec", "1", "--", "test $(wc -l < ~/mine) = 1"}).code, 0);
  EXPECT_NE(std::system(("grep -r 'the secret of the key' " + place.home().string() +
                         " --include=*.db* --include=*.log -q")
                            .c_str()),
            0);
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
  // A follower may be between two looks while the job says it.
  EXPECT_THAT(place.Jobman({"history", "1"}).out, HasSubstr("its setup step mine is not done any"));
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
      "'echo logged in to $(hostname)'; done; ssh-keygen -l -f ~/.ssh/jobman-peers; "
      "[ $JOBMAN_HOST_INDEX != 0 ] || { echo all of it | ~/.local/bin/podrun --hosts 0-1 cat; "
      "~/.local/bin/podrun -i --detach --name note 'echo it is noted; exit 3'; "
      "~/.local/bin/podrun --follow note; echo code $?; }");
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
  EXPECT_EQ(keys[0].substr(0, keys[0].find('\n')), keys[1].substr(0, keys[1].find('\n')))
      << "one key for all";
  EXPECT_THAT(keys[0], AllOf(HasSubstr("host 0 | all of it\n"), HasSubstr("host 1 | all of it\n")));
  EXPECT_THAT(keys[0], AllOf(HasSubstr("host 1 | it is noted\n"), HasSubstr("code 3\n")));
  EXPECT_THAT(place.Jobman({"exec", "1", "--runs"}).out,
              AllOf(HasSubstr("note"), HasSubstr("0-1"), HasSubstr("exit code 3")))
      << "podrun's runs are those of exec";
  EXPECT_THAT(place.Jobman({"exec", "1", "--follow", "note"}).out,
              AllOf(HasSubstr("host 0 | it is noted\n"), HasSubstr("host 1 | it is noted\n")));
  EXPECT_EQ(place.Jobman({"exec", "1", "--detach", "--name", "mine", "--", "echo my own"}).code, 0);
  EXPECT_THAT(
      place.Jobman({"exec", "1", "-w", "0", "-q", "--", "~/.local/bin/podrun --follow mine"}).out,
      HasSubstr("host 1 | my own\n"));
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

/// What a step of the section venv waits for: on each host pip reads a list of packages from a
/// pipe, and gets to its end when the test lets it.
class Gates {
 public:
  Gates(const base::Path& folder, int hosts) : folder_(folder), ends_(static_cast<size_t>(hosts)) {
    EXPECT_TRUE(base::EnsureDir(folder_).ok());
    for (int host = 0; host < hosts; ++host) EXPECT_EQ(mkfifo(Gate(host).c_str(), 0600), 0);
  }
  ~Gates() { Open(); }
  Gates(const Gates&) = delete;
  Gates& operator=(const Gates&) = delete;

  std::string Requirements() const {
    return "-r " + (folder_ / "gate-${JOBMAN_HOST_INDEX}").string() + "\n";
  }
  /// Whether pip is at the gate on all hosts: a pipe that nobody reads cannot be opened.
  bool AreReached() {
    bool all = true;
    for (std::size_t host = 0; host < ends_.size(); ++host) {
      if (!ends_[host]) {
        const int flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC;
        ends_[host] = base::UniqueFd(open(Gate(static_cast<int>(host)).c_str(), flags));
      }
      all = all && ends_[host];
    }
    return all;
  }
  /// For those who wait, and for those who come later.
  void Open() {
    for (std::size_t host = 0; host < ends_.size(); ++host) {
      EXPECT_TRUE(base::WriteFileAtomic(Gate(static_cast<int>(host)), "").ok());
      ends_[host].Reset();
    }
  }

 private:
  base::Path Gate(int host) const { return folder_ / ("gate-" + std::to_string(host)); }

  base::Path folder_;
  std::vector<base::UniqueFd> ends_;
};

/// A job of two hosts, in the middle of its step venv.
class InTheMiddle : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasVenv()) GTEST_SKIP() << "/usr/bin/python3 cannot make virtual environments here";
    place_.StartSim({"--delays", "0", "--share", (place_.path() / "gates").string()});
    place_.StartController({"--poll", "1"});
    const base::Path list = place_.path() / "requirements.txt";
    std::ofstream(list) << gates_.Requirements();
    const std::string file = place_.JobFile(
        "middle", 2, "python -c 'import sys; print(sys.prefix)'",
        "retries: {backoff: 500ms}\nsetup: [{name: mine, run: 'echo x >>~/mine'}]\n");
    const Ran created = place_.Jobman({"create", file, "--set", "job.env_type=venv", "--set",
                                       "venv={name: env, python: python" + PythonVersion() +
                                           ", requirements_file: " + list.string() + "}",
                                       "--set", "job.environment={PIP_NO_INDEX: '1'}"});
    ASSERT_EQ(created.code, 0) << created.All();
    ASSERT_TRUE(
        place_.Until("pip to be at work on both hosts", [&] { return gates_.AreReached(); }));
  }
  /// The second attempt has begun, and ends well.
  void ExpectTheSecondToSucceed() {
    ASSERT_TRUE(place_.Until("the second attempt",
                             [&] { return base::GetInt(place_.Show("1"), "attempt") == 2; }));
    gates_.Open();
    ASSERT_TRUE(place_.Reaches("1", "SUCCEEDED"));
    EXPECT_EQ(base::GetInt(place_.Show("1"), "attempt"), 2);
    for (int host = 0; host < 2; ++host) {
      EXPECT_THAT(place_.Log(1, 1, "setup-0-venv", host), Not(HasSubstr("is made")));
      EXPECT_THAT(place_.Log(1, 2, "setup-0-venv", host), HasSubstr("~/env is made"));
      EXPECT_THAT(place_.Log(1, 2, "run", host), testing::EndsWith("/env\n"));
    }
    EXPECT_EQ(place_.Jobman({"exec", "1", "--", "test $(wc -l <~/mine) = 1"}).code, 0)
        << "the step after it ran once on each host";
  }
  std::int64_t Spent(const std::string& budget) {
    const base::Json job = place_.Show("1");
    return base::GetInt(base::GetMember(job, "spent"), budget);
  }

  static constexpr const char* kNode = "middle-000001-a1";
  Place place_;
  Gates gates_{place_.path() / "gates", 2};
};

TEST_F(InTheMiddle, AfterAPreemptionTheStepIsDoneOnTheNewMachines) {
  ASSERT_EQ(place_.Sim({"preempt", kNode}).code, 0);
  ExpectTheSecondToSucceed();
  EXPECT_EQ(base::GetString(base::GetMember(place_.Show("1"), "slice"), "name"),
            "middle-000001-a2");
  EXPECT_EQ(Spent("preemption"), 1);
  EXPECT_EQ(Spent("failure"), 0);
}

TEST_F(InTheMiddle, AfterARestartOfAHostTheStepIsDoneAnewThere) {
  const std::string host = std::string(kNode) + "/1";
  ASSERT_EQ(place_.Sim({"host", host, "kill"}).code, 0);
  ASSERT_EQ(place_.Sim({"host", host, "boot"}).code, 0);
  ExpectTheSecondToSucceed();
  EXPECT_EQ(base::GetString(base::GetMember(place_.Show("1"), "slice"), "name"), kNode);
  for (int each = 0; each < 2; ++each) {
    EXPECT_THAT(place_.Log(1, 2, "setup-0-venv", each),
                HasSubstr("~/env is incomplete (an earlier setup was interrupted)"));
  }
  EXPECT_EQ(Spent("preemption"), 0);
  EXPECT_EQ(Spent("failure"), 0);
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

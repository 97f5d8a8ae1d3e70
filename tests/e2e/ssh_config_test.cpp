// Names for hosts: OpenSSH's own programs reach them by the file that the controller keeps, and no
// machine is taken for one whose key has changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

bool HasProgram(const std::string& name) {
  return RunProgram({"sh", "-c", "command -v " + name}).code == 0;
}

class SshConfigFile : public testing::Test {
 protected:
  void SetUp() override {
    if (getpwuid(getuid()) == nullptr)
      GTEST_SKIP() << "the OpenSSH client needs an entry in the password file";
  }
  /// A job of two hosts that runs.
  void Begin(const std::string& more = {}) {
    place_.StartSim({"--delays", "0"});
    place_.StartController({"--poll", "1"});
    const Ran ran = place_.Jobman({"create", place_.JobFile("named", 2, "sleep 3600", more)});
    ASSERT_EQ(ran.code, 0) << ran.All();
    ASSERT_TRUE(place_.Reaches("named", "RUNNING"));
    ASSERT_TRUE(place_.Until("all keys to be known", [&] { return KnownHosts().size() == 2; }));
    ASSERT_TRUE(place_.Until("the names", [&] { return Names("jobman-1-w1"); }));
  }
  base::Path ConfigFile() const { return place_.home() / "ssh_config"; }
  std::string Config() const { return base::ReadFile(ConfigFile()).value_or(""); }
  /// Whether the file has the words; it is written after the keys.
  bool Names(const std::string& words) const { return Config().find(words) != std::string::npos; }
  std::vector<std::string> KnownHosts() const {
    const auto text = base::ReadFile(place_.home() / "ssh_known_hosts");
    const std::string lines(base::Trim(text.value_or("")));
    return lines.empty() ? std::vector<std::string>{} : base::Split(lines, '\n');
  }
  /// Runs a program of OpenSSH with the file as its only configuration.
  Ran With(const std::string& program, std::vector<std::string> words) const {
    std::vector<std::string> argv = {program, "-F", ConfigFile().string(), "-o", "BatchMode=yes"};
    argv.insert(argv.end(), words.begin(), words.end());
    return RunProgram(argv);
  }
  /// Each host says its number from now on.
  void NumberHosts() {
    for (const std::string host : {"0", "1"})
      EXPECT_EQ(place_.Jobman({"exec", "1", "-w", host, "--", "echo " + host + " > ~/me"}).code, 0);
  }
  /// What the host itself says that it is.
  std::string Answer(const std::string& name) const {
    const Ran ran = With("ssh", {name, "echo there; cat ~/me"});
    EXPECT_EQ(ran.code, 0) << ran.All();
    EXPECT_THAT(ran.out, HasSubstr("there\n"));
    EXPECT_THAT(ran.err, Not(HasSubstr("IDENTIFICATION")));
    return ran.out;
  }
  Place place_;
};

TEST_F(SshConfigFile, OpenSshReachesEachHostAndAgainAfterARequeue) {
  Begin();
  NumberHosts();
  for (const std::string zero : {"jobman-1", "jobman-1-w0", "jobman-named", "jobman-named-w0"})
    EXPECT_EQ(Answer(zero), "there\n0\n") << zero;
  for (const std::string one : {"jobman-1-w1", "jobman-named-w1"})
    EXPECT_EQ(Answer(one), "there\n1\n") << one;
  const auto before = KnownHosts();

  const Ran requeued = place_.Jobman({"requeue", "named", "--yes"});
  ASSERT_EQ(requeued.code, 0) << requeued.All();
  ASSERT_TRUE(place_.Until("the keys of the new machines", [&] {
    const auto now = KnownHosts();
    return now.size() == 2 && now[0] != before[0] && now[1] != before[1];
  }));
  ASSERT_TRUE(place_.Reaches("named", "RUNNING"));
  NumberHosts();
  EXPECT_EQ(Answer("jobman-1"), "there\n0\n");
  EXPECT_EQ(Answer("jobman-1-w1"), "there\n1\n");

  EXPECT_EQ(place_.Jobman({"delete", "named", "--wait", "--yes"}).code, 0);
  EXPECT_TRUE(
      place_.Until("the names to be gone", [&] { return !base::Contains(Config(), "\nHost "); }));
  EXPECT_TRUE(KnownHosts().empty());
}

TEST_F(SshConfigFile, ScpAndRsyncTakeTheNames) {
  Begin();
  const std::string file = (place_.path() / "a file").string();
  ASSERT_TRUE(base::WriteFileAtomic(file, "content\n").ok());
  const Ran there = With("scp", {file, "jobman-1-w1:copied"});
  EXPECT_EQ(there.code, 0) << there.All();
  const std::string back = (place_.path() / "back").string();
  const Ran here = With("scp", {"jobman-1-w1:copied", back});
  EXPECT_EQ(here.code, 0) << here.All();
  EXPECT_EQ(base::ReadFile(back).value_or(""), "content\n");

  const Ran has = With("ssh", {"jobman-1-w1", "command -v rsync"});
  if (!HasProgram("rsync") || has.code != 0) GTEST_SKIP() << "there is no rsync";
  const std::string shell = "ssh -o BatchMode=yes -F '" + ConfigFile().string() + "'";
  const Ran synced = RunProgram({"rsync", "-e", shell, file, "jobman-1-w1:synced"});
  EXPECT_EQ(synced.code, 0) << synced.All();
  EXPECT_EQ(With("ssh", {"jobman-1-w1", "cat synced"}).out, "content\n");
}

TEST_F(SshConfigFile, AnotherKeyThanThePinnedOneIsRefused) {
  Begin();
  std::string lines;
  for (const std::string& line : KnownHosts())
    lines += line.substr(0, line.find(' ')) +
             " ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIP"
             "//////////////////////////////////////////\n";
  place_.KillController();  // it may be about to write the file
  ASSERT_TRUE(base::WriteFileAtomic(place_.home() / "ssh_known_hosts", lines).ok());
  EXPECT_EQ(With("ssh", {"jobman-1", "true"}).code, 255);
  const Ran written = place_.Jobman({"ssh-config", "write"});
  EXPECT_EQ(written.code, 0) << written.All();
  EXPECT_EQ(With("ssh", {"jobman-1", "true"}).code, 0);
}

TEST_F(SshConfigFile, AHostThatJobmanHasNotVisitedIsBelievedOnce) {
  place_.StartSim({"--delays", "0"});
  place_.StartController({"--poll", "1"});
  const std::string file = place_.JobFile("one", 2, "sleep 3600");
  const Ran ran = place_.Jobman({"create", file, "--set", "command.workers=[0]"});
  ASSERT_EQ(ran.code, 0) << ran.All();
  ASSERT_TRUE(place_.Reaches("one", "RUNNING"));
  ASSERT_TRUE(place_.Until("the names", [&] { return Names("accept-new"); }));
  EXPECT_TRUE(place_.Until("the key of host 0", [&] { return KnownHosts().size() == 1; }));
  for (int times = 0; times < 2; ++times) EXPECT_EQ(With("ssh", {"jobman-1-w1", "true"}).code, 0);
  const base::Path seen = place_.home() / "ssh_known_hosts.seen";
  EXPECT_THAT(base::ReadFile(seen).value_or(""), testing::StartsWith("jobman-"));
  // Once jobman knows the host, its key alone counts.
  EXPECT_EQ(place_.Jobman({"exec", "1", "-w", "1", "--", "true"}).code, 0);
  EXPECT_EQ(place_.Jobman({"ssh-config", "write"}).code, 0);
  EXPECT_EQ(KnownHosts().size(), 2u);
  EXPECT_EQ(base::ReadFile(seen).value_or("?"), "");
  EXPECT_EQ(With("ssh", {"jobman-1-w1", "true"}).code, 0);
}

TEST_F(SshConfigFile, TheLineOfTheUsersOwnFileIsEnough) {
  Begin();
  const std::string own = (place_.path() / "own config").string();
  ASSERT_TRUE(base::WriteFileAtomic(own, "Host *\n  User nobody\n  Port 1\n").ok());
  const Ran installed = place_.Jobman({"ssh-config", "install", "--file", own, "--yes"});
  ASSERT_EQ(installed.code, 0) << installed.All();
  const Ran ran =
      RunProgram({"ssh", "-F", own, "-o", "BatchMode=yes", "jobman-named-w1", "echo there"});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("there\n"));
}

}  // namespace
}  // namespace jobman::test

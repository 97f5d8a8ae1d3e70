// Ways to hosts: through a proxy command, through a jump host, and by their internal addresses. A
// way that is closed for a while costs nothing but the wait.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <set>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"
#include "tests/unit/ssh/test_sshd.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kUntilGo = "echo up; until [ -e ~/go ]; do sleep 0.5; done; echo end";

class Ways : public testing::Test {
 protected:
  void SetUp() override { place_.StartSim({"--delays", "0"}); }
  void TearDown() override {
    if (!path_.empty()) setenv("PATH", path_.c_str(), 1);
    unsetenv("JOBMAN_TRACE");
  }

  base::Path File(const std::string& name) const { return place_.path() / name; }
  std::string Text(const std::string& name) const {
    return base::ReadFile(File(name)).value_or("");
  }
  void Write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(base::WriteFileAtomic(File(name), text).ok());
  }

  /// A script of bash that joins its standard input and output to a port, notes where, and refuses
  /// while there is a file `closed`.
  std::string Relay() const {
    const std::string folder = place_.path().string();
    Write("relay", "cd '" + folder +
                       "'\n"
                       "if [ -e closed ]; then echo the way is closed >&2; exit 1; fi\n"
                       "echo \"$1\" >> ways\n"
                       "echo $$ >> pids\n"
                       "exec 3<>\"/dev/tcp/$1/$2\" 4<&0 || exit 1\n"
                       "cat <&4 >&3 & in=$!\n"
                       "cat <&3 & out=$!\n"
                       "wait -n\n"
                       "kill $in $out\n");
    return "bash " + (File("relay")).string() + " %h %p";
  }
  /// A proxy command without its tokens.
  static std::string Words(const std::string& command) {
    return command.substr(0, command.find(" %"));
  }
  /// The relays that run.
  std::vector<pid_t> Relays() const {
    std::vector<pid_t> running;
    for (const std::string& line : base::Split(Text("pids"), '\n')) {
      const auto pid = base::ParseNumber(line);
      const auto words = base::ReadFile("/proc/" + line + "/cmdline");
      if (pid && words.ok() && base::Contains(*words, File("relay").string()))
        running.push_back(static_cast<pid_t>(*pid));
    }
    return running;
  }
  void Close() const {
    Write("closed", "");
    for (const pid_t pid : Relays()) kill(-pid, SIGKILL);
  }

  /// From now on `ssh` is OpenSSH's client with this configuration, in place of the caller's own.
  void ConfigureClient(const std::string& config) {
    Write("config", config);
    EXPECT_TRUE(base::EnsureDir(File("bin")).ok());
    Write("bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F " + File("config").string() + " \"$@\"\n");
    std::filesystem::permissions(File("bin/ssh"), std::filesystem::perms::owner_all);
    path_ = base::GetEnv("PATH").value_or("/usr/bin:/bin");
    setenv("PATH", (File("bin").string() + ":" + path_).c_str(), 1);
  }
  void Trust(const ssh::TestSshd& jump) const {
    const ports::HostTarget at = jump.Target();
    Write("jump_hosts", fmt::format("[{}]:{} {}\n", at.address, at.port, jump.HostKey()));
  }

  /// A job of two hosts that runs until there is a file ~/go.
  void Begin(const std::string& ssh) {
    place_.StartController({"--poll", "1"});
    const Ran ran = place_.Jobman({"create", place_.JobFile("far", 2, kUntilGo, ssh)});
    ASSERT_EQ(ran.code, 0) << ran.All();
    for (int host = 0; host < 2; ++host) {
      ASSERT_TRUE(place_.Until("the command to be up",
                               [&] { return place_.Log(1, 1, "run", host) == "up\n"; }));
    }
  }
  void WhySays(const std::string& cause) {
    EXPECT_TRUE(place_.Until("why to name the silent hosts and the cause", [&] {
      const std::string why = place_.Jobman({"why", "far"}).out;
      return base::Contains(why, "no answer from host") && base::Contains(why, cause);
    }));
    EXPECT_EQ(place_.StateOf("far"), "RUNNING");
    const Ran exec = place_.Jobman({"exec", "far", "--patience", "1s", "--", "true"});
    EXPECT_NE(exec.code, 0);
    EXPECT_THAT(exec.All(), HasSubstr(cause));
  }
  void GoesOn() {
    const Ran exec = place_.Jobman({"exec", "far", "--", "touch ~/go"});
    ASSERT_EQ(exec.code, 0) << exec.All();
    ASSERT_TRUE(place_.Reaches("far", "SUCCEEDED"));
    for (int host = 0; host < 2; ++host) EXPECT_EQ(place_.Log(1, 1, "run", host), "up\nend\n");
    EXPECT_EQ(place_.Show("far")["attempt"], 1);
  }
  std::set<std::string> Addresses(const std::string& kind) {
    std::set<std::string> all;
    const base::Json shown = place_.Show("far");
    for (const base::Json& host : shown.at("slice").at("hosts"))
      all.insert(base::GetString(host, kind));
    return all;
  }

  Place place_;
  std::string path_ = {};
};

TEST_F(Ways, ThroughAProxyCommandToInternalAddresses) {
  Begin("ssh: {address: internal, proxy_command: '" + Relay() + "'}\n");
  const auto lines = base::Split(base::Trim(Text("ways")), '\n');
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()), Addresses("internal"));
  EXPECT_THAT(place_.Jobman({"ssh", "far", "-w", "1", "echo there"}).out, HasSubstr("there"));

  Close();
  WhySays("exit code 1: the way is closed");
  std::filesystem::remove(File("closed"));
  GoesOn();

  EXPECT_EQ(place_.Jobman({"delete", "far", "--wait"}).code, 0);
  EXPECT_TRUE(place_.Until("no relay to be left", [&] { return Relays().empty(); }));
}

TEST_F(Ways, AProxyCommandMayNameTheVm) {
  Write("named", "echo \"$3\" >> '" + File("names").string() + "'\nexec " + Words(Relay()) +
                     " \"$1\" \"$2\"\n");
  Begin("ssh: {proxy_command: 'bash " + File("named").string() + " %h %p %n'}\n");
  std::set<std::string> names;
  for (const std::string& line : base::Split(base::Trim(Text("names")), '\n')) names.insert(line);
  EXPECT_EQ(names.size(), 2u);
  EXPECT_FALSE(names.contains(""));
  GoesOn();
}

TEST_F(Ways, ThroughAJumpHost) {
  if (const std::string why = ssh::TestSshd::Missing(); !why.empty()) GTEST_SKIP() << why;
  ssh::TestSshd jump;
  const ports::HostTarget at = jump.Target();
  Trust(jump);
  ConfigureClient("UserKnownHostsFile " + File("jump_hosts").string() +
                  "\nGlobalKnownHostsFile /dev/null\nIdentitiesOnly yes\nIdentityFile " +
                  at.private_key + "\n");
  Begin(fmt::format("ssh: {{proxy_jump: '{}@{}:{}'}}\n", at.user, at.address, at.port));
  EXPECT_THAT(place_.Jobman({"ssh", "far", "-w", "1", "echo there"}).out, HasSubstr("there"));

  jump.Kill();
  WhySays("Connection refused");
  jump.RestartWithNewHostKey();
  WhySays("Host key verification failed");
  Trust(jump);
  GoesOn();
}

TEST_F(Ways, ByInternalAddresses) {
  setenv("JOBMAN_TRACE", "ssh", 1);
  Begin("ssh: {address: internal}\n");
  const Ran exec = place_.Jobman({"exec", "far", "--", "true"});
  for (const std::string& address : Addresses("internal"))
    EXPECT_THAT(exec.err, HasSubstr("connected to " + address + ":"));
  for (const std::string& address : Addresses("external")) {
    EXPECT_NE(address, "") << "the hosts have both";
    EXPECT_THAT(exec.err, Not(HasSubstr("connected to " + address + ":")));
  }
  const base::Json shown = place_.Show("far");
  const std::string host0 = base::GetString(shown.at("slice").at("hosts").at(0), "internal");
  EXPECT_THAT(place_.Jobman({"--json", "list"}).out, HasSubstr("\"host0\": \"" + host0 + "\""));
  GoesOn();
}

TEST_F(Ways, ThereIsOneOnly) {
  const Ran ran = place_.Jobman(
      {"create", place_.JobFile("two", 1, "true", "ssh: {proxy_jump: a, proxy_command: nc %h}\n")});
  EXPECT_EQ(ran.code, 2) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr("ssh.proxy_command: ssh.proxy_jump is set too"));
}

}  // namespace
}  // namespace jobman::test

// Ways to a host that lead through a child process: ssh.proxy_command and ssh.proxy_jump.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ssh/openssh.hpp"
#include "jobman/ssh/try_proxy.hpp"
#include "ssh/proxy_process.hpp"
#include "tests/unit/ssh/host_shell_fixture.hpp"

namespace jobman::ssh {
namespace {

using base::Reason;
using testing::AllOf;
using testing::HasSubstr;

/// Joins its standard input and output to a port, and notes its number and its arguments.
constexpr const char* kRelay =
    "echo \"$@\" >> ways\n"
    "echo $$ > pid\n"
    "exec 3<>\"/dev/tcp/$1/$2\" 4<&0 || exit 1\n"
    "cat <&4 >&3 & in=$!\n"
    "cat <&3 & out=$!\n"
    "wait -n\n"
    "kill $in $out\n";

class ProxyTest : public HostShellTest {
 protected:
  void SetUp() override {
    HostShellTest::SetUp();
    if (IsSkipped()) return;
    sshd = std::make_unique<TestSshd>();
    target = sshd->Target();
    target.proxy_command = Script("relay", kRelay) + " %h %p %r";
  }
  void TearDown() override {
    if (!path.empty()) setenv("PATH", path.c_str(), 1);
  }
  /// A command that runs a script of bash in the folder.
  std::string Script(const std::string& name, const std::string& text) {
    const base::Path file = dir.path / name;
    EXPECT_TRUE(base::WriteFileAtomic(file, "cd " + dir.path.string() + "\n" + text).ok());
    return "bash " + file.string();
  }
  std::string Noted(const std::string& name) {
    return std::string(base::Trim(base::ReadFile(dir.path / name).value_or("")));
  }
  pid_t Pid() { return static_cast<pid_t>(base::ParseNumber(Noted("pid")).value_or(0)); }
  /// By proc(5): whether the process runs. Of one that was killed, a zombie may be left.
  static bool IsLeft(pid_t pid) {
    const auto stat = base::ReadFile("/proc/" + std::to_string(pid) + "/stat");
    return stat.ok() && !base::Contains(*stat, ") Z ");
  }

  /// One try through this command.
  base::Error Fail(const std::string& command, base::Duration limit = std::chrono::minutes{1}) {
    const int before = OpenFiles();
    target.proxy_command = command;
    SshHostShell hasty(loop.get_executor(), known, {.proxy_timeout = limit});
    const auto task = [](ports::HostShell* on, ports::HostTarget to) -> Task<Result<int>> {
      const ports::RemoteCommand nothing{.command = "true"};
      const ports::ByteSink none;
      co_return co_await on->Run(to, nothing, none, none);
    };
    loop.restart();
    const auto result = base::RunTask(loop, task(&hasty, target));
    loop.restart();
    loop.poll();
    EXPECT_EQ(OpenFiles(), before) << "a failed try leaks nothing";
    return result.ok() ? base::Internal("logged in") : result.error();
  }

  /// From now on `ssh` is OpenSSH's client with this configuration, in place of the caller's own.
  void ConfigureClient(const std::string& config) {
    EXPECT_TRUE(base::WriteFileAtomic(dir.path / "config", config).ok());
    const base::Path bin = dir.path / "bin";
    EXPECT_TRUE(base::EnsureDir(bin).ok());
    const std::string text = "#!/bin/sh\nprintf '%s\\n' \"$*\" >> " +
                             (dir.path / "calls").string() + "\nexec /usr/bin/ssh -F " +
                             (dir.path / "config").string() + " \"$@\"\n";
    EXPECT_TRUE(base::WriteFileAtomic(bin / "ssh", text).ok());
    std::filesystem::permissions(bin / "ssh", std::filesystem::perms::owner_all);
    path = getenv("PATH");
    setenv("PATH", (bin.string() + ":" + path).c_str(), 1);
  }
  /// The client knows the jump host's key, and logs in with that server's own client key.
  std::string ConfigOf(const TestSshd& jump) {
    const ports::HostTarget at = jump.Target();
    const std::string line = fmt::format("[{}]:{} {}\n", at.address, at.port, jump.HostKey());
    EXPECT_TRUE(base::WriteFileAtomic(dir.path / "jump_hosts", line).ok());
    return "UserKnownHostsFile " + (dir.path / "jump_hosts").string() +
           "\nGlobalKnownHostsFile /dev/null\nIdentitiesOnly yes\nIdentityFile " + at.private_key +
           "\n";
  }
  static std::string JumpOf(const TestSshd& jump) {
    const ports::HostTarget at = jump.Target();
    return fmt::format("{}@{}:{}", at.user, at.address, at.port);
  }

  TempDir dir;
  std::unique_ptr<TestSshd> sshd;
  ports::HostTarget target;
  std::string path = {};
};

TEST_F(ProxyTest, TheCommandIsTheConnection) {
  const Ran ran = Run(target, "echo out; exit 7");
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(*ran.result, 7);
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(Noted("ways"), fmt::format("{} {} {}", target.address, target.port, target.user));
  EXPECT_EQ(known.Find(target.identity), sshd->HostKey()) << "the host's own key is pinned";
  EXPECT_EQ(*Run(target, "exit 8").result, 8);
  EXPECT_EQ(base::Split(Noted("ways"), '\n').size(), 1u) << "commands share the connection";
}

TEST_F(ProxyTest, MuchGoesThroughInBothDirections) {
  const std::string input(3'000'000, 'x');
  const Ran ran = Run(target, {.command = "cat", .input = input});
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_TRUE(ran.out == input) << "got " << ran.out.size();
}

TEST_F(ProxyTest, AnotherHostKeyIsRefusedThroughIt) {
  ASSERT_TRUE(Run(target, "true").result.ok());
  shell.Drop(target);
  sshd->RestartWithNewHostKey();
  const Ran ran = Run(target, "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().reason, Reason::kHostKeyChanged);
}

TEST_F(ProxyTest, OtherWaysToAHostShareNoConnection) {
  ASSERT_TRUE(Run(target, "true").result.ok());
  ASSERT_TRUE(Run(sshd->Target(), "true").result.ok());
  EXPECT_EQ(shell.sessions(), 2);
  ports::HostTarget other = target;
  other.proxy_command += " other";
  ASSERT_TRUE(Run(other, "true").result.ok());
  EXPECT_EQ(shell.sessions(), 3);
}

TEST_F(ProxyTest, ItEndsWithItsSession) {
  ASSERT_TRUE(Run(target, "true").result.ok());
  const pid_t pid = Pid();
  ASSERT_TRUE(IsLeft(pid));
  shell.Drop(target);
  EXPECT_TRUE(TurnUntil([&] { return shell.sessions() == 0; }));
  EXPECT_TRUE(TurnUntil([&] { return !IsLeft(pid); }));
}

TEST_F(ProxyTest, OneThatDiesBreaksTheSessionAndTheNextCallHasANewOne) {
  const auto ran = Start(target, {.command = "echo up; sleep 60"});
  ASSERT_TRUE(TurnUntil([&] { return ran->out == "up\n"; }));
  const pid_t pid = Pid();
  kill(-pid, SIGKILL);
  WaitForAll();
  ASSERT_FALSE(ran->result.ok());
  EXPECT_EQ(ran->result.error().reason, Reason::kConnectionBroke);
  EXPECT_EQ(*Run(target, "exit 3").result, 3);
  EXPECT_NE(Pid(), pid);
}

TEST_F(ProxyTest, ASilentOtherSideIsNoticed) {
  SshHostShell watchful(loop.get_executor(), known, {.proxy_silence = std::chrono::seconds{6}});
  const auto ran = std::make_shared<Ran>();
  ++running;
  const ports::RemoteCommand silent{.command = "echo up; sleep 7; echo on; sleep 600"};
  base::Spawn(loop.get_executor(), RunInto(&watchful, target, silent, ran),
              [this](bool /*cancelled*/) { --running; });
  ASSERT_TRUE(TurnUntil([&] { return ran->out == "up\non\n"; }))
      << "a command may be silent for as long as it likes";
  kill(-Pid(), SIGSTOP);
  ASSERT_TRUE(TurnUntil([&] { return running == 0; }));
  ASSERT_FALSE(ran->result.ok());
  EXPECT_EQ(ran->result.error().reason, Reason::kConnectionBroke);
  EXPECT_THAT(ran->result.error().message, HasSubstr("no answer within 6s"));
  EXPECT_TRUE(TurnUntil([&] { return !IsLeft(Pid()); })) << "ended, though it was stopped";
}

TEST_F(ProxyTest, ItHasNoTerminalToAskOn) {
  ASSERT_TRUE(Run(target, "true").result.ok());
  EXPECT_EQ(getsid(Pid()), Pid());
}

TEST_F(ProxyTest, ItsConnectionIsNoStandardDescriptor) {
  base::UniqueFd kept[3];
  for (int fd = 0; fd < 3; ++fd) kept[fd] = base::UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 10));
  for (int fd = 0; fd < 3; ++fd) close(fd);
  const auto process = ProxyProcess::Start(loop.get_executor(), "echo out");
  for (int fd = 0; fd < 3; ++fd) {
    if (kept[fd]) dup2(kept[fd].get(), fd);
  }
  ASSERT_TRUE(process.ok());
  EXPECT_GT((*process)->socket(), 2);
  std::array<char, 8> bytes = {};
  EXPECT_TRUE(TurnUntil([&] {
    const int flags = MSG_PEEK | MSG_DONTWAIT;
    return recv((*process)->socket(), bytes.data(), bytes.size(), flags) == 4;
  })) << "the child has it as its standard output";
}

TEST_F(ProxyTest, OneThatHangsIsEnded) {
  const base::Error error =
      Fail(Script("hang", "echo waiting >&2\nsleep 600 &\necho $! > child\necho $$ > pid\nwait\n"),
           std::chrono::seconds{5});
  EXPECT_EQ(error.reason, Reason::kHostTimeout);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("no answer within "), HasSubstr("(it still runs: waiting)")));
  EXPECT_THAT(error.hint, HasSubstr("run it by hand"));
  ASSERT_GT(Pid(), 0);
  EXPECT_TRUE(TurnUntil([&] { return !IsLeft(Pid()); }));
  const auto child = static_cast<pid_t>(base::ParseNumber(Noted("child")).value_or(0));
  ASSERT_GT(child, 0);
  EXPECT_TRUE(TurnUntil([&] { return !IsLeft(child); })) << "and what it has started";
}

TEST_F(ProxyTest, OneThatEndsAtOnceSaysWhy) {
  const base::Error error =
      Fail(Script("end", "echo hello >&2\necho >&2\necho no tunnel >&2\necho sorry >&2\nexit 3\n"));
  EXPECT_EQ(error.reason, Reason::kHostRefused);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr(" through ssh.proxy_command: "),
                    HasSubstr("ended before a host answered (exit code 3: no tunnel; sorry)")));
}

TEST_F(ProxyTest, AProgramThatIsMissingIsNamed) {
  const base::Error error = Fail("no-such-program-here %h");
  EXPECT_EQ(error.reason, Reason::kHostRefused);
  EXPECT_THAT(error.message, AllOf(HasSubstr("exit code 127: "), HasSubstr("no-such-program-here"),
                                   HasSubstr("not found")));
}

TEST_F(ProxyTest, GarbageIsShown) {
  const base::Error error = Fail("printf 'HTTP/1.1 400 Bad\\033 Request\\r\\nx\\n'");
  EXPECT_EQ(error.reason, Reason::kHostRefused);
  EXPECT_THAT(error.message, HasSubstr("printed \"HTTP/1.1 400 Bad? Request\" in place of"));
  EXPECT_THAT(error.hint, HasSubstr("nothing but the connection"));
}

TEST_F(ProxyTest, ManyWordsOnStandardErrorDoNotStopIt) {
  target.proxy_command =
      Script("loud", "head -c 1000000 /dev/zero | tr '\\0' 'x' >&2\n" + std::string(kRelay)) +
      " %h %p";
  const Ran ran = Run(target, "exit 5");
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(*ran.result, 5);
}

TEST_F(ProxyTest, NoShellReadsAnAddressThatIsNone) {
  target.address = "$(touch " + (dir.path / "mark").string() + ")";
  const Ran ran = Run(target, "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, base::Code::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(dir.path / "mark"));
}

TEST_F(ProxyTest, NoShellReadsALoginNameThatIsNone) {
  for (const std::string& user :
       {"$(touch " + (dir.path / "mark").string() + ")", std::string("-l"), std::string()}) {
    target.user = user;
    const Ran ran = Run(target, "true");
    ASSERT_FALSE(ran.result.ok()) << user;
    EXPECT_EQ(ran.result.error().code, base::Code::kInvalidArgument);
  }
  EXPECT_FALSE(std::filesystem::exists(dir.path / "mark"));
}

TEST_F(ProxyTest, AVmWithoutANameIsNotReachedByIt) {
  target.proxy_command = Script("named", "echo $1 > name\n") + " %n";
  const Ran ran = Run(target, "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().reason, Reason::kHostRefused);
  EXPECT_THAT(ran.result.error().message, HasSubstr("the name of its VM (%n) is not known"));
  target.vm_name = "t1v-n-0-w-1";
  EXPECT_FALSE(Run(target, "true").result.ok());
  EXPECT_EQ(Noted("name"), "t1v-n-0-w-1");
}

TEST_F(ProxyTest, AHostIsReachedThroughAJumpHost) {
  TestSshd jump;
  ConfigureClient(ConfigOf(jump));
  target.proxy_command.clear();
  target.proxy_jump = JumpOf(jump);
  const Ran ran = Run(target, "echo there");
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(ran.out, "there\n");
  jump.Kill();
  EXPECT_TRUE(TurnUntil([&] { return shell.sessions() == 0; }));
  const Ran gone = Run(target, "true");
  ASSERT_FALSE(gone.result.ok());
  const base::Error& error = gone.result.error();
  EXPECT_EQ(error.reason, Reason::kHostRefused);
  EXPECT_THAT(error.message, AllOf(HasSubstr(" through " + target.proxy_jump + ": "),
                                   HasSubstr("exit code 255: "), HasSubstr("Connection refused")));
  EXPECT_THAT(error.hint, HasSubstr("without a question"));
}

TEST_F(ProxyTest, AJumpHostThatIsNotKnownIsRefusedByTheClient) {
  const TestSshd jump;
  ConfigureClient(ConfigOf(jump));
  EXPECT_TRUE(base::WriteFileAtomic(dir.path / "jump_hosts", "").ok());
  target.proxy_command.clear();
  target.proxy_jump = JumpOf(jump);
  const Ran ran = Run(target, "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_THAT(ran.result.error().message, HasSubstr("Host key verification failed"));
}

TEST_F(ProxyTest, AJumpHostThatCannotReachTheHostSaysSo) {
  const TestSshd jump;
  ConfigureClient(ConfigOf(jump));
  target.proxy_command.clear();
  target.proxy_jump = JumpOf(jump);
  sshd->Kill();
  const Ran ran = Run(target, "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_THAT(ran.result.error().message, HasSubstr("Connection refused"));
}

/// Three jump hosts, the second by an alias of the client's configuration.
class ManyJumpsTest : public ProxyTest {
 protected:
  void SetUp() override {
    ProxyTest::SetUp();
    if (IsSkipped()) return;
    for (int i = 0; i < 3; ++i) jumps.push_back(std::make_unique<TestSshd>());
    std::string config = ConfigOf(*jumps[0]);
    for (const auto& jump : jumps) config += "IdentityFile " + jump->Target().private_key + "\n";
    const ports::HostTarget at = jumps[1]->Target();
    config += fmt::format("Host inner\nHostName {}\nPort {}\n", at.address, at.port);
    ConfigureClient(config);
    KnowFrom(0);
    target.proxy_command.clear();
    target.proxy_jump = JumpOf(*jumps[0]) + ",inner," + JumpOf(*jumps[2]);
  }
  /// The client knows the keys of this jump host and of those after it.
  void KnowFrom(std::size_t begin) const {
    std::string lines;
    for (std::size_t i = begin; i < jumps.size(); ++i) {
      const ports::HostTarget at = jumps[i]->Target();
      lines += fmt::format("[{}]:{} {}\n", at.address, at.port, jumps[i]->HostKey());
    }
    EXPECT_TRUE(base::WriteFileAtomic(dir.path / "jump_hosts", lines).ok());
  }
  std::vector<std::unique_ptr<TestSshd>> jumps;
};

TEST_F(ManyJumpsTest, AreTakenInOrder) {
  const Ran ran = Run(target, "echo there");
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(ran.out, "there\n");
  auto words = OpenSshArguments(target, known.Find(target.identity), dir.path / "known hosts");
  ASSERT_TRUE(words.ok()) << words.error().ToString();
  words->push_back("exit 9");
  EXPECT_EQ(RunProgram(*words), 9) << "the user's own client goes the same way";
}

TEST_F(ManyJumpsTest, NoneAsksAnything) {
  KnowFrom(1);
  const Ran ran = Run(target, "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_THAT(ran.result.error().message, HasSubstr("Host key verification failed"));
  const auto calls = base::Split(Noted("calls"), '\n');
  EXPECT_EQ(calls.size(), 3u) << "a client per hop";
  EXPECT_THAT(calls, testing::Each(testing::StartsWith("-o BatchMode=yes ")));
}

TEST_F(ProxyTest, TheOpenSshClientGoesTheSameWay) {
  ASSERT_TRUE(Run(target, "true").result.ok());
  target.proxy_command += " 100%%";
  const base::Path file = dir.path / "known hosts";
  auto words = OpenSshArguments(target, known.Find(target.identity), file);
  ASSERT_TRUE(words.ok()) << words.error().ToString();
  words->push_back("exit 9");
  EXPECT_EQ(RunProgram(*words), 9);
  EXPECT_THAT(Noted("ways"), testing::EndsWith(" " + target.user + " 100%"));
}

TEST_F(ProxyTest, ItCanBeTriedWithoutALogin) {
  const auto tried = [&] {
    loop.restart();
    return base::RunTask(loop, TryProxy(target, std::chrono::seconds{30}));
  };
  EXPECT_TRUE(tried().ok());
  EXPECT_FALSE(known.Find(target.identity));
  target.proxy_command = "false";
  EXPECT_FALSE(tried().ok());
}

}  // namespace
}  // namespace jobman::ssh

#include <gtest/gtest.h>

#include <chrono>

#include "jobman/base/strings.hpp"
#include "tests/support/silent_agent.hpp"
#include "tests/support/ssh_agent.hpp"
#include "tests/unit/ssh/host_shell_fixture.hpp"

namespace jobman::ssh {
namespace {

using base::Reason;
using test::SilentAgent;
using test::SshAgent;

/// A key of `type` that the server accepts; encrypted when there is a passphrase.
ports::HostTarget TargetWithKey(TestSshd& sshd, const std::string& type,
                                const std::string& passphrase) {
  const base::Path path = sshd.folder() / type;
  EXPECT_EQ(RunProgram({"ssh-keygen", "-q", "-t", type, "-N", passphrase, "-f", path}), 0);
  sshd.Authorize(base::ReadFile(path.string() + ".pub").value_or(""));
  auto target = sshd.Target();
  target.private_key = path;
  return target;
}

TEST_F(HostShellTest, LogsInWithEveryKindOfKey) {
  TestSshd sshd;
  for (const std::string type : {"rsa", "ecdsa", "ed25519"}) {
    const Ran ran = Run(TargetWithKey(sshd, type, ""), "true");
    EXPECT_TRUE(ran.result.ok()) << type << ": " << ran.result.error().ToString();
  }
}

TEST_F(HostShellTest, AnEncryptedKeyNeedsItsPassphrase) {
  TestSshd sshd;
  const auto target = TargetWithKey(sshd, "ed25519", "open sesame");
  const Ran without = Run(target, "true");
  ASSERT_FALSE(without.result.ok());
  EXPECT_EQ(without.result.error().reason, Reason::kKeyUnreadable);
  EXPECT_TRUE(base::Contains(without.result.error().message, "is encrypted"));
  setenv("JOBMAN_SSH_PASSPHRASE", "guess", 1);
  const Ran wrong = Run(target, "true");
  ASSERT_FALSE(wrong.result.ok());
  EXPECT_TRUE(base::Contains(wrong.result.error().message, "passphrase is wrong"));
  setenv("JOBMAN_SSH_PASSPHRASE", "open sesame", 1);
  const Ran right = Run(target, "true");
  EXPECT_TRUE(right.result.ok()) << right.result.error().ToString();
}

TEST_F(HostShellTest, TheAgentIsUsedWhenTheFileCannotBe) {
  TestSshd sshd;
  auto target = TargetWithKey(sshd, "ed25519", "");
  const SshAgent agent(sshd.folder());
  ASSERT_EQ(RunProgram({"ssh-add", "-q", target.private_key}), 0);
  target.private_key = sshd.folder() / "no_such_key";
  const Ran ran = Run(target, "true");
  EXPECT_TRUE(ran.result.ok()) << ran.result.error().ToString();
}

TEST_F(HostShellTest, AnEmptyAgentDoesNotHelp) {
  TestSshd sshd;
  auto target = sshd.Target();
  const SshAgent agent(sshd.folder());
  target.private_key = sshd.folder() / "no_such_key";
  const Ran ran = Run(target, "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().reason, Reason::kKeyUnreadable);
}

TEST_F(HostShellTest, ASilentAgentIsNamedAndHoldsUpNobody) {
  TestSshd sshd;
  const ports::HostTarget good = sshd.Target();
  ports::HostTarget target = sshd.Target();
  target.private_key = sshd.folder() / "no_such_key";
  target.identity = "node-2/0";
  const SilentAgent agent(sshd.folder());
  SshHostShell impatient(loop.get_executor(), known, {.login_timeout = std::chrono::seconds{8}});
  auto ran = std::make_shared<Ran>();
  bool over = false;
  base::Spawn(loop.get_executor(), RunInto(&impatient, target, {.command = "true"}, ran),
              [&over](bool /*cancelled*/) { over = true; });
  EXPECT_EQ(Run(good, "echo meanwhile").out, "meanwhile\n");
  EXPECT_FALSE(over);
  ASSERT_TRUE(TurnUntil([&over] { return over; }));
  ASSERT_FALSE(ran->result.ok());
  EXPECT_EQ(ran->result.error().reason, Reason::kAgentSilent);
  EXPECT_TRUE(base::Contains(ran->result.error().message, "SSH_AUTH_SOCK="));
  EXPECT_TRUE(base::Contains(ran->result.error().hint, "start the agent again"));
}

TEST_F(HostShellTest, ASilentAgentWithAFullQueueIsNamedToo) {
  TestSshd sshd;
  ports::HostTarget target = sshd.Target();
  target.private_key = sshd.folder() / "no_such_key";
  const SilentAgent agent(sshd.folder(), 0);
  SshHostShell impatient(loop.get_executor(), known, {.login_timeout = std::chrono::seconds{8}});
  for (int tries = 0; tries < 3; ++tries) {
    auto ran = std::make_shared<Ran>();
    bool over = false;
    base::Spawn(loop.get_executor(), RunInto(&impatient, target, {.command = "true"}, ran),
                [&over](bool /*cancelled*/) { over = true; });
    ASSERT_TRUE(TurnUntil([&over] { return over; }));
    ASSERT_FALSE(ran->result.ok());
    EXPECT_EQ(ran->result.error().reason, Reason::kAgentSilent);
  }
}

TEST_F(HostShellTest, ALoginThatAsksASilentAgentCanBeGivenUp) {
  TestSshd sshd;
  ports::HostTarget target = sshd.Target();
  target.private_key = sshd.folder() / "no_such_key";
  const SilentAgent agent(sshd.folder());
  const auto ran = Start(target, {.command = "true"});
  ASSERT_TRUE(TurnUntil([this] { return shell.sessions() == 1; }));
  loop.restart();
  loop.run_for(std::chrono::milliseconds{300});  // until the agent is asked
  shell.Drop(target);
  WaitForAll();
  EXPECT_FALSE(ran->result.ok());
  EXPECT_EQ(shell.sessions(), 0);
}

TEST_F(HostShellTest, AKeyThatOthersCanReadIsNotUsed) {
  TestSshd sshd;
  std::filesystem::permissions(sshd.Target().private_key, std::filesystem::perms{0644});
  const Ran ran = Run(sshd.Target(), "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().reason, Reason::kKeyUnreadable);
  EXPECT_TRUE(base::Contains(ran.result.error().hint, "chmod 600"));
}

}  // namespace
}  // namespace jobman::ssh

// The agent of this machine, as a command on a host sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <asio/local/stream_protocol.hpp>
#include <asio/write.hpp>
#include <filesystem>
#include <memory>

#include "tests/support/silent_agent.hpp"
#include "tests/support/ssh_agent.hpp"
#include "tests/unit/ssh/host_shell_fixture.hpp"

namespace jobman::ssh {
namespace {

using asio::local::stream_protocol;
using test::SilentAgent;
using test::SshAgent;
using testing::HasSubstr;

/// Sends everything back; SSH_AUTH_SOCK names it.
class Echo {
 public:
  Echo(asio::io_context& loop, const base::Path& path) : acceptor_(loop, path.string()) {
    setenv("SSH_AUTH_SOCK", path.c_str(), 1);
    Accept();
  }
  ~Echo() { unsetenv("SSH_AUTH_SOCK"); }
  int open = 0;  ///< connections

 private:
  struct Peer {
    stream_protocol::socket socket;
    std::array<char, 5000> bytes = {};
  };
  void Accept() {
    acceptor_.async_accept([this](const std::error_code& failed, stream_protocol::socket socket) {
      if (failed) return;
      ++open;
      Read(std::make_shared<Peer>(Peer{std::move(socket)}));
      Accept();
    });
  }
  void Read(const std::shared_ptr<Peer>& peer) {
    peer->socket.async_read_some(asio::buffer(peer->bytes),
                                 [this, peer](const std::error_code& failed, std::size_t count) {
                                   if (failed) {
                                     --open;
                                   } else {
                                     Write(peer, count);
                                   }
                                 });
  }
  void Write(const std::shared_ptr<Peer>& peer, std::size_t count) {
    asio::async_write(peer->socket, asio::buffer(peer->bytes.data(), count),
                      [this, peer](const std::error_code&, std::size_t) { Read(peer); });
  }
  stream_protocol::acceptor acceptor_;
};

class AgentForwardingTest : public HostShellTest {
 protected:
  void SetUp() override {
    HostShellTest::SetUp();
    if (IsSkipped()) return;
    sshd = std::make_unique<TestSshd>();
    target = sshd->Target();
    target.forward_agent = true;
  }
  /// A key in the agent of this machine.
  base::Path AddKey() {
    const base::Path key = sshd->folder() / "key";
    EXPECT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}), 0);
    EXPECT_EQ(RunProgram({"ssh-add", "-q", key}), 0);
    return key;
  }
  std::unique_ptr<TestSshd> sshd;
  ports::HostTarget target;
};

TEST_F(AgentForwardingTest, CommandsUseItsKeys) {
  const SshAgent agent(sshd->folder());
  const base::Path key = AddKey();
  const Ran first = Run(target, "ssh-add -l && ssh-add -T " + key.string() + ".pub && echo signed");
  EXPECT_THAT(first.out, HasSubstr("ED25519"));
  EXPECT_THAT(first.out, HasSubstr("signed")) << first.err;
  const Ran many = Run(target, "for i in 1 2 3 4 5 6 7 8 9; do ssh-add -l & done; wait");
  EXPECT_EQ(std::count(many.out.begin(), many.out.end(), '\n'), 9) << many.out << many.err;
  EXPECT_EQ(shell.sessions(), 1);
}

TEST_F(AgentForwardingTest, OtherTargetsOnTheHostDoNotGetIt) {
  const SshAgent agent(sshd->folder());
  ASSERT_TRUE(Run(target, "true").result.ok());
  EXPECT_EQ(Run(sshd->Target(), "echo ${SSH_AUTH_SOCK:-none}").out, "none\n");
  EXPECT_EQ(shell.sessions(), 2);
}

TEST_F(AgentForwardingTest, WithoutAnAgentTheCommandRunsAllTheSame) {
  EXPECT_EQ(Run(target, "echo ${SSH_AUTH_SOCK:-none}").out, "none\n");
}

TEST_F(AgentForwardingTest, AServerThatForbidsItIsNoFault) {
  const TestSshd strict({"AllowAgentForwarding no"});
  const SshAgent agent(strict.folder());
  target = strict.Target();
  target.forward_agent = true;
  EXPECT_EQ(Run(target, "echo ${SSH_AUTH_SOCK:-none}").out, "none\n");
}

TEST_F(AgentForwardingTest, AnAgentThatHasGoneIsAnErrorOfTheCommand) {
  SshAgent agent(sshd->folder());
  ASSERT_EQ(Run(target, "ssh-add -l").out, "The agent has no identities.\n");
  agent.Kill();
  EXPECT_EQ(Run(target, "ssh-add -l; echo on").out, "on\n");
}

TEST_F(AgentForwardingTest, AnAgentThatEndsDuringATalkEndsIt) {
  SshAgent agent(sshd->folder());
  const auto talk = Start(target, {.command = "exec perl -MIO::Socket::UNIX -e '"
                                              "$s = IO::Socket::UNIX->new(Peer => "
                                              "$ENV{SSH_AUTH_SOCK}); $| = 1; print \"open\\n\"; "
                                              "read($s, $b, 1); print \"over\\n\"'"});
  ASSERT_TRUE(TurnUntil([&] { return talk->out == "open\n"; }));
  agent.Kill();
  WaitForAll();
  EXPECT_EQ(talk->out, "open\nover\n") << talk->err;
}

TEST_F(AgentForwardingTest, MuchArrivesCompleteInBothDirections) {
  const Echo echo(loop, sshd->folder() / "echo");
  const Ran ran =
      Run(target,
          "exec perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => "
          "$ENV{SSH_AUTH_SOCK}); if (!fork) { print $s chr(65 + $_ % 23) x 1000 for 1..4000; "
          "exit } for (1..4000) { read($s, $b, 1000) == 1000 && $b eq chr(65 + $_ % 23) x 1000 or "
          "die $_ } print \"same\\n\"'");
  EXPECT_EQ(ran.out, "same\n") << ran.err;
  EXPECT_TRUE(TurnUntil([&] { return echo.open == 0; })) << "closed here too";
}

TEST_F(AgentForwardingTest, ASilentAgentHoldsUpNothingElse) {
  const SilentAgent agent(sshd->folder());
  const auto hangs = Start(target, {.command = "echo begun; ssh-add -l"});
  ASSERT_TRUE(TurnUntil([&] { return hangs->out == "begun\n"; }));
  const auto other = Start(target, {.command = "timeout 1 ssh-add -l; echo code $?"});
  ASSERT_TRUE(TurnUntil([&] { return running == 1; }));
  EXPECT_EQ(other->out, "code 124\n");
  EXPECT_EQ(shell.sessions(), 1);
  shell.Drop(target);
  WaitForAll();
  EXPECT_FALSE(hangs->result.ok());
  EXPECT_TRUE(TurnUntil([&] { return shell.sessions() == 0; })) << "its channels end with it";
}

TEST_F(AgentForwardingTest, AHostCannotOpenConnectionsWithoutLimit) {
  const SilentAgent agent(sshd->folder());
  const auto ran = Start(
      target, {.command = "for i in $(seq 20); do (ssh-add -l 2>/dev/null; echo refused) & done; "
                          "sleep 60"});
  const std::string four = "refused\nrefused\nrefused\nrefused\n";
  EXPECT_TRUE(TurnUntil([&] { return ran->out == four; })) << ran->out;
  shell.Drop(target);
  WaitForAll();
}

}  // namespace
}  // namespace jobman::ssh

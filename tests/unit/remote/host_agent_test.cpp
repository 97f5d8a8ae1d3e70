// The user's ssh-agent: each connection brings a socket for it, and the run has one name for all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "jobman/base/handle.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// A call's SSH_AUTH_SOCK.
class AgentSocket {
 public:
  explicit AgentSocket(base::Path path)
      : path_(std::move(path)), fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path_.string().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  const std::string& name() const { return path_.native(); }

 private:
  base::Path path_;
  base::UniqueFd fd_;
};

class HostAgentTest : public HostScriptTest {
 protected:
  void Bring(const AgentSocket& socket) { host.env["SSH_AUTH_SOCK"] = socket.name(); }
  base::Path Links() const { return host.home() / ".jobman/agent"; }
  /// Where the only link points to.
  std::string Linked() const {
    std::error_code problem;
    for (const auto& link : std::filesystem::directory_iterator(Links(), problem)) {
      if (!link.path().has_extension())  // it would be one that is about to be renamed
        return std::filesystem::read_symlink(link, problem);
    }
    return "";
  }
  AgentSocket first{host.home() / "first"};
  AgentSocket second{host.home() / "second"};
  RunOrder order{.run_id = "r",
                 .script = "until [ -e ~/go ]; do sleep 0.05; done; readlink \"$SSH_AUTH_SOCK\"",
                 .uses_agent = true};
  void Go() { std::ofstream(host.home() / "go") << "x"; }
};

INSTANTIATE_TEST_SUITE_P(Shells, HostAgentTest, HostsShell(), ShellName);

TEST_P(HostAgentTest, ARunHasALinkToTheSocketOfItsCall) {
  Bring(first);
  order.script = "echo $SSH_AUTH_SOCK; [ -S $SSH_AUTH_SOCK ] && readlink $SSH_AUTH_SOCK";
  const Ended ended = host.Run(order);
  EXPECT_THAT(ended.out, StartsWith(Links().string() + "/"));
  EXPECT_THAT(ended.out, EndsWith("\n" + first.name() + "\n"));
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 0\n");
  struct stat folder = {};
  ASSERT_EQ(::stat(Links().c_str(), &folder), 0);
  EXPECT_EQ(folder.st_mode & 0777u, 0700u);
}

TEST_P(HostAgentTest, ALaterCallBringsAnotherSocket) {
  Bring(first);
  const auto running = StartRunning(order);
  ASSERT_EQ(Linked(), first.name());
  Bring(second);
  const auto later = host.Start(FollowCall("r", 0));
  EXPECT_TRUE(Eventually([&] { return Linked() == second.name(); }));
  Go();
  EXPECT_EQ(host.Wait(later).out, second.name() + "\n");
  host.Wait(running);
}

TEST_P(HostAgentTest, ACallWithoutAnAgentKeepsTheLink) {
  Bring(first);
  const auto running = StartRunning(order);
  host.env.erase("SSH_AUTH_SOCK");
  const auto later = host.Start(FollowCall("r", 0));
  Go();
  EXPECT_EQ(host.Wait(later).out, first.name() + "\n");
  host.Wait(running);
}

TEST_P(HostAgentTest, TheLinkGoesWithTheRun) {
  Bring(first);
  Go();
  host.Run(order);
  EXPECT_TRUE(std::filesystem::is_empty(Links()));
  host.Do(FollowCall("r", 0));
  EXPECT_TRUE(std::filesystem::is_empty(Links()));
}

TEST_P(HostAgentTest, ACallThatIsLateLeavesNoLink) {
  Bring(first);
  const auto running = StartRunning(order);
  const base::Path tools = host.home() / "tools";
  std::filesystem::create_directory(tools);
  std::ofstream(tools / "ln") << "#!/bin/sh\n>~/go\n"
                                 "until [ -e ~/.jobman/runs/r/exit ]; do sleep 0.05; done\n"
                                 "exec /bin/ln \"$@\"\n";
  std::filesystem::permissions(tools / "ln", std::filesystem::perms::owner_all);
  host.env["PATH"] = tools.string() + ":" + host.env["PATH"];
  host.Do(FollowCall("r", 0));
  host.Wait(running);
  EXPECT_TRUE(std::filesystem::exists(host.home() / "go"));
  EXPECT_TRUE(std::filesystem::is_empty(Links()));
}

TEST_P(HostAgentTest, ARunThatIsStoppedLeavesNoLink) {
  Bring(first);
  const auto running = StartRunning(order);
  ASSERT_EQ(Linked(), first.name());
  host.Do(StopCall("r", std::chrono::seconds(5)));
  host.Wait(running);
  EXPECT_TRUE(std::filesystem::is_empty(Links()));
}

TEST_P(HostAgentTest, ARunWithoutAnAgentSaysSoAndGetsItLater) {
  const auto running = StartRunning(order);
  Bring(second);
  const auto later = host.Start(FollowCall("r", 0));
  EXPECT_TRUE(Eventually([&] { return Linked() == second.name(); }));
  Go();
  const Ended ended = host.Wait(later);
  EXPECT_THAT(ended.out, HasSubstr("jobman: no SSH agent is forwarded (ssh.agent_forwarding)"));
  EXPECT_THAT(ended.out, EndsWith("\n" + second.name() + "\n"));
  host.Wait(running);
}

TEST_P(HostAgentTest, TheJobsOwnSocketTakesPrecedence) {
  Bring(first);
  order.script = "echo $SSH_AUTH_SOCK";
  order.env["SSH_AUTH_SOCK"] = "/mine";
  EXPECT_EQ(host.Run(order).out, "/mine\n");
}

TEST_P(HostAgentTest, OtherRunsGetNoLink) {
  Bring(first);
  order.uses_agent = false;
  Go();
  host.Run(order);
  EXPECT_FALSE(std::filesystem::exists(Links()));
}

}  // namespace
}  // namespace jobman::remote

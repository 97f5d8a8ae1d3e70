#include <gtest/gtest.h>

#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <memory>

#include "jobman/base/strings.hpp"
#include "tests/unit/ssh/host_shell_fixture.hpp"

namespace jobman::ssh {
namespace {

using asio::ip::tcp;
using base::Reason;

/// Accepts connections, sends something, and then closes them or falls silent.
class HostileServer {
 public:
  HostileServer(asio::io_context& loop, std::string greeting, bool hangs_up)
      : acceptor_(loop, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
        greeting_(std::move(greeting)),
        hangs_up_(hangs_up) {
    Accept();
  }
  ports::HostTarget Target(const base::Path& key) const {
    return {.address = "127.0.0.1",
            .port = acceptor_.local_endpoint().port(),
            .user = "u",
            .private_key = key,
            .identity = "x/0"};
  }

 private:
  void Accept() {
    acceptor_.async_accept([this](const std::error_code& failed, tcp::socket peer) {
      if (failed) return;
      std::error_code ignored;
      asio::write(peer, asio::buffer(greeting_), ignored);
      if (!hangs_up_) peers_.push_back(std::move(peer));
      Accept();
    });
  }
  tcp::acceptor acceptor_;
  std::string greeting_;
  bool hangs_up_;
  std::vector<tcp::socket> peers_ = {};
};

class HostileTest : public HostShellTest {
 protected:
  /// One try, with a short timeout.
  base::Error Meet(const std::string& greeting, bool hangs_up) {
    const int before = OpenFiles();
    base::Error error = TryToMeet(greeting, hangs_up);
    EXPECT_EQ(OpenFiles(), before) << "a failed try leaks nothing";
    return error;
  }
  /// There is a key in it, named "key".
  const base::Path& dir_of_keys() {
    EXPECT_TRUE(EnsureKey(dir.path / "key").ok());
    return dir.path;
  }

 private:
  base::Error TryToMeet(const std::string& greeting, bool hangs_up) {
    const HostileServer server(loop, greeting, hangs_up);
    const base::Duration patience = hangs_up ? base::Duration{60'000} : base::Duration{300};
    SshHostShell hasty(loop.get_executor(), known, {.login_timeout = patience});
    EXPECT_TRUE(EnsureKey(dir.path / "key").ok());
    const auto task = [](ports::HostShell* on, ports::HostTarget target) -> Task<Result<int>> {
      const ports::RemoteCommand command{.command = "true"};
      const ports::ByteSink none;
      co_return co_await on->Run(target, command, none, none);
    };
    loop.restart();
    const auto result = base::RunTask(loop, task(&hasty, server.Target(dir.path / "key")));
    return result.ok() ? base::Internal("logged in") : result.error();
  }
  TempDir dir;
};

TEST_F(HostileTest, AServerThatNeverSpeaksIsATimeout) {
  const auto error = Meet("", false);
  EXPECT_EQ(error.code, base::Code::kUnavailable);
  EXPECT_EQ(error.reason, Reason::kHostTimeout) << error.ToString();
}

TEST_F(HostileTest, AServerThatHangsUpIsARefusal) {
  EXPECT_EQ(Meet("", true).reason, Reason::kHostRefused);
  EXPECT_EQ(Meet("SSH-2.0-OpenSSH_9.2p1\r\n", true).reason, Reason::kHostRefused);
}

TEST_F(HostileTest, AServerThatFallsSilentInTheHandshakeIsATimeout) {
  EXPECT_EQ(Meet("SSH-2.0-OpenSSH_9.2p1\r\n", false).reason, Reason::kHostTimeout);
}

TEST_F(HostileTest, GarbageIsRefused) {
  EXPECT_EQ(Meet("HTTP/1.1 400 Bad Request\r\n\r\n", true).reason, Reason::kHostRefused);
  EXPECT_EQ(Meet("SSH-1.5-old\r\n", true).reason, Reason::kHostRefused);
  std::string noise = "SSH-2.0-x\r\n";
  for (int i = 0; i < 100000; ++i) noise += static_cast<char>(i * 7919 >> 3);
  const auto error = Meet(noise, true);
  EXPECT_EQ(error.code, base::Code::kUnavailable) << error.ToString();
}

TEST_F(HostileTest, AnEndlessGreetingIsBounded) {
  const auto error = Meet(std::string(1000000, 'a'), false);
  EXPECT_EQ(error.code, base::Code::kUnavailable) << error.ToString();
}

/// A listener with a full backlog answers no SYN: the closest to a black hole on loopback.
TEST_F(HostileTest, ABlackHoleIsATimeout) {
  tcp::acceptor full(loop);
  full.open(tcp::v4());
  full.bind(tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
  full.listen(0);
  std::vector<tcp::socket> fillers;
  for (int i = 0; i < 4; ++i) {
    fillers.emplace_back(loop);
    fillers.back().async_connect(full.local_endpoint(), [](const std::error_code&) {});
  }
  loop.poll();
  SshHostShell hasty(loop.get_executor(), known, {.connect_timeout = base::Duration{300}});
  const ports::HostTarget target{.address = "127.0.0.1", .port = full.local_endpoint().port()};
  const auto task = [](ports::HostShell* on, ports::HostTarget where) -> Task<Result<int>> {
    const ports::RemoteCommand command{.command = "true"};
    const ports::ByteSink none;
    co_return co_await on->Run(where, command, none, none);
  };
  loop.restart();
  const auto result = base::RunTask(loop, task(&hasty, target));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().reason, Reason::kHostTimeout) << result.error().ToString();
}

/// As commands of a user do, to a thousand hosts of which many are down.
TEST_F(HostileTest, CommandsThatYieldDoNotFillTheConnectWindow) {
  const TestSshd sshd;
  const HostileServer silent(loop, "", false);
  SshHostShell narrow(loop.get_executor(), known, {.connect_window = 2});
  base::CancelScope scope;
  for (const char* identity : {"x/1", "x/2", "x/3"}) {
    auto target = silent.Target(dir_of_keys() / "key");
    target.identity = identity;
    base::Spawn(
        loop.get_executor(), scope,
        RunInto(&narrow, target, {.command = "true", .yields = true}, std::make_shared<Ran>()));
  }
  const auto ran = std::make_shared<Ran>();
  base::Spawn(loop.get_executor(), scope,
              RunInto(&narrow, sshd.Target(), {.command = "echo up"}, ran));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!ran->result.ok() && std::chrono::steady_clock::now() < end)
    loop.run_one_for(std::chrono::milliseconds{100});
  EXPECT_EQ(ran->out, "up\n") << "within the time that a silent host gets";
  scope.Cancel();
  loop.run_for(std::chrono::milliseconds{100});
}

/// It does not wait for an attempt that yields to others.
TEST_F(HostileTest, ACommandDoesNotJoinAnAttemptThatYields) {
  const TestSshd sshd;
  const HostileServer silent(loop, "", false);
  SshHostShell narrow(loop.get_executor(), known, {.connect_window = 2});
  base::CancelScope scope;
  auto down = silent.Target(dir_of_keys() / "key");
  const auto waits = std::make_shared<Ran>(), ran = std::make_shared<Ran>();
  base::Spawn(loop.get_executor(), scope,
              RunInto(&narrow, down, {.command = "true", .yields = true}, std::make_shared<Ran>()));
  base::Spawn(loop.get_executor(), scope,
              RunInto(&narrow, sshd.Target(), {.command = "echo late", .yields = true}, waits));
  base::Spawn(loop.get_executor(), scope,
              RunInto(&narrow, sshd.Target(), {.command = "echo up"}, ran));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!ran->result.ok() && std::chrono::steady_clock::now() < end)
    loop.run_one_for(std::chrono::milliseconds{100});
  EXPECT_EQ(ran->out, "up\n");
  scope.Cancel();
  loop.run_for(std::chrono::milliseconds{100});
}

}  // namespace
}  // namespace jobman::ssh

// Connections to a port of a host.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include "tests/unit/ssh/host_shell_fixture.hpp"
#include "tests/unit/ssh/test_sshd.hpp"

namespace jobman::ssh {
namespace {

using asio::ip::tcp;
using Near = asio::local::stream_protocol::socket;

/// What a server on the host does with a connection.
using Talk = std::function<Task<void>(std::shared_ptr<tcp::socket>)>;

/// Sends everything back once it has ended, and closes.
Task<void> SendBack(std::shared_ptr<tcp::socket> peer) {
  std::string text;
  std::error_code ended;
  co_await asio::async_read(*peer, asio::dynamic_buffer(text),
                            asio::redirect_error(asio::use_awaitable, ended));
  co_await asio::async_write(*peer, asio::buffer(text),
                             asio::redirect_error(asio::use_awaitable, ended));
}

using Peers = std::shared_ptr<std::vector<std::shared_ptr<tcp::socket>>>;

/// Says one thing and does not close.
Task<void> Keep(Peers peers, std::shared_ptr<tcp::socket> peer) {
  std::error_code failed;
  co_await asio::async_write(*peer, asio::buffer("x", 1),
                             asio::redirect_error(asio::use_awaitable, failed));
  peers->push_back(std::move(peer));
}

Task<void> Serve(tcp::acceptor* at, Talk talk, asio::any_io_executor executor) {
  while (true) {
    auto peer = std::make_shared<tcp::socket>(executor);
    co_await at->async_accept(*peer, asio::use_awaitable);
    base::Spawn(executor, talk(peer));
  }
}

Task<void> RelayInto(ports::HostShell* shell, ports::HostTarget target, int port,
                     std::shared_ptr<base::UniqueFd> local, std::shared_ptr<base::Status> ended) {
  auto status = co_await shell->Relay(target, port, local);
  *ended = std::move(status);
}

class RelayTest : public HostShellTest {
 protected:
  int Listen(Talk talk) {
    at_.emplace(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    base::Spawn(loop.get_executor(), server_, Serve(&*at_, std::move(talk), loop.get_executor()));
    return at_->local_endpoint().port();
  }
  /// The other end of a connection that is joined to the port.
  std::shared_ptr<Near> Join(const ports::HostTarget& target, int port) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    auto near = std::make_shared<Near>(loop, asio::local::stream_protocol(), ends[0]);
    ++running;
    loop.restart();
    base::Spawn(loop.get_executor(),
                RelayInto(&shell, target, port, std::make_shared<base::UniqueFd>(ends[1]), ended_),
                [this](bool /*cancelled*/) { --running; });
    return near;
  }
  void WaitForRelays() {
    EXPECT_TRUE(TurnUntil([this] { return running == 0; }));
  }
  const std::shared_ptr<base::Status> ended_ =
      std::make_shared<base::Status>(base::Internal("did not end"));

 private:
  std::optional<tcp::acceptor> at_ = {};
  base::CancelScope server_ = {};
};

Task<void> SendAndRead(std::shared_ptr<Near> near, std::string text,
                       std::shared_ptr<std::string> got) {
  std::error_code failed;
  co_await asio::async_write(*near, asio::buffer(text),
                             asio::redirect_error(asio::use_awaitable, failed));
  near->shutdown(Near::shutdown_send, failed);
  std::string all;  // longer than what has come, while it is being read
  co_await asio::async_read(*near, asio::dynamic_buffer(all),
                            asio::redirect_error(asio::use_awaitable, failed));
  near->close(failed);
  *got = std::move(all);
}

TEST_F(RelayTest, CarriesBothWaysWhatIsLargerThanItsBuffers) {
  const TestSshd sshd;
  const int port = Listen(SendBack);
  const std::string text(5'000'000, 'x');
  std::vector<std::shared_ptr<std::string>> answers;
  for (int i = 0; i < 3; ++i) {
    answers.push_back(std::make_shared<std::string>());
    base::Spawn(loop.get_executor(),
                SendAndRead(Join(sshd.Target(), port), text + std::to_string(i), answers.back()));
  }
  WaitForRelays();
  EXPECT_TRUE(ended_->ok()) << ended_->error().ToString();
  EXPECT_TRUE(TurnUntil([&] {  // what was relayed is read
    return std::all_of(answers.begin(), answers.end(),
                       [&](const auto& got) { return got->size() > text.size(); });
  }));
  for (int i = 0; i < 3; ++i) {
    const std::string& got = *answers[static_cast<std::size_t>(i)];
    const std::string sent = text + std::to_string(i);
    const auto differs = std::mismatch(got.begin(), got.end(), sent.begin(), sent.end()).first;
    EXPECT_TRUE(got == sent) << i << ": " << got.size() << " bytes, and another one at "
                             << differs - got.begin();
  }
  EXPECT_EQ(shell.sessions(), 1);
}

TEST_F(RelayTest, APortWhereNobodyListensIsNamed) {
  const TestSshd sshd;
  const int port = UnusedPort("127.0.0.1");
  const auto near = Join(sshd.Target(), port);
  WaitForRelays();
  ASSERT_FALSE(ended_->ok());
  EXPECT_EQ(ended_->error().code, base::Code::kNotFound);
  EXPECT_NE(ended_->error().message.find("nothing listens on its port " + std::to_string(port)),
            std::string::npos)
      << ended_->error().message;
  EXPECT_EQ(*Run(sshd.Target(), "exit 3").result, 3) << "the connection is good still";
  EXPECT_EQ(shell.sessions(), 1);
}

TEST_F(RelayTest, LeavesTheSocketToItsCallerUntilTheHostHasAnswered) {
  const TestSshd sshd;
  ports::HostTarget away = sshd.Target();
  away.port = UnusedPort("127.0.0.1");
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const base::UniqueFd near(ends[0]);
  const auto local = std::make_shared<base::UniqueFd>(ends[1]);
  base::Spawn(loop.get_executor(), RelayInto(&shell, away, 80, local, ended_));
  const auto refused = [&] {
    return !ended_->ok() && ended_->error().reason == base::Reason::kHostRefused;
  };
  EXPECT_TRUE(TurnUntil(refused)) << ended_->error().ToString();
  EXPECT_TRUE(*local) << "it can be tried again";
}

/// Its queue is full, so that the host waits for an answer: the session has others to serve.
TEST_F(RelayTest, APortThatAcceptsNothingIsNamedAndTheSessionStays) {
  const TestSshd sshd;
  tcp::acceptor full(loop, tcp::v4());
  full.bind(tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  full.listen(0);
  tcp::socket filler(loop);
  filler.connect(full.local_endpoint());
  SshHostShell hasty(loop.get_executor(), known, {.connect_timeout = std::chrono::seconds{10}});
  const base::CancelScope scope;
  const auto other = std::make_shared<Ran>();
  const ports::RemoteCommand chatty{.command = "while echo x; do sleep 0.1; done"};
  base::Spawn(loop.get_executor(), scope, RunInto(&hasty, sshd.Target(), chatty, other));
  ASSERT_TRUE(TurnUntil([&] { return !other->out.empty(); }));
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const base::UniqueFd near(ends[0]);
  base::Spawn(loop.get_executor(), scope,
              RelayInto(&hasty, sshd.Target(), full.local_endpoint().port(),
                        std::make_shared<base::UniqueFd>(ends[1]), ended_));
  const auto says = [&](const char* what) {
    return !ended_->ok() && ended_->error().message.find(what) != std::string::npos;
  };
  EXPECT_TRUE(TurnUntil([&] { return says("nothing accepts connections on its port"); }))
      << ended_->error().ToString();
  const std::size_t heard = other->out.size();
  EXPECT_TRUE(TurnUntil([&] { return other->out.size() > heard; })) << "the command goes on";
  EXPECT_EQ(hasty.sessions(), 1);
}

TEST_F(RelayTest, AServerThatForwardsNothingIsNamed) {
  const TestSshd sshd({"AllowTcpForwarding no"});
  const auto near = Join(sshd.Target(), 80);
  WaitForRelays();
  ASSERT_FALSE(ended_->ok());
  EXPECT_EQ(ended_->error().code, base::Code::kPermissionDenied);
}

TEST_F(RelayTest, ABrokenConnectionEndsIt) {
  TestSshd sshd;
  const auto peers = std::make_shared<std::vector<std::shared_ptr<tcp::socket>>>();
  const int port =
      Listen([peers](std::shared_ptr<tcp::socket> peer) { return Keep(peers, std::move(peer)); });
  const auto near = Join(sshd.Target(), port);
  std::error_code failed;
  ASSERT_TRUE(TurnUntil([&] { return near->available(failed) > 0; }));
  sshd.KillConnections();
  WaitForRelays();
  ASSERT_FALSE(ended_->ok());
  EXPECT_EQ(ended_->error().reason, base::Reason::kConnectionBroke);
  char byte = 0;
  EXPECT_EQ(near->read_some(asio::buffer(&byte, 1), failed), 1U);
  EXPECT_EQ(near->read_some(asio::buffer(&byte, 1), failed), 0U) << "this end was closed";
}

TEST_F(RelayTest, ItEndsWhenThisSideIsGone) {
  const TestSshd sshd;
  const int port = Listen([](std::shared_ptr<tcp::socket> peer) -> Task<void> {
    std::error_code failed;
    const std::string block(65536, 'x');
    while (!failed) {
      co_await asio::async_write(*peer, asio::buffer(block),
                                 asio::redirect_error(asio::use_awaitable, failed));
    }
  });
  const auto near = Join(sshd.Target(), port);
  ASSERT_TRUE(TurnUntil([&] { return near->available() > 0; }));
  near->close();
  WaitForRelays();
  EXPECT_TRUE(ended_->ok()) << ended_->error().ToString();
}

}  // namespace
}  // namespace jobman::ssh

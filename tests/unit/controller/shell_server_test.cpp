// The controller's side of a shared shell; a client's is in
// tests/unit/client/shared_shell_test.cpp.
#include "jobman/controller/shell_server.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jobman/controller/frame_pipe.hpp"
#include "jobman/controller/local_socket.hpp"
#include "jobman/controller/shell_messages.hpp"
#include "jobman/controller/times.hpp"
#include "tests/support/echo_shell.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/turn_until.hpp"

namespace jobman::controller {
namespace {

/// What the other side has received, and whether it was closed.
struct Received {
  std::vector<Frame> frames = {};
  bool closed = false;
  bool Has(FrameType type) const {
    return std::any_of(frames.begin(), frames.end(),
                       [type](const Frame& frame) { return frame.type == type; });
  }
};

class ShellServerTest : public testing::Test {
 protected:
  ShellServerTest() {
    auto listen = [](ShellServer* server) -> base::Task<void> { (void)co_await server->Listen(); };
    base::Spawn(loop_.get_executor(), scope_, listen(&server_));
    loop_.poll();  // binds the socket
  }
  ~ShellServerTest() override {
    scope_.Cancel();
    server_.Close();
    loop_.restart();
    loop_.run();
  }

  /// Connects; reads what comes, if the test wants that.
  std::shared_ptr<FramePipe> Connect() {
    auto socket = ConnectTo(path_);
    EXPECT_TRUE(socket.ok()) << socket.error().ToString();
    return std::make_shared<FramePipe>(loop_.get_executor(), std::move(*socket));
  }
  static base::Task<void> ReadInto(std::shared_ptr<FramePipe> pipe,
                                   std::shared_ptr<Received> received) {
    for (;;) {
      auto frame = co_await pipe->Next();
      if (!frame.ok() || !*frame) break;
      received->frames.push_back(std::move(**frame));
    }
    received->closed = true;
  }
  std::shared_ptr<Received> Read(const std::shared_ptr<FramePipe>& pipe) {
    auto received = std::make_shared<Received>();
    base::Spawn(loop_.get_executor(), scope_, ReadInto(pipe, received));
    return received;
  }
  static base::Task<void> SendAll(std::shared_ptr<FramePipe> pipe, std::string bytes,
                                  std::shared_ptr<bool> sent) {
    (void)(co_await pipe->Send(std::move(bytes))).ok();
    *sent = true;
  }
  std::shared_ptr<bool> Send(const std::shared_ptr<FramePipe>& pipe, std::string bytes) {
    auto sent = std::make_shared<bool>(false);
    base::Spawn(loop_.get_executor(), scope_, SendAll(pipe, std::move(bytes), sent));
    return sent;
  }
  static std::string Asking(const std::string& command, bool go = true) {
    std::string bytes;
    const ShellRequest request{.target = {.address = "h0"}, .command = command};
    AppendFrame(bytes, FrameType::kRequest, Encode(request));
    if (go) AppendFrame(bytes, FrameType::kGo, {});
    return bytes;
  }
  bool Until(const std::function<bool()>& is_so) { return test::TurnUntil(loop_, is_so); }
  /// So that what is going on comes to a stop, if it does.
  void Settle() {
    loop_.restart();
    loop_.run_for(std::chrono::milliseconds{300});
  }
  /// How much a command writes, in pieces of 50,000 bytes, before it waits for its reader.
  std::int64_t MostUnread() {
    const auto lazy = Connect();
    Send(lazy, Asking("write 8000000"));
    EXPECT_TRUE(Until([&] { return hosts_.runs == 1; }));
    for (std::int64_t before = -1; before != hosts_.written;) {
      before = hosts_.written;
      Settle();
    }
    lazy->Break();
    EXPECT_TRUE(Until([&] { return !server_.Busy(); }));
    return std::exchange(hosts_.written, 0);
  }

  test::TempDir dir_;
  base::Path path_ = dir_ / "s";
  asio::io_context loop_;
  test::EchoShell hosts_;
  ShellServer server_{loop_.get_executor(), &hosts_, path_};
  base::CancelScope scope_ = {};
};

TEST_F(ShellServerTest, ItsSocketIsForThisUserOnly) {
  struct stat found = {};
  ASSERT_EQ(stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  const auto socket = ConnectTo(path_);
  ASSERT_TRUE(socket.ok());
  const auto peer = PeerOfSameUser(socket->get());
  ASSERT_TRUE(peer.ok());
  EXPECT_EQ(*peer, getpid());
}

TEST_F(ShellServerTest, NothingBeginsWithoutAGo) {
  const auto pipe = Connect();
  const auto got = Read(pipe);
  Send(pipe, Asking("exit 3", false));
  ASSERT_TRUE(Until([&] { return got->Has(FrameType::kConnected); }));
  Settle();
  EXPECT_EQ(hosts_.begun, 0);
  EXPECT_TRUE(server_.Busy());
  std::string go;
  AppendFrame(go, FrameType::kGo, {});
  Send(pipe, go);
  ASSERT_TRUE(Until([&] { return got->closed; }));
  EXPECT_EQ(got->frames.back(), (Frame{.type = FrameType::kEnded, .body = "3"}));
  EXPECT_TRUE(Until([&] { return !server_.Busy(); }));
}

TEST_F(ShellServerTest, AnotherVersionIsRefusedByName) {
  const auto pipe = Connect();
  const auto got = Read(pipe);
  std::string bytes;
  std::string body;
  AppendField(body, "version", "0");
  AppendFrame(bytes, FrameType::kRequest, body);
  Send(pipe, bytes);
  ASSERT_TRUE(Until([&] { return got->closed; }));
  ASSERT_EQ(got->frames.size(), 1u);
  EXPECT_EQ(got->frames[0].type, FrameType::kRefused);
  EXPECT_EQ(got->frames[0].body, "the controller speaks version 2");
  EXPECT_EQ(hosts_.logins, 0);
}

TEST_F(ShellServerTest, GarbageEndsItsOwnStreamOnly) {
  const auto good = Connect();
  const auto got = Read(good);
  Send(good, Asking("cat"));
  ASSERT_TRUE(Until([&] { return hosts_.runs == 1; }));
  for (const std::string& garbage :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\0\0\0\0\0", 5),
        Asking("hang") + std::string("\xff\xff\xff\xff\x06", 5), Asking("hang") + "\1\2\3\4\5"}) {
    const auto bad = Connect();
    const auto answer = Read(bad);
    Send(bad, garbage);
    EXPECT_TRUE(Until([&] { return answer->closed; })) << garbage;
    EXPECT_TRUE(Until([&] { return hosts_.runs == 1; })) << garbage;
  }
  std::string rest;
  AppendFrame(rest, FrameType::kInput, "still here");
  AppendFrame(rest, FrameType::kInput, {});
  Send(good, rest);
  ASSERT_TRUE(Until([&] { return got->closed; }));
  EXPECT_EQ(got->frames.back().type, FrameType::kEnded);
}

TEST_F(ShellServerTest, WhoDoesNotReadHoldsUpTheirOwnCommandOnly) {
  const auto lazy = Connect();
  Send(lazy, Asking("write 8000000"));
  Settle();
  const auto written = hosts_.written;
  Settle();
  EXPECT_EQ(hosts_.written, written) << "it waits";
  EXPECT_LT(written, 2'000'000) << "a window, and what the kernel keeps for a socket";
  const auto other = Connect();
  const auto got = Read(other);
  Send(other, Asking("both"));
  EXPECT_TRUE(Until([&] { return got->Has(FrameType::kEnded); }));
  const auto late = Read(lazy);
  EXPECT_TRUE(Until([&] { return late->Has(FrameType::kEnded); })) << "it goes on";
}

TEST_F(ShellServerTest, TheEndOfAnOutputWaitsForItsReader) {
  const std::int64_t size = MostUnread() - 50'000;
  const auto lazy = Connect();
  Send(lazy, Asking("write " + std::to_string(size)));
  ASSERT_TRUE(Until([&] { return hosts_.begun == 2 && hosts_.runs == 0; }));
  Settle();
  EXPECT_TRUE(server_.Busy());
  const auto late = Read(lazy);
  ASSERT_TRUE(Until([&] { return late->closed; }));
  std::string out;
  for (const Frame& frame : late->frames)
    if (frame.type == FrameType::kOut) out += frame.body;
  EXPECT_EQ(std::ssize(out), size);
  EXPECT_EQ(late->frames.back(), (Frame{.type = FrameType::kEnded, .body = "0"}));
  EXPECT_TRUE(Until([&] { return !server_.Busy(); }));
}

TEST_F(ShellServerTest, TheEndOfAnOutputIsForgottenWithItsReader) {
  const std::int64_t size = MostUnread() - 50'000;
  const auto lazy = Connect();
  Send(lazy, Asking("write " + std::to_string(size)));
  ASSERT_TRUE(Until([&] { return hosts_.begun == 2 && hosts_.runs == 0; }));
  ASSERT_TRUE(server_.Busy());
  lazy->Break();
  EXPECT_TRUE(Until([&] { return !server_.Busy(); }));
}

TEST_F(ShellServerTest, AnEighthOfTheFilesIsForItsCommands) {
  EXPECT_EQ(ShellServer::MostStreams(1024), 128);
  EXPECT_EQ(ShellServer::MostStreams(std::int64_t{1} << 30), 4096);
  EXPECT_EQ(ShellServer::MostStreams(4), 0);
}

TEST_F(ShellServerTest, InputWaitsForItsCommandAndTheEndIsStillSeen) {
  hosts_.reads = false;
  auto pipe = Connect();
  std::string bytes = Asking("cat");
  AppendPieces(bytes, FrameType::kInput, std::string(5'000'000, 'x'));
  const auto sent = Send(pipe, std::move(bytes));
  Settle();
  ASSERT_EQ(hosts_.runs, 1);
  EXPECT_FALSE(*sent) << "somebody would have it all in memory";
  pipe->Break();
  EXPECT_TRUE(Until([&] { return hosts_.runs == 0; })) << "the command was cancelled";
  EXPECT_TRUE(Until([&] { return !server_.Busy(); }));
}

TEST_F(ShellServerTest, PiecesWithoutBytesTakeMemoryToo) {
  const auto pipe = Connect();
  std::string bytes = Asking("hang");
  for (int i = 0; i < 1'000'000; ++i) AppendFrame(bytes, FrameType::kInput, "");
  const auto sent = Send(pipe, std::move(bytes));
  Settle();
  EXPECT_FALSE(*sent);
  pipe->Break();
  EXPECT_TRUE(Until([&] { return !server_.Busy(); }));
}

TEST_F(ShellServerTest, ClosingEndsWhatRuns) {
  const auto pipe = Connect();
  const auto got = Read(pipe);
  Send(pipe, Asking("hang"));
  ASSERT_TRUE(Until([&] { return hosts_.runs == 1; }));
  server_.Close();
  EXPECT_TRUE(Until([&] { return got->closed && hosts_.runs == 0; }));
  EXPECT_FALSE(got->Has(FrameType::kEnded) || got->Has(FrameType::kFailed));
}

TEST_F(ShellServerTest, AnErrorOfTheHostIsPassedOn) {
  hosts_.refuses = base::Error{.code = base::Code::kUnavailable,
                               .message = "nobody listens",
                               .reason = base::Reason::kHostRefused,
                               .hint = "start it"};
  const auto pipe = Connect();
  const auto got = Read(pipe);
  Send(pipe, Asking("true", false));
  ASSERT_TRUE(Until([&] { return got->closed; }));
  ASSERT_EQ(got->frames.back().type, FrameType::kFailed);
  EXPECT_EQ(ParseError(got->frames.back().body), *hosts_.refuses);
}

}  // namespace
}  // namespace jobman::controller

// Commands on hosts through a controller: SharedShell and the controller's ShellServer together.
#include "jobman/client/shared_shell.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "jobman/controller/local_socket.hpp"
#include "jobman/controller/shell_frames.hpp"
#include "jobman/controller/shell_messages.hpp"
#include "jobman/controller/shell_server.hpp"
#include "tests/support/echo_shell.hpp"
#include "tests/support/lend.hpp"
#include "tests/support/set_pace.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/turn_until.hpp"

namespace jobman::client {
namespace {

using base::Reason;
using base::Result;
using base::Task;
using testing::HasSubstr;

/// A command and what came of it.
struct SharedRun {
  std::optional<Result<int>> result = {};
  std::string out = {};
  std::string err = {};
  bool ended = false;  ///< cancelled ones too
};

Task<base::Status> CloseIt(base::UniqueFd* socket) {
  socket->Reset();
  co_return base::Ok();
}

class SharedShellTest : public testing::Test {
 protected:
  ~SharedShellTest() override {
    scope_.Cancel();
    listening_.Cancel();
    shell_.reset();
    server_.reset();
    loop_.restart();
    loop_.run();
  }
  void StartController() {
    server_ = std::make_unique<controller::ShellServer>(loop_.get_executor(), &hosts_, socket_);
    base::Spawn(loop_.get_executor(), listening_, Serve(server_.get()));
    loop_.restart();
    loop_.poll();  // binds the socket
  }
  /// As with kill -9: the socket stays, and nobody listens there.
  void EndController() {
    listening_ = base::CancelScope();
    server_.reset();
    Settle();
  }
  static Task<void> Serve(controller::ShellServer* server) {
    const auto ended = co_await server->Listen();
    EXPECT_TRUE(ended.ok()) << ended.error().ToString();
  }
  ports::HostShell& Shell() {
    if (!shell_) {
      shell_ = std::make_unique<SharedShell>(loop_.get_executor(), socket_,
                                             std::make_unique<test::LentShell>(own_), times_);
    }
    return *shell_;
  }
  static Task<void> RunInto(ports::HostShell* shell, ports::HostTarget target,
                            ports::RemoteCommand command, std::shared_ptr<SharedRun> run) {
    const ports::ByteSink out = [run](std::string_view bytes) {
      run->out += bytes;
      return base::Ok();
    };
    const ports::ByteSink err = [run](std::string_view bytes) {
      run->err += bytes;
      return base::Ok();
    };
    auto result = co_await shell->Run(target, command, out, err);
    run->result = std::move(result);
  }
  std::shared_ptr<SharedRun> Start(const ports::RemoteCommand& command,
                                   const ports::HostTarget& target = {.address = "h0"}) {
    auto run = std::make_shared<SharedRun>();
    base::Spawn(loop_.get_executor(), scope_, RunInto(&Shell(), target, command, run),
                [run](bool /*cancelled*/) { run->ended = true; });
    return run;
  }
  std::shared_ptr<SharedRun> Run(const ports::RemoteCommand& command,
                                 const ports::HostTarget& target = {.address = "h0"}) {
    auto run = Start(command, target);
    EXPECT_TRUE(Until([&] { return run->ended; })) << command.command;
    return run;
  }
  /// Accepts a connection as a controller whose host has accepted the login.
  void LetIn(int listener, base::UniqueFd* peer) {
    ASSERT_TRUE(Until([&] {
      *peer = base::UniqueFd(::accept(listener, nullptr, nullptr));
      return static_cast<bool>(*peer);
    }));
    std::string bytes;
    controller::AppendFrame(bytes, controller::FrameType::kAccepted, {});
    controller::AppendFrame(bytes, controller::FrameType::kConnected, {});
    ASSERT_EQ(::send(peer->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
  }
  bool Until(const std::function<bool()>& is_so) { return test::TurnUntil(loop_, is_so); }
  void Settle() {
    loop_.restart();
    loop_.run_for(std::chrono::milliseconds{100});
  }

  test::TempDir dir_;
  base::Path socket_ = dir_ / "shell.sock";
  asio::io_context loop_;
  test::EchoShell hosts_;  ///< as the controller reaches them
  test::EchoShell own_;    ///< as we do
  SharedShellTimes times_ = {.first_answer = std::chrono::seconds{20},
                             .answer = std::chrono::seconds{20}};
  std::unique_ptr<controller::ShellServer> server_;
  std::unique_ptr<SharedShell> shell_;
  base::CancelScope listening_ = {};
  base::CancelScope scope_ = {};
};

TEST_F(SharedShellTest, ACommandRunsOnTheControllersConnections) {
  StartController();
  const ports::HostTarget target{.address = "h7", .user = "u", .identity = "7/0", .strict = true};
  const auto run = Run({.command = "both"}, target);
  EXPECT_EQ(run->result->value(), 0);
  EXPECT_EQ(run->out, "to out\n");
  EXPECT_EQ(run->err, "to err\n");
  EXPECT_EQ(hosts_.last, target);
  EXPECT_EQ(Run({.command = "exit 137"})->result->value(), 137);
  EXPECT_EQ(hosts_.logins, 2);
  EXPECT_EQ(own_.logins, 0);
}

TEST_F(SharedShellTest, AllInputArrivesWhateverItsForm) {
  StartController();
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(Run({.command = "cat", .input = large})->out, large);
  auto left = std::make_shared<int>(3);
  const auto next = [left]() -> Result<std::string> {
    return (*left)-- > 0 ? std::string(200'000, 'y') : std::string();
  };
  EXPECT_EQ(Run({.command = "cat", .input = "first ", .next_input = next})->out,
            "first " + std::string(600'000, 'y'));
  EXPECT_EQ(Run({.command = "cat"})->out, "");
  const auto pace = std::make_shared<test::SetPace>();
  const auto run = Start({.command = "cat", .pace = pace});
  for (const char* piece : {"one", "two"}) {
    Settle();
    pace->next = piece;
    pace->Wake();
  }
  ASSERT_TRUE(Until([&] { return run->out == "onetwo"; }));
  EXPECT_FALSE(run->ended);
  pace->next = "";
  pace->Wake();
  EXPECT_TRUE(Until([&] { return run->ended; }));
  EXPECT_EQ(own_.logins, 0);
}

TEST_F(SharedShellTest, MuchOutputArrivesWhole) {
  StartController();
  constexpr std::int64_t kSize = 10'000'000;
  const auto run = Run({.command = "write " + std::to_string(kSize)});
  ASSERT_EQ(std::ssize(run->out), kSize);
  for (std::int64_t at = 0; at < kSize; at += 997)
    ASSERT_EQ(run->out[static_cast<std::size_t>(at)], test::EchoShell::ByteAt(at)) << at;
}

TEST_F(SharedShellTest, OutputWaitsOnTheHostUntilItMayBeRead) {
  StartController();
  const auto pace = std::make_shared<test::SetPace>();
  pace->may_read = false;
  pace->next = "";
  const auto run = Start({.command = "write 8000000", .pace = pace});
  Settle();
  Settle();
  EXPECT_EQ(run->out, "");
  EXPECT_LT(hosts_.written, 2'000'000);
  pace->may_read = true;
  pace->Wake();
  EXPECT_TRUE(Until([&] { return run->ended; }));
  EXPECT_EQ(run->out.size(), 8'000'000u);
}

TEST_F(SharedShellTest, CancellingEndsTheCommandThere) {
  StartController();
  Start({.command = "hang"});
  ASSERT_TRUE(Until([&] { return hosts_.runs == 1; }));
  scope_ = base::CancelScope();
  EXPECT_TRUE(Until([&] { return hosts_.runs == 0; }));
  EXPECT_TRUE(Until([&] { return !server_->Busy(); }));
}

TEST_F(SharedShellTest, WhatTheCallerRefusesNeverBegins) {
  StartController();
  const auto refuse = []() -> Task<base::Status> {
    base::Status no = base::NotFound("not now");
    co_return no;
  };
  EXPECT_EQ(Run({.command = "both", .may_begin = refuse})->result->error().message, "not now");
  const auto pace = std::make_shared<test::SetPace>();
  pace->broken = base::NotFound("gone");
  EXPECT_EQ(Run({.command = "both", .pace = pace})->result->error().message, "gone");
  Settle();
  EXPECT_EQ(hosts_.begun, 0);
  EXPECT_EQ(own_.logins, 0);
}

TEST_F(SharedShellTest, ErrorsOfInputAndOfSinksEndTheCommand) {
  StartController();
  const auto next = []() -> Result<std::string> { return base::NotFound("no file"); };
  EXPECT_EQ(Run({.command = "cat", .next_input = next})->result->error().message, "no file");
  EXPECT_TRUE(Until([&] { return hosts_.runs == 0; }));
  const auto full = [](ports::HostShell* shell) -> Task<Result<int>> {
    const ports::HostTarget target{.address = "h0"};
    const ports::RemoteCommand command{.command = "write 50000000"};
    const ports::ByteSink sink = [](std::string_view) -> base::Status {
      return base::NotFound("no disk");
    };
    co_return co_await shell->Run(target, command, sink, sink);
  };
  EXPECT_EQ(base::RunTask(loop_, full(&Shell())).error().message, "no disk");
  EXPECT_TRUE(Until([&] { return hosts_.runs == 0; }));
}

TEST_F(SharedShellTest, WithoutAControllerOurOwnConnectionsServe) {
  EXPECT_EQ(Run({.command = "exit 4"})->result->value(), 4);
  StartController();
  EndController();  // what kill -9 leaves
  shell_.reset();
  EXPECT_EQ(Run({.command = "cat", .input = "still"})->out, "still");
  EXPECT_EQ(own_.logins, 2);
}

TEST_F(SharedShellTest, AControllerThatDoesNotAnswerIsAskedOnce) {
  times_.first_answer = std::chrono::milliseconds{50};
  const auto silent = controller::ListenAt(socket_);
  ASSERT_TRUE(silent.ok());
  std::vector<std::shared_ptr<SharedRun>> runs;
  for (int host = 0; host < 20; ++host) runs.push_back(Start({.command = "exit 4"}));
  for (const auto& run : runs) {
    ASSERT_TRUE(Until([&] { return run->ended; }));
    EXPECT_EQ(run->result->value(), 4);
  }
  EXPECT_EQ(own_.begun, 20);
  int asked = 0;
  while (base::UniqueFd(::accept(silent->get(), nullptr, nullptr))) ++asked;
  EXPECT_EQ(asked, 1);
}

/// One of another version refuses, and one that is none says something else.
TEST_F(SharedShellTest, AControllerOfAnotherVersionIsLeftAlone) {
  std::string refusal;
  controller::AppendFrame(refusal, controller::FrameType::kRefused, "the controller speaks 99");
  for (const std::string& answer : {refusal, std::string("HTTP/1.1 400\r\n\r\n"), std::string()}) {
    shell_.reset();
    const auto listener = controller::ListenAt(socket_);
    ASSERT_TRUE(listener.ok());
    const auto run = Start({.command = "exit 4"});
    base::UniqueFd peer;
    ASSERT_TRUE(Until([&] {
      peer = base::UniqueFd(::accept(listener->get(), nullptr, nullptr));
      return static_cast<bool>(peer);
    }));
    ASSERT_EQ(::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL), std::ssize(answer));
    peer.Reset();
    ASSERT_TRUE(Until([&] { return run->ended; })) << answer;
    EXPECT_EQ(run->result->value(), 4);
  }
  EXPECT_EQ(own_.begun, 3);
}

/// What only the first request has confirmed holds for the others until they are refused.
TEST_F(SharedShellTest, ALaterRequestThatIsTurnedAwayRunsOnOurOwn) {
  const auto listener = controller::ListenAt(socket_);
  ASSERT_TRUE(listener.ok());
  std::string whole;
  controller::AppendFrame(whole, controller::FrameType::kAccepted, {});
  controller::AppendFrame(whole, controller::FrameType::kConnected, {});
  controller::AppendFrame(whole, controller::FrameType::kEnded, "3");
  std::string refusal;
  controller::AppendFrame(refusal, controller::FrameType::kRefused, "there are too many");
  int own = 0;
  for (const std::string& answer : {whole, refusal, std::string()}) {
    const auto run = Start({.command = "exit 4"});
    base::UniqueFd peer;
    ASSERT_TRUE(Until([&] {
      peer = base::UniqueFd(::accept(listener->get(), nullptr, nullptr));
      return static_cast<bool>(peer);
    }));
    ASSERT_EQ(::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL), std::ssize(answer));
    if (answer != whole) peer.Reset();
    ASSERT_TRUE(Until([&] { return run->ended; })) << answer;
    ASSERT_TRUE(run->result->ok()) << run->result->error().ToString();
    EXPECT_EQ(run->result->value(), answer == whole ? 3 : 4);
    EXPECT_EQ(own_.begun, answer == whole ? own : ++own);
  }
}

TEST_F(SharedShellTest, WhatTheControllerCannotLogInToMayBeOurs) {
  StartController();
  hosts_.refuses = base::Error{
      .code = base::Code::kUnauthenticated, .message = "no", .reason = Reason::kHostAuth};
  EXPECT_EQ(Run({.command = "exit 4"})->result->value(), 4);
  EXPECT_EQ(own_.begun, 1);
  hosts_.refuses = base::Error{
      .code = base::Code::kUnavailable, .message = "nobody", .reason = Reason::kHostRefused};
  EXPECT_EQ(Run({.command = "exit 4"})->result->error(), *hosts_.refuses);
  EXPECT_EQ(own_.logins, 1) << "a host that is down is down for all";
}

TEST_F(SharedShellTest, WhatTheControllerHasNoDescriptorsForMayBeOurs) {
  StartController();
  hosts_.refuses = base::Error{.code = base::Code::kResourceExhausted, .message = "no file left"};
  EXPECT_EQ(Run({.command = "exit 4"})->result->value(), 4);
  EXPECT_EQ(own_.begun, 1);
  EXPECT_EQ(hosts_.begun, 0);
}

TEST_F(SharedShellTest, AnotherAgentMattersWhereItIsUsed) {
  StartController();
  ::setenv("SSH_AUTH_SOCK", "/nowhere/controller", 1);
  ports::HostTarget target{.address = "h0", .forward_agent = true};
  EXPECT_EQ(Run({.command = "exit 1"}, target)->result->value(), 1);
  EXPECT_EQ(hosts_.begun, 1) << "the same one";
  // Both sides are this process, so what differs is written by hand.
  controller::ShellRequest other{.target = target, .command = "exit 2", .agent = "/elsewhere"};
  const auto refused = [&](const controller::ShellRequest& request) {
    const auto socket = controller::ConnectTo(socket_);
    EXPECT_TRUE(socket.ok());
    std::string bytes;
    controller::AppendFrame(bytes, controller::FrameType::kRequest, controller::Encode(request));
    EXPECT_EQ(::send(socket->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
    std::string answer(16, '\0');
    EXPECT_TRUE(Until(
        [&] { return ::recv(socket->get(), answer.data(), answer.size(), MSG_DONTWAIT) > 0; }));
    return answer[4] == static_cast<char>(controller::FrameType::kRefused);
  };
  EXPECT_TRUE(refused(other));
  other.target.forward_agent = false;
  EXPECT_FALSE(refused(other));
  other.target.proxy_jump = "u@jump";
  EXPECT_TRUE(refused(other));
  ::unsetenv("SSH_AUTH_SOCK");
}

TEST_F(SharedShellTest, AControllerThatEndsBeforeTheLoginCostsNothing) {
  StartController();
  hosts_.answers = false;
  const auto run = Start({.command = "exit 4"});
  ASSERT_TRUE(Until([&] { return hosts_.logins == 1; }));
  EndController();
  ASSERT_TRUE(Until([&] { return run->ended; }));
  EXPECT_EQ(run->result->value(), 4);
  EXPECT_EQ(own_.begun, 1);
}

TEST_F(SharedShellTest, AControllerThatEndsLaterBreaksTheConnection) {
  StartController();
  const auto run = Start({.command = "hang"});
  ASSERT_TRUE(Until([&] { return hosts_.runs == 1; }));
  EndController();
  ASSERT_TRUE(Until([&] { return run->ended; }));
  ASSERT_FALSE(run->result->ok());
  EXPECT_EQ(run->result->error().reason, Reason::kConnectionBroke);
  EXPECT_THAT(run->result->error().ToString(),
              HasSubstr("while the command ran: the connection broke: the controller"));
  EXPECT_EQ(own_.logins, 0) << "a command never runs twice";
}

/// One that ends before it is told that the command may begin has begun nothing.
TEST_F(SharedShellTest, AControllerThatEndsRightBeforeTheCommandBeginsIsToldAsThat) {
  const auto listener = controller::ListenAt(socket_);
  ASSERT_TRUE(listener.ok());
  base::UniqueFd peer;
  const auto end = [&peer] { return CloseIt(&peer); };
  const auto run = Start({.command = "exit 4", .may_begin = end});
  LetIn(listener->get(), &peer);
  ASSERT_TRUE(Until([&] { return run->ended; }));
  ASSERT_FALSE(run->result->ok());
  EXPECT_EQ(run->result->error().reason, Reason::kHostTimeout) << "it may be tried again";
  EXPECT_THAT(run->result->error().ToString(),
              testing::AllOf(HasSubstr("before the command began"),
                             testing::Not(HasSubstr("while the command ran"))));
  EXPECT_THAT(run->result->error().hint, HasSubstr("repeat it"));
}

/// The next try needs all of the input.
TEST_F(SharedShellTest, AControllerThatEndsRightBeforeTheCommandBeginsHasTakenNoInput) {
  const auto listener = controller::ListenAt(socket_);
  ASSERT_TRUE(listener.ok());
  base::UniqueFd peer;
  const auto end = [&peer] { return CloseIt(&peer); };
  const auto pace = std::make_shared<test::SetPace>();
  const auto run = Start({.command = "cat", .pace = pace, .may_begin = end});
  LetIn(listener->get(), &peer);
  ASSERT_TRUE(Until([&] { return run->ended; }));
  EXPECT_EQ(run->result->error().reason, Reason::kHostTimeout);
  EXPECT_EQ(pace->asked, 0);
}

/// It says that it is alive every 15 s; to us, who look more often, it seems to hang.
TEST_F(SharedShellTest, AControllerThatHangsBreaksTheConnection) {
  times_.look = std::chrono::milliseconds{20};
  StartController();
  const auto run = Run({.command = "hang"});
  ASSERT_FALSE(run->result->ok());
  EXPECT_EQ(run->result->error().reason, Reason::kConnectionBroke);
  EXPECT_THAT(run->result->error().message, HasSubstr("does not answer"));
  EXPECT_TRUE(Until([&] { return hosts_.runs == 0; }));
  hosts_.answers = false;
  EXPECT_EQ(Run({.command = "exit 4"})->result->value(), 4) << "before the login: our own";
}

TEST_F(SharedShellTest, ManyHostsAtOnce) {
  StartController();
  std::vector<std::shared_ptr<SharedRun>> runs;
  constexpr int kMany = 200;
  for (int host = 0; host < kMany; ++host)
    runs.push_back(Start({.command = "exit " + std::to_string(host)},
                         {.address = "h" + std::to_string(host)}));
  for (int host = 0; host < kMany; ++host) {
    ASSERT_TRUE(Until([&] { return runs[static_cast<std::size_t>(host)]->ended; }));
    EXPECT_EQ(runs[static_cast<std::size_t>(host)]->result->value(), host);
  }
  EXPECT_EQ(hosts_.begun, kMany);
  EXPECT_EQ(own_.logins, 0);
}

}  // namespace
}  // namespace jobman::client

#include "jobman/ssh/host_shell.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "jobman/base/strings.hpp"
#include "tests/unit/ssh/host_shell_fixture.hpp"
#include "tests/unit/ssh/test_sshd.hpp"

namespace jobman::ssh {
namespace {

using base::Code;
using base::Reason;
using base::Result;
using base::Task;

TEST_F(HostShellTest, ReturnsOutputErrorsAndExitCode) {
  const TestSshd sshd;
  const Ran ran = Run(sshd.Target(), "echo out; echo err >&2; exit 7");
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(*ran.result, 7);
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "err\n");
}

TEST_F(HostShellTest, ASignalIs128AndItsNumber) {
  const TestSshd sshd;
  const Ran ran = Run(sshd.Target(), "kill -KILL $$");
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(*ran.result, 137);
}

TEST_F(HostShellTest, SendsInputAndItsEnd) {
  const TestSshd sshd;
  std::string input;
  for (int i = 0; i < 700000; ++i) input += std::to_string(i) + '\n';
  const Ran ran = Run(sshd.Target(), {.command = "cat", .input = input});
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(*ran.result, 0);
  EXPECT_TRUE(ran.out == input) << "got " << ran.out.size() << " of " << input.size();
}

/// Pieces of `size` bytes; `left` of them are to come.
ports::RemoteCommand InPieces(std::string command, std::size_t size, int* left) {
  ports::RemoteCommand piecewise{.command = std::move(command), .input = "first"};
  piecewise.next_input = [size, left]() -> Result<std::string> {
    if (*left == 0) return std::string();
    return std::string(size, static_cast<char>('a' + --*left % 26));
  };
  return piecewise;
}

TEST_F(HostShellTest, SendsInputPieceByPieceAsItIsTaken) {
  const TestSshd sshd;
  int left = 40;
  const Ran ran = Run(sshd.Target(), InPieces("cat", 256 << 10, &left));
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(left, 0);
  ASSERT_EQ(ran.out.size(), 5 + 40 * (256U << 10));
  EXPECT_EQ(ran.out.substr(0, 6), "firstn");
  EXPECT_EQ(ran.out.back(), 'a');
}

TEST_F(HostShellTest, PiecesAreNotReadBeforeTheHostTakesThem) {
  const TestSshd sshd;
  int left = 400;
  ports::RemoteCommand slow = InPieces("sleep 30", 256 << 10, &left);
  slow.silence = std::chrono::seconds{2};
  const Ran ran = Run(sshd.Target(), slow);
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().reason, Reason::kHostHangs);
  EXPECT_GT(left, 300) << "what the window of a channel holds was read, and no more";
}

TEST_F(HostShellTest, AnErrorOfTheInputEndsTheCall) {
  const TestSshd sshd;
  ports::RemoteCommand broken{.command = "cat"};
  broken.next_input = []() -> Result<std::string> { return base::NotFound("gone"); };
  const Ran ran = Run(sshd.Target(), broken);
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().message, "gone");
}

TEST_F(HostShellTest, ACommandMayLeaveItsInputUnread) {
  const TestSshd sshd;
  const Ran ran = Run(sshd.Target(), {.command = "exit 4", .input = std::string(3000000, 'x')});
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(*ran.result, 4);
}

TEST_F(HostShellTest, MovesAHundredMegabytes) {
  const TestSshd sshd;
  std::size_t size = 0;
  const auto task = [](ports::HostShell* on, ports::HostTarget target,
                       std::size_t* total) -> Task<Result<int>> {
    const ports::ByteSink out = [total](std::string_view bytes) {
      *total += bytes.size();
      return base::Ok();
    };
    const ports::RemoteCommand command{.command = "head -c 100000000 /dev/zero"};
    const ports::ByteSink none;
    co_return co_await on->Run(target, command, out, none);
  };
  const auto result = base::RunTask(loop, task(&shell, sshd.Target(), &size));
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(size, 100000000U);
}

TEST_F(HostShellTest, ACommandThatMayNotBeginIsNotSent) {
  const TestSshd sshd;
  int asked = 0;
  ports::RemoteCommand command{.command = "echo sent"};
  const auto refuse = [](bool connected) -> Task<base::Status> {
    co_await base::Yield();
    if (connected) co_return base::Error{.reason = Reason::kLeaseLost};
    co_return base::Ok();
  };
  command.may_begin = [&] {
    ++asked;
    return refuse(shell.sessions() == 1);
  };
  const Ran ran = Run(sshd.Target(), command);
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().reason, Reason::kLeaseLost);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(asked, 1);
}

TEST_F(HostShellTest, ASinkThatFailsEndsTheCall) {
  const TestSshd sshd;
  const auto task = [](ports::HostShell* on, ports::HostTarget target) -> Task<Result<int>> {
    const ports::ByteSink full = [](std::string_view) -> base::Status {
      return base::Error{
          .code = Code::kResourceExhausted, .message = "full", .reason = Reason::kDiskFull};
    };
    const ports::RemoteCommand command{.command = "yes"};
    co_return co_await on->Run(target, command, full, full);
  };
  const auto result = base::RunTask(loop, task(&shell, sshd.Target()));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().reason, Reason::kDiskFull);
}

TEST_F(HostShellTest, CommandsOnOneTargetShareAConnection) {
  const TestSshd sshd;
  std::vector<std::shared_ptr<Ran>> all;
  for (int i = 0; i < 8; ++i) all.push_back(Start(sshd.Target(), {.command = "echo $PPID"}));
  WaitForAll();
  for (const auto& ran : all) {
    ASSERT_TRUE(ran->result.ok()) << ran->result.error().ToString();
    EXPECT_EQ(ran->out, all.front()->out);
  }
  EXPECT_EQ(shell.sessions(), 1);
  EXPECT_EQ(Run(sshd.Target(), "echo $PPID").out, all.front()->out);
}

TEST_F(HostShellTest, MoreCommandsThanChannelsOpenMoreConnections) {
  const TestSshd sshd;
  const base::Path gate = sshd.folder() / "gate";
  const std::string wait = "until [ -e " + gate.string() + " ]; do sleep 0.05; done";
  std::vector<std::shared_ptr<Ran>> all;
  for (int i = 0; i < 20; ++i) all.push_back(Start(sshd.Target(), {.command = wait}));
  EXPECT_TRUE(TurnUntil([this] { return shell.sessions() == 3; }));
  std::ofstream(gate) << "";
  WaitForAll();
  for (const auto& ran : all) EXPECT_TRUE(ran->result.ok()) << ran->result.error().ToString();
  EXPECT_EQ(shell.sessions(), 3);
}

TEST_F(HostShellTest, SixtyFourAtOnce) {
  const TestSshd sshd;
  std::vector<std::shared_ptr<Ran>> all;
  for (int i = 0; i < 64; ++i) {
    auto target = sshd.Target();
    target.identity = "node-1/" + std::to_string(i);
    all.push_back(Start(
        target, {.command = "cat; exit " + std::to_string(i), .input = std::string(1000, 'x')}));
  }
  WaitForAll();
  for (int i = 0; i < 64; ++i) {
    const auto& ran = *all[static_cast<std::size_t>(i)];
    ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
    EXPECT_EQ(*ran.result, i);
    EXPECT_EQ(ran.out.size(), 1000U);
  }
}

TEST_F(HostShellTest, ReportsAWrongKey) {
  const TestSshd sshd;
  auto target = sshd.Target();
  target.private_key = sshd.folder() / "other_key";
  ASSERT_TRUE(EnsureKey(target.private_key).ok());
  const Ran ran = Run(target, "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, Code::kUnauthenticated);
  EXPECT_EQ(ran.result.error().reason, Reason::kHostAuth);
  EXPECT_TRUE(base::Contains(ran.result.error().message, "other_key"));
}

TEST_F(HostShellTest, ReportsARefusedPort) {
  const ports::HostTarget target{.address = "127.0.0.1", .port = UnusedPort("127.0.0.1")};
  const Ran ran = Run(target, "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, Code::kUnavailable);
  EXPECT_EQ(ran.result.error().reason, Reason::kHostRefused);
}

TEST_F(HostShellTest, AKeyIsPinnedAtFirstSightAndAChangeRefused) {
  TestSshd sshd;
  ASSERT_TRUE(Run(sshd.Target(), "true").result.ok());
  EXPECT_EQ(known.Find("node-1/0").value_or(""), sshd.HostKey());
  sshd.RestartWithNewHostKey();
  const Ran ran = Run(sshd.Target(), "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, Code::kPermissionDenied);
  EXPECT_EQ(ran.result.error().reason, Reason::kHostKeyChanged);
  auto other_machine = sshd.Target();
  other_machine.identity = "node-2/0";
  EXPECT_TRUE(Run(other_machine, "true").result.ok());
}

TEST_F(HostShellTest, APinnedKeyIsReadOncePerConnection) {
  const TestSshd sshd;
  ASSERT_TRUE(Run(sshd.Target(), "true").result.ok());
  SshHostShell another(loop.get_executor(), known);
  known.reads = 0;
  auto ran = std::make_shared<Ran>();
  loop.restart();
  base::Spawn(loop.get_executor(),
              RunInto(&another, sshd.Target(), ports::RemoteCommand{.command = "true"}, ran));
  ASSERT_TRUE(TurnUntil([&] { return ran->result.ok(); })) << ran->result.error().ToString();
  EXPECT_EQ(known.reads, 1);
}

/// Another program pins the key of another machine while this one exchanges keys.
TEST_F(HostShellTest, AKeyThatWasPinnedMeanwhileIsNotReplaced) {
  const TestSshd sshd;
  known.after_read = [this] { known.keys["node-1/0"] = "ssh-ed25519 of-another-machine"; };
  const Ran ran = Run(sshd.Target(), "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().reason, Reason::kHostKeyChanged);
  EXPECT_EQ(known.Find("node-1/0").value_or(""), "ssh-ed25519 of-another-machine");
}

TEST_F(HostShellTest, AStrictTargetIsNotTrustedAtFirstSight) {
  const TestSshd sshd;
  auto target = sshd.Target();
  target.strict = true;
  target.unvouched = "the node reported none";
  const Ran ran = Run(target, "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, Code::kFailedPrecondition);
  EXPECT_TRUE(base::Contains(ran.result.error().message,
                             "the node reported none; and ssh.host_keys is strict"))
      << ran.result.error().message;
  EXPECT_TRUE(base::Contains(ran.result.error().hint, "first-use"));
  EXPECT_FALSE(known.Find(target.identity));
  const std::string key = sshd.HostKey();
  target.vouched_keys = {{"ssh-ed25519", key.substr(key.find(' ') + 1)}};
  EXPECT_TRUE(Run(target, "true").result.ok());
  target.vouched_keys.clear();
  shell.Drop(target);
  EXPECT_TRUE(Run(target, "true").result.ok()) << "what was vouched for is pinned";
}

TEST_F(HostShellTest, WhoBringsNoVouchedKeysSharesTheConnectionOfWhoDid) {
  const TestSshd sshd;
  auto vouched = sshd.Target(), other_way = sshd.Target(), other_machine = sshd.Target();
  const std::string key = sshd.HostKey();
  vouched.vouched_keys = {{"ssh-ed25519", key.substr(key.find(' ') + 1)}};
  ASSERT_TRUE(Run(vouched, "true").result.ok());
  EXPECT_TRUE(Run(sshd.Target(), "true").result.ok());
  EXPECT_EQ(shell.sessions(), 1);
  other_way.proxy_command = "exit 1";
  EXPECT_FALSE(Run(other_way, "true").result.ok()) << "another way";
  other_machine.identity = "node-1/00";
  EXPECT_TRUE(Run(other_machine, "true").result.ok());
  EXPECT_EQ(shell.sessions(), 2);
  vouched.vouched_keys = {{"ssh-ed25519", "AAAAsomebodyelse"}};
  EXPECT_FALSE(Run(vouched, "true").result.ok()) << "the key is not the one that was checked";
}

TEST_F(HostShellTest, AConnectionThatNothingUsesIsClosedInTheEnd) {
  const TestSshd sshd;
  SshHostShell lasting(loop.get_executor(), known,
                       {.longest_idle = std::chrono::milliseconds{400}});
  const auto busy = std::make_shared<Ran>(), idle = std::make_shared<Ran>();
  auto other = sshd.Target();
  other.identity = "node-2/0";
  base::CancelScope scope;
  base::Spawn(loop.get_executor(), scope,
              RunInto(&lasting, other, {.command = "echo up; sleep 60"}, busy));
  ASSERT_TRUE(TurnUntil([&] { return busy->out == "up\n"; }));
  base::Spawn(loop.get_executor(), scope,
              RunInto(&lasting, sshd.Target(), {.command = "echo up"}, idle));
  ASSERT_TRUE(TurnUntil([&] { return idle->result.ok(); }));
  EXPECT_TRUE(TurnUntil([&] { return lasting.sessions() == 1; }));
  loop.restart();
  loop.run_for(std::chrono::seconds{1});
  EXPECT_EQ(lasting.sessions(), 1) << "what is used stays";
  scope.Cancel();
  loop.run_for(std::chrono::milliseconds{100});
}

TEST_F(HostShellTest, OfTooManyThatNothingUsesTheLastUsedStay) {
  const TestSshd sshd;
  SshHostShell lasting(loop.get_executor(), known,
                       {.longest_idle = std::chrono::seconds{2}, .most_idle = 1});
  for (const char* identity : {"node-1/0", "node-2/0", "node-3/0"}) {
    auto target = sshd.Target();
    target.identity = identity;
    const auto ran = std::make_shared<Ran>();
    base::RunTask(loop, RunInto(&lasting, target, {.command = "true"}, ran));
    EXPECT_TRUE(ran->result.ok());
  }
  EXPECT_TRUE(TurnUntil([&] { return lasting.sessions() == 1; }));
}

TEST_F(HostShellTest, OnlyANewHostMustWaitForVouchedKeys) {
  const TestSshd sshd;
  auto target = sshd.Target();
  target.first_sight = false;
  const Ran ran = Run(target, "true");
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, Code::kUnavailable);
  EXPECT_FALSE(known.Find(target.identity));
  known.keys[target.identity] = sshd.HostKey();
  EXPECT_TRUE(Run(target, "true").result.ok());
}

TEST_F(HostShellTest, VouchedKeysArePinnedAndOverrideOldPins) {
  const TestSshd sshd;
  auto target = sshd.Target();
  known.keys[target.identity] = "ssh-ed25519 of-the-machine-before";
  const std::string key = sshd.HostKey();
  target.vouched_keys = {{"ssh-ed25519", key.substr(key.find(' ') + 1)}, {"ssh-rsa", "AAAAx"}};
  EXPECT_TRUE(Run(target, "true").result.ok());
  EXPECT_EQ(known.Find("node-1/0").value_or(""), key);
}

TEST_F(HostShellTest, AHostWithoutAVouchedKeyIsRefused) {
  const TestSshd sshd;
  auto target = sshd.Target();
  target.vouched_keys = {{"ssh-ed25519", "AAAAsomebodyelse"}};
  EXPECT_EQ(Run(target, "true").result.error().reason, Reason::kHostKeyChanged);
  target.vouched_keys = {{"ecdsa-sha2-nistp256", "AAAAx"}};
  EXPECT_EQ(Run(target, "true").result.error().reason, Reason::kHostKeyChanged);
  EXPECT_FALSE(known.Find("node-1/0").has_value());
}

TEST_F(HostShellTest, AServerThatDiesDuringACallFailsIt) {
  TestSshd sshd;
  const auto ran = Start(sshd.Target(), {.command = "echo up; sleep 60"});
  while (ran->out.empty() && running > 0) loop.run_one();
  sshd.KillConnections();
  WaitForAll();
  ASSERT_FALSE(ran->result.ok());
  EXPECT_EQ(ran->result.error().code, Code::kUnavailable);
  EXPECT_EQ(ran->result.error().reason, Reason::kConnectionBroke);
  EXPECT_EQ(ran->out, "up\n");
  // The next call connects again.
  EXPECT_TRUE(Run(sshd.Target(), "true").result.ok());
}

TEST_F(HostShellTest, AnIdleConnectionThatDiedIsReplaced) {
  TestSshd sshd;
  ASSERT_TRUE(Run(sshd.Target(), "true").result.ok());
  sshd.KillConnections();
  const Ran ran = Run(sshd.Target(), "echo again");
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(ran.out, "again\n");
}

TEST_F(HostShellTest, ACommandIsAskedForOnEachConnectionWhetherItMayBegin) {
  TestSshd sshd;
  ASSERT_TRUE(Run(sshd.Target(), "true").result.ok());
  int asked = 0;
  ports::RemoteCommand command{.command = "echo begun"};
  const auto look = [](int times) -> Task<base::Status> {
    co_await base::Yield();
    if (times == 1) co_return base::Error{.code = Code::kUnavailable, .message = "not yet"};
    co_return base::Ok();
  };
  command.may_begin = [&] { return look(++asked); };
  const Ran ran = Run(sshd.Target(), command);
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(ran.out, "begun\n");
  EXPECT_EQ(asked, 2) << "of the connection that was there, and of the new one";
}

TEST_F(HostShellTest, WhatSaysWhetherACommandMayBeginIsLetGoOnceItHas) {
  const TestSshd sshd;
  const auto held = std::make_shared<int>(0);
  ports::RemoteCommand command{.command = "echo up; sleep 60"};
  command.may_begin = [held]() -> Task<base::Status> { co_return base::Ok(); };
  std::string printed;
  const auto task = [](ports::HostShell* on, ports::HostTarget target, ports::RemoteCommand what,
                       std::string* text) -> Task<void> {
    const ports::ByteSink out = [text](std::string_view bytes) -> base::Status {
      text->append(bytes);
      return base::Ok();
    };
    auto run = on->Run(target, std::move(what), out, {});
    const auto ended = co_await std::move(run);
    static_cast<void>(ended);
  };
  const base::CancelScope scope;
  base::Spawn(loop.get_executor(), scope,
              task(&shell, sshd.Target(), std::move(command), &printed));
  EXPECT_TRUE(TurnUntil([&] { return !printed.empty(); }));
  EXPECT_EQ(held.use_count(), 1) << "the command runs";
}

TEST_F(HostShellTest, ABrokenIdleConnectionIsClosedAtOnce) {
  TestSshd sshd;
  const int before = OpenFiles();
  ASSERT_TRUE(Run(sshd.Target(), "true").result.ok());
  EXPECT_GT(OpenFiles(), before);
  sshd.KillConnections();
  EXPECT_TRUE(TurnUntil([this] { return shell.sessions() == 0; }));
  EXPECT_EQ(OpenFiles(), before);
}

TEST_F(HostShellTest, AConnectionThatBreaksDuringCommandsIsClosed) {
  TestSshd sshd;
  const int before = OpenFiles();
  std::vector<std::shared_ptr<Ran>> all;
  for (int i = 0; i < 10; ++i) all.push_back(Start(sshd.Target(), {.command = "sleep 60"}));
  ASSERT_TRUE(TurnUntil([this] { return shell.sessions() == 2; }));
  sshd.Kill();
  WaitForAll();
  for (const auto& ran : all) EXPECT_FALSE(ran->result.ok());
  EXPECT_TRUE(TurnUntil([this] { return shell.sessions() == 0; }));
  EXPECT_EQ(OpenFiles(), before);
}

/// Like a job whose slice is preempted repeatedly: new machines each time.
TEST_F(HostShellTest, LostMachinesLeakNothing) {
  TestSshd sshd;
  const int before = OpenFiles();
  for (int round = 0; round < 200; ++round) {
    auto target = sshd.Target();
    target.identity = "node-" + std::to_string(round) + "/0";
    ASSERT_TRUE(Run(target, "true").result.ok());
    if (round % 2 == 0) shell.Drop(target);
    if (round % 2 == 1) sshd.KillConnections();
    ASSERT_TRUE(TurnUntil([this] { return shell.sessions() == 0; }));
    ASSERT_EQ(OpenFiles(), before) << "after round " << round;
  }
}

TEST_F(HostShellTest, ARefusedConnectionLeaksNothing) {
  const int before = OpenFiles();
  EXPECT_FALSE(Run({.address = "127.0.0.1", .port = UnusedPort("127.0.0.1")}, "true").result.ok());
  EXPECT_EQ(shell.sessions(), 0);
  EXPECT_EQ(OpenFiles(), before);
}

TEST_F(HostShellTest, DropEndsAConnectionAttempt) {
  const TestSshd sshd;
  const int before = OpenFiles();
  const auto ran = Start(sshd.Target(), {.command = "true"});
  ASSERT_TRUE(TurnUntil([this] { return shell.sessions() == 1; })) << "it counts as a session";
  shell.Drop(sshd.Target());
  WaitForAll();
  EXPECT_FALSE(ran->result.ok());
  EXPECT_EQ(shell.sessions(), 0);
  EXPECT_EQ(OpenFiles(), before);
}

TEST_F(HostShellTest, DropEndsAllConnectionsToTheMachine) {
  const TestSshd sshd;
  auto vouched = sshd.Target(), other = sshd.Target();
  const std::string key = sshd.HostKey();
  vouched.vouched_keys = {{"ssh-ed25519", key.substr(key.find(' ') + 1)}};
  other.identity = "node-1/01";
  for (const auto& target : {sshd.Target(), vouched, other}) Run(target, "true");
  ASSERT_EQ(shell.sessions(), 3);
  shell.Drop(sshd.Target());
  EXPECT_TRUE(TurnUntil([this] { return shell.sessions() == 1; }));
  EXPECT_TRUE(Run(other, "true").result.ok()) << "another machine";
  EXPECT_EQ(shell.sessions(), 1);
}

TEST_F(HostShellTest, DropEndsRunningCalls) {
  const TestSshd sshd;
  const auto ran = Start(sshd.Target(), {.command = "echo up; sleep 60"});
  while (ran->out.empty() && running > 0) loop.run_one();
  shell.Drop(sshd.Target());
  WaitForAll();
  ASSERT_FALSE(ran->result.ok());
  EXPECT_EQ(ran->result.error().reason, Reason::kConnectionBroke);
  EXPECT_TRUE(TurnUntil([this] { return shell.sessions() == 0; }));
}

TEST_F(HostShellTest, CancellingFreesTheChannelAndEndsTheCommand) {
  const TestSshd sshd;
  const auto ran = std::make_shared<Ran>();
  bool cancelled = false;
  {
    const base::CancelScope scope;
    const ports::RemoteCommand command{.command = "echo $$; exec sleep 60"};
    base::Spawn(loop.get_executor(), scope, RunInto(&shell, sshd.Target(), command, ran),
                [&cancelled](bool was) { cancelled = was; });
    ASSERT_TRUE(TurnUntil([&ran] { return !ran->out.empty(); }));
  }
  ASSERT_TRUE(TurnUntil([&cancelled] { return cancelled; }));
  EXPECT_EQ(shell.sessions(), 1);
  // sshd forwards signals only for ordinary users (session.c: it needs privilege separation).
  if (geteuid() == 0) return;
  const std::string pid(base::Trim(ran->out));
  const Ran gone = Run(sshd.Target(), "for i in $(seq 100); do kill -0 " + pid +
                                          " 2>/dev/null || { echo gone; exit; }; sleep 0.02; done");
  EXPECT_EQ(gone.out, "gone\n");
}

TEST_F(HostShellTest, ACommandThatPassesItsLimitIsEnded) {
  const TestSshd sshd;
  const std::string file = (sshd.folder() / "ended").string();
  // It talks all the time, so it is not silent. That nobody reads any more must not end it before
  // the signal does.
  const std::string command = "trap '' PIPE; trap 'touch " + file +
                              "; exit' TERM; for i in $(seq 6000); do echo x; sleep 0.01; done";
  const Ran ran = Run(sshd.Target(), {.command = command, .limit = std::chrono::seconds{3}});
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(ran.result.error().reason, Reason::kHostHangs);
  EXPECT_TRUE(base::Contains(ran.result.error().message, "did not answer within 3s"))
      << ran.result.error().ToString();
  EXPECT_EQ(shell.sessions(), 1) << "the connection is good";
  EXPECT_EQ(Run(sshd.Target(), "echo next").out, "next\n");
  if (geteuid() == 0) GTEST_SKIP() << "sshd passes no signals on for root";
  EXPECT_TRUE(TurnUntil([&] { return access(file.c_str(), F_OK) == 0; }));
}

TEST_F(HostShellTest, ASignalReachesTheWholeGroupOfTheCommand) {
  if (geteuid() == 0) GTEST_SKIP() << "sshd passes no signals on for root";
  const TestSshd sshd;
  const auto signals = std::make_shared<ports::Signals>();
  const auto ran = Start(
      sshd.Target(), {.command = "sh -c 'sleep 60 & echo $!; wait'; echo on", .signals = signals});
  while (ran->out.empty() && running > 0) loop.run_one();
  const std::string child(base::Trim(ran->out));
  signals->Send("TERM");
  WaitForAll();
  ASSERT_TRUE(ran->result.ok()) << ran->result.error().ToString();
  EXPECT_EQ(*ran->result, 128 + SIGTERM);
  const Ran gone = Run(sshd.Target(), "for i in $(seq 100); do kill -0 " + child +
                                          " 2>/dev/null || { echo gone; exit; }; sleep 0.02; done");
  EXPECT_EQ(gone.out, "gone\n");
}

TEST_F(HostShellTest, WhatACommandLeavesBehindDoesNotHoldUpTheCall) {
  const TestSshd sshd;
  // It keeps both streams open, and is not silent.
  const std::string command =
      "(for i in $(seq 6000); do echo noise >&2; sleep 0.01; done) & echo x";
  const Ran ran = Run(sshd.Target(), {.command = command,
                                      .limit = std::chrono::seconds{60},
                                      .linger = std::chrono::milliseconds{100}});
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
  EXPECT_EQ(*ran.result, 0);
  EXPECT_EQ(ran.out, "x\n");
  EXPECT_EQ(shell.sessions(), 1) << "the connection is good";
}

TEST_F(HostShellTest, ACommandThatFallsSilentIsEnded) {
  const TestSshd sshd;
  const Ran ran =
      Run(sshd.Target(), {.command = "echo hello; sleep 1000", .silence = std::chrono::seconds{6}});
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().reason, Reason::kHostHangs);
  EXPECT_EQ(ran.out, "hello\n");
}

TEST_F(HostShellTest, ACommandThatIsNotSilentForLongMayTakeItsTime) {
  const TestSshd sshd;
  const Ran ran = Run(sshd.Target(), {.command = "for i in $(seq 8); do sleep 1; echo $i; done",
                                      .silence = std::chrono::seconds{7}});
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().ToString();
}

}  // namespace
}  // namespace jobman::ssh

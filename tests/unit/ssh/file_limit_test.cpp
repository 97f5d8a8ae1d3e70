#include "jobman/ssh/file_limit.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <limits>
#include <memory>

#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "ssh/session.hpp"
#include "tests/unit/ssh/host_shell_fixture.hpp"

namespace jobman::ssh {
namespace {

/// The soft limit of open files is another one while this lives.
class WithFileLimit {
 public:
  explicit WithFileLimit(rlim_t limit) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now = {limit, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  ~WithFileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  WithFileLimit(const WithFileLimit&) = delete;
  WithFileLimit& operator=(const WithFileLimit&) = delete;

 private:
  rlimit before_ = {};
};

TEST(FileLimit, SaysHowManyHostsFit) {
  EXPECT_EQ(HostsWithin(4096), (4096 - 64) / 3);
  EXPECT_EQ(HostsWithin(1024), 320);
  EXPECT_EQ(HostsWithin(256), 64);
  EXPECT_GE(HostsWithin(3 * 1024 + 64), 1024);
  EXPECT_LT(HostsWithin(3 * 1024 + 63), 1024);
}

TEST(FileLimit, OfALowLimitHalfIsForHosts) {
  EXPECT_EQ(HostsWithin(128), 21);
  EXPECT_EQ(HostsWithin(64), 10);
  EXPECT_EQ(HostsWithin(20), 3);
}

TEST(FileLimit, OneHostIsAlwaysTried) {
  for (const std::int64_t limit : {-1, 0, 3, 6}) EXPECT_EQ(HostsWithin(limit), 1) << limit;
}

TEST(FileLimit, NoLimitIsNotOverrun) {
  EXPECT_GT(HostsWithin(std::numeric_limits<std::int64_t>::max()), 100'000'000);
}

TEST(FileLimit, IsThatOfTheProcessAndCanBeRaised) {
  const WithFileLimit low(256);
  EXPECT_EQ(FileLimit(), 256);
  EXPECT_EQ(HostsAtOnce(), 64);
  EXPECT_EQ(HostsAtOnce(32), 32);
  EXPECT_EQ(HostsAtOnce(1000), 64);
  const std::int64_t raised = RaiseFileLimit();
  EXPECT_EQ(FileLimit(), raised);
  EXPECT_GE(FileLimit(), 256);
}

/// However many are missing: who asked may have some.
TEST_F(HostShellTest, WithoutFreeDescriptorsTheErrorSaysSo) {
  const TestSshd sshd;
  // The loop and libssh have then what they keep.
  ASSERT_TRUE(Run(sshd.Target(), "true").result.ok());
  shell.Drop(sshd.Target());
  const int next = base::UniqueFd(::dup(0)).get();
  Ran ran;
  int refused = 0;
  for (int free = 0; free < 16 && !ran.result.ok(); ++free) {
    {
      // Within it nothing is expected: to say what failed, sanitizers need a descriptor.
      const WithFileLimit low(static_cast<rlim_t>(next + free));
      ran = Run(sshd.Target(), "true");
    }
    if (ran.result.ok()) continue;
    ++refused;
    EXPECT_EQ(ran.result.error().code, base::Code::kResourceExhausted)
        << free << ": " << ran.result.error().ToString();
  }
  EXPECT_TRUE(ran.result.ok());
  EXPECT_GE(refused, 2) << "a socket, and its duplicate";
}

/// Whatever else keeps the loop from watching a socket is not the limit of open files.
TEST(FileLimit, ASocketThatCannotBeWatchedHasItsOwnError) {
  asio::io_context loop;
  const auto session = std::make_shared<Session>(loop.get_executor(), "h0:22", base::UniqueFd(),
                                                 Counted(std::make_shared<int>(0)));
  EXPECT_FALSE(session->alive());
  const base::Error error = session->BrokenError();
  EXPECT_NE(error.code, base::Code::kResourceExhausted);
  EXPECT_TRUE(base::Contains(error.message, "bad file descriptor")) << error.ToString();
}

/// Targets of several hosts on one server.
ports::HostTarget NumberedTarget(const TestSshd& sshd, int number) {
  auto target = sshd.Target();
  target.identity = "node-1/" + std::to_string(number);
  return target;
}

TEST_F(HostShellTest, AnIdleConnectionMakesRoomForAnotherHost) {
  const TestSshd sshd;
  SshHostShell narrow(loop.get_executor(), known, {.most_connections = 2});
  for (int host = 0; host < 5; ++host) {
    const auto ran = std::make_shared<Ran>();
    const ports::RemoteCommand command{.command = "echo here"};
    loop.restart();
    base::RunTask(loop, RunInto(&narrow, NumberedTarget(sshd, host), command, ran));
    ASSERT_TRUE(ran->result.ok()) << ran->result.error().ToString();
    EXPECT_EQ(ran->out, "here\n");
    EXPECT_LE(narrow.sessions(), 2);
  }
}

TEST_F(HostShellTest, WithoutAnIdleConnectionTheLimitIsNamed) {
  const TestSshd sshd;
  SshHostShell narrow(loop.get_executor(), known, {.most_connections = 1});
  const auto busy = std::make_shared<Ran>();
  const auto late = std::make_shared<Ran>();
  const ports::RemoteCommand waits{.command = "echo up; sleep 60"};
  const ports::RemoteCommand other{.command = "true"};
  base::CancelScope scope;
  int left = 2;
  const auto end = [&left](bool /*cancelled*/) { --left; };
  base::Spawn(loop.get_executor(), scope, RunInto(&narrow, NumberedTarget(sshd, 0), waits, busy),
              end);
  ASSERT_TRUE(TurnUntil([&] { return busy->out == "up\n"; }));
  base::Spawn(loop.get_executor(), scope, RunInto(&narrow, NumberedTarget(sshd, 1), other, late),
              end);
  ASSERT_TRUE(TurnUntil([&] { return left == 1; }));
  scope.Cancel();
  EXPECT_TRUE(TurnUntil([&] { return left == 0; }));
  ASSERT_FALSE(late->result.ok());
  EXPECT_EQ(late->result.error().code, base::Code::kResourceExhausted);
  EXPECT_TRUE(base::Contains(late->result.error().message, "limit of open files"));
  EXPECT_FALSE(late->result.error().hint.empty());
}

}  // namespace
}  // namespace jobman::ssh

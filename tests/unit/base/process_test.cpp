#include "jobman/base/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <utility>

#include "jobman/base/files.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::base {
namespace {

using std::chrono::milliseconds;

TEST(CoreDumps, AreForbiddenForThisProcessAlone) {
  const pid_t child = ::fork();
  if (child == 0) {
    ForbidCoreDumps();
    ::_exit(::prctl(PR_GET_DUMPABLE) == 0 ? 7 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE), 1);
}

class RunProcessTest : public ::testing::Test {
 protected:
  Result<ProcessResult> Run(std::vector<std::string> argv, std::string input = {}) {
    return RunTask(loop_, RunProcess(std::move(argv), std::move(input)));
  }
  Result<ProcessResult> Sh(std::string script, std::string input = {}) {
    return Run({"/bin/sh", "-c", std::move(script)}, std::move(input));
  }
  asio::io_context loop_;
};

TEST_F(RunProcessTest, KeepsOutputErrorsAndExitCodeApart) {
  const auto result = Sh("echo out; echo err >&2; exit 7");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_EQ(result->exit_code, 7);
}

TEST_F(RunProcessTest, KeepsTheBeginningOfOutputThatIsTooLong) {
  const auto result = Sh("head -c 80000000 /dev/zero; echo end >&2");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out.size(), kMostOutput);
  EXPECT_EQ(result->err, "end\n");
}

TEST_F(RunProcessTest, OutputWithoutAnEndStopsNothingElse) {
  const auto result = RunTask(loop_, WithTimeout(RunProcess({"cat", "/dev/zero"}),
                                                 milliseconds{200}, "the endless command"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::kDeadlineExceeded);
}

TEST_F(RunProcessTest, PassesLargeInputAndOutputByteForByte) {
  std::string bytes(3'000'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 >> 3);
  const auto result = Run({"cat"}, bytes);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, bytes);
}

TEST_F(RunProcessTest, SurvivesAProgramThatDoesNotReadItsInput) {
  const auto result = Run({"true"}, std::string(1'000'000, 'x'));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_code, 0);
}

TEST_F(RunProcessTest, MissingInputIsEmpty) {
  const auto result = Run({"cat"});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "");
}

TEST_F(RunProcessTest, SignalIs128AndItsNumber) {
  EXPECT_EQ(Sh("kill -TERM $$")->exit_code, 128 + SIGTERM);
}

TEST_F(RunProcessTest, UnknownProgramIsNotFoundAndNamed) {
  const auto result = Run({"no-such-program-of-jobman", "x"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::kNotFound);
  EXPECT_EQ(result.error().message, "running no-such-program-of-jobman: No such file or directory");
  EXPECT_EQ(Run({}).error().code, Code::kInvalidArgument);
}

TEST_F(RunProcessTest, ArgumentsReachTheProgramUnchanged) {
  const auto result = Run({"printf", "%s|", "a b", "", "$HOME", "*"});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "a b||$HOME|*|");
}

TEST_F(RunProcessTest, BackgroundChildrenAreNotWaitedFor) {
  const auto result = Sh("sleep 600 & echo $!");
  ASSERT_TRUE(result.ok());
  const auto pid = ParseNumber(Trim(result->out));
  ASSERT_TRUE(pid);
  EXPECT_EQ(::kill(static_cast<pid_t>(*pid), SIGKILL), 0) << "it still ran";
}

TEST_F(RunProcessTest, LeaksNoDescriptorAndNoChild) {
  ASSERT_TRUE(Sh("true").ok());
  const int before = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(before);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Sh("echo x").ok());
  const int after = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(after);
  EXPECT_EQ(before, after);
}

TEST_F(RunProcessTest, TheProgramGetsOnlyItsStandardDescriptors) {
  const UniqueFd inheritable(::open("/dev/null", O_RDONLY));
  ASSERT_GT(inheritable.get(), 2);
  const auto result = Sh("ls /proc/$$/fd");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "0\n1\n2\n");
}

int ExitCodeOf(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) return -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(StartProcess, ReadsAndWritesNothingByDefault) {
  const auto pid = StartProcess({"/bin/sh", "-c", "read line && exit 1; echo x && echo y >&2"});
  ASSERT_TRUE(pid.ok());
  EXPECT_EQ(ExitCodeOf(*pid), 0);
}

TEST(StartProcess, ResetsSignals) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const auto pid = StartProcess({"/bin/sh", "-c", "kill -PIPE $$"});
  ::signal(SIGPIPE, before);
  ASSERT_TRUE(pid.ok());
  EXPECT_EQ(ExitCodeOf(*pid), 128 + SIGPIPE);
}

TEST(KillGroup, EndsAChild) {
  const auto child = StartProcess({"sleep", "1000"}, {}, ProcessGroup::kOwn);
  ASSERT_TRUE(child.ok());
  KillGroup(*child);
  // Reaped already, unless it took its time to die.
  const pid_t reaped = ::waitpid(*child, nullptr, 0);
  EXPECT_TRUE(reaped == -1 || reaped == *child);
}

bool IsGone(pid_t pid) {
  // A zombie of another parent still has a pid; its state shows that it has ended.
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return !stat.ok() || Contains(*stat, ") Z ");
}

/// A process that traces another: until it ends, the parent of that one cannot reap it.
pid_t TracerOf(pid_t traced) {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t tracer = ::fork();
  if (tracer == 0) {
    const bool traces = ::ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) == 0;
    if (!traces || ::write(write_end.get(), "y", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  write_end.Reset();
  char answer = 0;
  if (::read(read_end.get(), &answer, 1) == 1) return tracer;
  ::waitpid(tracer, nullptr, 0);
  return -1;
}

TEST(KillGroup, WhatTakesLongToDieIsReapedByTheNextStart) {
  const auto child = StartProcess({"sleep", "1000"}, {}, ProcessGroup::kOwnSession);
  ASSERT_TRUE(child.ok());
  const pid_t tracer = TracerOf(*child);
  KillGroup(*child);
  if (tracer < 0) GTEST_SKIP() << "no process may be traced here";
  ::kill(tracer, SIGKILL);
  ::waitpid(tracer, nullptr, 0);
  EXPECT_EQ(::kill(*child, 0), 0) << "a zombie";
  const auto next = StartProcess({"true"});
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(ExitCodeOf(*next), 0);
  EXPECT_EQ(::waitpid(*child, nullptr, WNOHANG), -1) << "it is reaped";
}

/// Looks for ten seconds at most.
bool BecomesSo(const std::function<bool()>& is_so) {
  for (int turn = 0; turn < 5000 && !is_so(); ++turn) ::poll(nullptr, 0, 2);
  return is_so();
}

TEST(KillGroup, ReachesTheGroupOfASession) {
  const test::TempDir dir;
  const std::string script = "sleep 1000 & echo $! > " + (dir / "pid").string() + "; wait";
  const auto child = StartProcess({"/bin/sh", "-c", script}, {}, ProcessGroup::kOwnSession);
  ASSERT_TRUE(child.ok());
  const auto text = [&] { return ReadFile(dir / "pid").value_or(""); };
  EXPECT_TRUE(BecomesSo([&] { return text().ends_with('\n'); }));
  KillGroup(*child);
  const auto inner = ParseNumber(Trim(text()));
  ASSERT_TRUE(inner);
  EXPECT_TRUE(BecomesSo([&] { return IsGone(static_cast<pid_t>(*inner)); }));
}

TEST(MoveUp, LeavesTheStandardDescriptors) {
  const UniqueFd kept(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  ::close(STDIN_FILENO);
  UniqueFd low(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = low.get();
  const UniqueFd moved = MoveUp(std::move(low));
  const bool is_free = ::fcntl(STDIN_FILENO, F_GETFD) == -1;
  if (kept) ::dup2(kept.get(), STDIN_FILENO);
  EXPECT_EQ(number, STDIN_FILENO);
  EXPECT_TRUE(is_free);
  EXPECT_GT(moved.get(), 2);
  EXPECT_NE(::fcntl(moved.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_FALSE(MoveUp(UniqueFd()));
}

TEST(StartProcess, WritesToTheGivenDescriptor) {
  const test::TempDir dir;
  const UniqueFd out(::open((dir / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const auto pid = StartProcess({"/bin/sh", "-c", "echo out; echo err >&2"}, {.out = out.get()});
  ASSERT_TRUE(pid.ok());
  EXPECT_EQ(ExitCodeOf(*pid), 0);
  EXPECT_EQ(*ReadFile(dir / "out"), "out\n");
}

TEST(StartProcess, AMissingProgramIsAnError) {
  EXPECT_EQ(StartProcess({"no-such-program-of-jobman"}).error().code, Code::kNotFound);
  EXPECT_EQ(StartProcess({}).error().code, Code::kInvalidArgument);
}

TEST(StartDaemon, HasASessionOfItsOwnAndAppendsToItsLog) {
  const test::TempDir dir;
  // Field 6 of /proc/PID/stat is the session.
  const std::string script = "cut -d' ' -f6 /proc/$$/stat; echo err >&2";
  std::string expected;
  for (int i = 0; i < 2; ++i) {
    const auto pid = StartDaemon({"/bin/sh", "-c", script}, dir / "log");
    ASSERT_TRUE(pid.ok());
    EXPECT_EQ(ExitCodeOf(*pid), 0);
    expected += std::to_string(*pid) + "\nerr\n";
  }
  EXPECT_EQ(*ReadFile(dir / "log"), expected);
}

TEST(StartDaemon, ALogThatCannotBeOpenedIsNamed) {
  const auto pid = StartDaemon({"true"}, "/no/such/folder/log");
  EXPECT_EQ(pid.error().message, "opening /no/such/folder/log: No such file or directory");
}

class AwaitReadyTest : public ::testing::Test {
 protected:
  pid_t Start(const std::string& script) {
    return StartProcess({"/bin/sh", "-c", script}, {}, ProcessGroup::kOwn).value_or(-1);
  }
  Result<bool> Await(pid_t child, std::function<Result<bool>()> ready, Duration limit) {
    return RunTask(loop_, AwaitReady(child, std::move(ready), limit));
  }
  static void End(pid_t child) {
    ::kill(-child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  test::TempDir dir_;
  asio::io_context loop_;
};

TEST_F(AwaitReadyTest, EndsWhenTheChildIsReadyAndDoesNotBlockTheLoop) {
  int turns = 0;
  const auto count = [](int* turned) -> Task<void> {
    for (;;) {
      co_await Sleep(milliseconds{1});
      ++*turned;
    }
  };
  CancelScope scope;
  Spawn(loop_.get_executor(), scope, count(&turns));
  // Ready only after the loop has done other work: a blocking wait would never end.
  const std::string go = (dir_ / "go").string();
  const std::string up = (dir_ / "up").string();
  const pid_t child =
      Start("until [ -e " + go + " ]; do sleep 0.01; done; : >" + up + "; sleep 1000");
  const auto ready = [&]() -> Result<bool> {
    if (turns > 0) JM_TRY(WriteFileAtomic(go, ""));
    return FileSize(up).has_value();
  };
  EXPECT_EQ(Await(child, ready, std::chrono::seconds{30}).value_or(false), true);
  EXPECT_FALSE(HasEnded(child)) << "it goes on";
  End(child);
}

TEST_F(AwaitReadyTest, AChildThatEndsIsNotWaitedFor) {
  const auto never = []() -> Result<bool> { return false; };
  EXPECT_EQ(Await(Start("exit 3"), never, std::chrono::hours{1}).value_or(true), false);
}

TEST_F(AwaitReadyTest, AChildThatWasReadyBeforeItEndedIsReady) {
  const std::string up = (dir_ / "up").string();
  const auto ready = [&]() -> Result<bool> { return FileSize(up).has_value(); };
  EXPECT_EQ(Await(Start(": >" + up), ready, std::chrono::seconds{30}).value_or(false), true);
}

TEST_F(AwaitReadyTest, TheWaitIsBoundedAndTheChildLeftAlone) {
  const pid_t child = Start("sleep 1000");
  const auto never = []() -> Result<bool> { return false; };
  EXPECT_EQ(Await(child, never, milliseconds{20}).value_or(true), false);
  EXPECT_FALSE(HasEnded(child));
  End(child);
}

TEST_F(AwaitReadyTest, AnErrorEndsTheWait) {
  const pid_t child = Start("sleep 1000");
  const auto broken = []() -> Result<bool> { return Internal("the store is broken"); };
  EXPECT_EQ(Await(child, broken, std::chrono::hours{1}).error().message, "the store is broken");
  End(child);
}

Task<void> RunInto(std::vector<std::string> argv, std::optional<Result<ProcessResult>>* result) {
  *result = co_await RunProcess(std::move(argv));
}

/// Runs the loop until `path` has content.
std::string WaitForContent(asio::io_context& loop, const Path& path) {
  for (int turn = 0; turn < 5000; ++turn) {
    auto content = ReadFile(path);
    if (content.ok() && content->ends_with('\n')) return *content;
    loop.restart();
    loop.run_for(milliseconds{2});
  }
  return {};
}

TEST_F(RunProcessTest, CancellationKillsTheWholeGroup) {
  const test::TempDir dir;
  const std::string pids = (dir / "pids").string();
  const std::string script = "sleep 1000 & echo $$ $! > " + pids + "; wait";
  std::optional<Result<ProcessResult>> result;
  std::optional<bool> ended;
  CancelScope scope;
  Spawn(loop_.get_executor(), scope, RunInto({"/bin/sh", "-c", script}, &result),
        [&](bool cancelled) { ended = cancelled; });
  const auto words = Split(Trim(WaitForContent(loop_, dir / "pids")), ' ');
  ASSERT_EQ(words.size(), 2u);
  scope.Cancel();
  loop_.restart();
  loop_.run();
  EXPECT_EQ(ended, true);
  EXPECT_FALSE(result.has_value());
  for (const std::string& word : words) {
    const auto pid = static_cast<pid_t>(*ParseNumber(word));
    for (int turn = 0; turn < 1000 && !IsGone(pid); ++turn) {
      loop_.restart();
      RunTask(loop_, Sleep(milliseconds{2}));
    }
    EXPECT_TRUE(IsGone(pid)) << pid;
  }
}

TEST_F(RunProcessTest, TimeoutKillsTheProgram) {
  const auto result =
      RunTask(loop_, WithTimeout(RunProcess({"sleep", "1000"}), milliseconds{20}, "the hook"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "the hook: no answer within 20ms");
}

Task<Result<int>> TwoAtOnce() {
  using namespace asio::experimental::awaitable_operators;
  std::vector<std::string> first = {"/bin/sh", "-c", "echo 1"};
  std::vector<std::string> second = {"/bin/sh", "-c", "echo 2"};
  auto [one, two] = co_await (RunProcess(first) && RunProcess(second));
  const std::string both = one->out + two->out;
  co_return both == "1\n2\n" ? 2 : 0;
}

TEST_F(RunProcessTest, SeveralRunAtOnce) {
  EXPECT_EQ(*RunTask(loop_, TwoAtOnce()), 2);
}

}  // namespace
}  // namespace jobman::base

#include "jobman/base/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::base {
namespace {

using std::chrono::milliseconds;

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

TEST_F(RunProcessTest, NoInputIsAnEmptyOne) {
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

TEST_F(RunProcessTest, ArgumentsReachTheProgramAsTheyAre) {
  const auto result = Run({"printf", "%s|", "a b", "", "$HOME", "*"});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "a b||$HOME|*|");
}

TEST_F(RunProcessTest, BackgroundChildrenAreNotWaitedFor) {
  const auto result = Sh("sleep 600 & echo $!");
  ASSERT_TRUE(result.ok());
  const auto pid = ParseNumber(Trim(result->out));
  ASSERT_TRUE(pid);
  EXPECT_EQ(::kill(static_cast<pid_t>(*pid), SIGKILL), 0) << "it was still there";
}

TEST_F(RunProcessTest, LeavesNoDescriptorAndNoChildBehind) {
  ASSERT_TRUE(Sh("true").ok());
  const int before = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(before);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Sh("echo x").ok());
  const int after = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(after);
  EXPECT_EQ(before, after);
}

TEST_F(RunProcessTest, GivesTheProgramItsStandardDescriptorsOnly) {
  const UniqueFd inheritable(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto result = Sh("ls /proc/$$/fd");
  ASSERT_TRUE(result.ok());
  // ctest and shells may leave descriptors of their own open; ours must not show.
  for (const std::string& fd : Split(Trim(result->out), '\n')) {
    EXPECT_NE(fd, std::to_string(inheritable.get()));
  }
}

Task<void> RunInto(std::vector<std::string> argv, std::optional<Result<ProcessResult>>* result) {
  *result = co_await RunProcess(std::move(argv));
}

/// Turns the loop until `path` has content; each turn waits for the loop, not for a fixed time.
std::string WaitForContent(asio::io_context& loop, const Path& path) {
  for (int turn = 0; turn < 5000; ++turn) {
    auto content = ReadFile(path);
    if (content.ok() && content->ends_with('\n')) return *content;
    loop.restart();
    loop.run_for(milliseconds{2});
  }
  return {};
}

bool IsGone(pid_t pid) {
  // A zombie of another parent still has a number: its state says that it ended.
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return !stat.ok() || Contains(*stat, ") Z ");
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

#include "jobman/ssh/command_group.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/task.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::ssh {
namespace {

/// What is left of the pieces, and the group in them.
std::pair<std::string, CommandGroup> Taken(const std::vector<std::string>& pieces) {
  std::string rest;
  GroupReport report([&rest](std::string_view bytes) -> base::Status {
    rest += bytes;
    return base::Ok();
  });
  for (const std::string& piece : pieces) EXPECT_TRUE(report.Take(piece).ok());
  EXPECT_TRUE(report.Finish().ok());
  return {rest, report.group()};
}

TEST(GroupReport, IsTakenOutOfWhatTheCommandWrites) {
  const CommandGroup group{.leader = "12", .born = "345"};
  EXPECT_EQ(Taken({"jobman: group 12 345\nbad\n"}), std::pair(std::string("bad\n"), group));
  EXPECT_EQ(Taken({"rc says hi\njob", "man: gro", "up 12 345", "\nx"}),
            std::pair(std::string("rc says hi\nx"), group));
  EXPECT_EQ(Taken({"jobman: group 12 345\njobman: group 6 7\n"}),
            std::pair(std::string("jobman: group 6 7\n"), group))
      << "only the first is ours";
}

TEST(GroupReport, OtherTextStaysAsItIs) {
  const std::vector<std::string> texts = {"",
                                          "x",
                                          "x\ny",
                                          "jobman: gro",
                                          "jobman: group\n",
                                          "jobman: group x 1\n",
                                          "jobman: group 1 2 3\n",
                                          "x jobman: group 1 2\n",
                                          std::string(100'000, 'j')};
  for (const std::string& text : texts) {
    EXPECT_EQ(Taken({text}), std::pair(text, CommandGroup{}));
  }
  for (const char* leader : {"0", "1", "00", "01", "4294967297", "4194305"}) {
    const std::string report = std::string("jobman: group ") + leader + " 2\n";
    EXPECT_FALSE(Taken({report}).second.known()) << "kill may take it for everybody: " << leader;
  }
}

base::ProcessResult Sh(const std::string& line) {
  asio::io_context loop;
  auto ran = base::RunTask(loop, base::RunProcess({"setsid", "-w", "sh", "-c", line}, {}));
  EXPECT_TRUE(ran.ok());
  return std::move(*ran);
}

TEST(CommandGroup, TheLineStillRunsAsItDid) {
  const auto ran = Sh(ReportingLine("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(ran.exit_code, 7);
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_THAT(ran.err, testing::MatchesRegex("jobman: group [0-9]+ [0-9]+\nerr\n"));
}

/// Of a login shell that finds its programs in `path`.
base::ProcessResult As(const std::string& shell, const std::string& path, const std::string& line) {
  const test::TempDir home;  // fish writes there
  asio::io_context loop;
  auto ran = base::RunTask(
      loop, base::RunProcess({"env", "-i", "HOME=" + home.path().string(), "SHELL=" + shell,
                              "PATH=" + path, "/usr/bin/setsid", "-w", shell, "-c", line},
                             {}));
  EXPECT_TRUE(ran.ok());
  return std::move(*ran);
}

constexpr const char* kPrograms = "/usr/bin:/bin";

class LoginShells : public testing::TestWithParam<const char*> {};

TEST_P(LoginShells, SayItOnceAndRunTheLineAsItIs) {
  const std::string shell = GetParam();
  if (access(shell.c_str(), X_OK) != 0) GTEST_SKIP() << shell << " is not installed";
  const auto ran = As(shell, kPrograms, ReportingLine("echo out"));
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.err, testing::MatchesRegex("jobman: group [0-9]+ [0-9]+\n"));
  EXPECT_EQ(As(shell, kPrograms, ReportingLine("exit")).exit_code, 0) << "the status before it";
}

INSTANTIATE_TEST_SUITE_P(All, LoginShells,
                         testing::Values("/bin/bash", "/bin/sh", "/usr/bin/bash", "/usr/bin/zsh",
                                         "/usr/bin/fish", "/bin/tcsh", "/bin/ksh"));

TEST(CommandGroup, AUsualShellNeedsNoOtherProcess) {
  for (const std::string shell : {"/bin/sh", "/bin/bash"}) {
    const auto ran = As(shell, "/nowhere", ReportingLine("echo \"$#$jm_x$jm_g$jm_s\""));
    EXPECT_EQ(ran.out, "0\n") << "nothing of it is left";
    EXPECT_THAT(ran.err, testing::MatchesRegex("jobman: group [0-9]+ [0-9]+\n"));
  }
}

TEST(CommandGroup, WhatStartupFilesSetDoesNotMatter) {
  for (const std::string before : {"IFS=:", "set -u", "set -e", "unset IFS", "set -f -- a b c"}) {
    const auto ran = As("/bin/bash", kPrograms, before + "; " + ReportingLine("echo \"$#\""));
    EXPECT_EQ(ran.exit_code, 0) << before;
    EXPECT_EQ(ran.out, base::Contains(before, "a b c") ? "3\n" : "0\n") << before;
    EXPECT_THAT(ran.err, testing::MatchesRegex("jobman: group [0-9]+ [0-9]+\n")) << before;
  }
}

TEST(CommandGroup, AllOfItIsEnded) {
  const auto ran =
      Sh(ReportingLine("(sleep 600 & sleep 600 & exit) </dev/null >/dev/null 2>&1; sleep 0"));
  const CommandGroup group = Taken({ran.err}).second;
  ASSERT_TRUE(group.known());
  EXPECT_EQ(::kill(-std::stoi(group.leader), 0), 0) << "children go on";
  EXPECT_EQ(Sh(EndLine(group, "TERM", std::chrono::seconds{10})).exit_code, 0);
  EXPECT_NE(::kill(-std::stoi(group.leader), 0), 0);
}

/// A child that ignores TERM behind a leader that has ended; it dies with the test.
TEST(CommandGroup, WhatIsLeftOfItIsSaid) {
  const auto ran = Sh(ReportingLine(
      "(trap \"\" TERM; exec sleep 600) </dev/null >/dev/null 2>&1 & sleep 0.2; exit 0"));
  const CommandGroup group = Taken({ran.err}).second;
  ASSERT_TRUE(group.known());
  EXPECT_EQ(GroupEndOf(Sh(EndLine(group, "TERM", base::Duration{300})).exit_code), GroupEnd::kLeft);
  EXPECT_EQ(GroupEndOf(Sh(EndLine(group, "KILL", std::chrono::seconds{10})).exit_code),
            GroupEnd::kGone);
  EXPECT_EQ(GroupEndOf(Sh(EndLine(group, "KILL", base::Duration{0})).exit_code), GroupEnd::kGone);
}

/// What sudo started: kill fails as for a group that is gone.
TEST(CommandGroup, ProcessesOfAnotherUserAreNotTakenForGone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can run something as another user";
  const auto ran = Sh(ReportingLine("sleep 600 </dev/null >/dev/null 2>&1 & exit 0"));
  const CommandGroup group = Taken({ran.err}).second;
  ASSERT_TRUE(group.known());
  const std::string line = EndLine(group, "TERM", base::Duration{300});
  asio::io_context loop;
  const auto other = base::RunTask(
      loop, base::RunProcess({"setpriv", "--reuid=65534", "--clear-groups", "sh", "-c", line}, {}));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(GroupEndOf(other->exit_code), GroupEnd::kNotOurs);
  EXPECT_EQ(GroupEndOf(Sh(EndLine(group, "KILL", std::chrono::seconds{10})).exit_code),
            GroupEnd::kGone);
}

TEST(CommandGroup, AnEndThatIsNoneIsUnknown) {
  EXPECT_EQ(GroupEndOf(base::Error{.code = base::Code::kUnavailable}), GroupEnd::kUnknown);
  EXPECT_EQ(GroupEndOf(143), GroupEnd::kUnknown);
}

TEST(CommandGroup, AnotherProcessOfThatNumberIsLeftAlone) {
  const CommandGroup other{.leader = std::to_string(::getpid()), .born = "1"};
  EXPECT_EQ(Sh(EndLine(other, "KILL", base::Duration{0})).exit_code, 0);
}

}  // namespace
}  // namespace jobman::ssh

#include "jobman/base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::base {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

/// There is one log per process, so every test resets it.
class LogTest : public ::testing::Test {
 protected:
  ~LogTest() override { StartLog({}, LogLevel::kWarn, ""); }
  test::TempDir dir_;
};

TEST_F(LogTest, WritesLinesFromTheLevelUp) {
  StartLog(dir_ / "log", LogLevel::kInfo, "");
  Log(LogLevel::kDebug, "http", "hidden");
  Log(LogLevel::kInfo, "http", "GET {} took {} ms", "/nodes", 12);
  const std::string text = *ReadFile(dir_ / "log");
  EXPECT_THAT(text, MatchesRegex("[0-9-]+T[0-9:.]+Z I [0-9]+ http: GET /nodes took 12 ms\n"));
}

TEST_F(LogTest, TopicGoesDownToTrace) {
  StartLog(dir_ / "log", LogLevel::kError, "ssh, store");
  EXPECT_TRUE(LogEnabled(LogLevel::kTrace, "ssh"));
  EXPECT_TRUE(LogEnabled(LogLevel::kTrace, "store"));
  EXPECT_FALSE(LogEnabled(LogLevel::kWarn, "http"));
  EXPECT_TRUE(LogEnabled(LogLevel::kError, "http"));
}

TEST_F(LogTest, AllTopicsAtOnce) {
  StartLog(dir_ / "log", LogLevel::kError, "all");
  EXPECT_TRUE(LogEnabled(LogLevel::kTrace, "whatever"));
}

TEST_F(LogTest, BracesInALineAreText) {
  StartLog(dir_ / "log", LogLevel::kInfo, "");
  LogLine(LogLevel::kInfo, "http", "{\"a\": {}}");
  EXPECT_THAT(*ReadFile(dir_ / "log"), HasSubstr("http: {\"a\": {}}\n"));
}

TEST_F(LogTest, AMessageThatQuotesOthersIsOneLineAndControlsNothing) {
  StartLog(dir_ / "log", LogLevel::kInfo, "");
  Log(LogLevel::kInfo, "http", "{}",
      "a\x1b[2J\n2026-01-01 E 1 loop: forged\xc2\x9b\xff\xe2\x80\xae");
  EXPECT_THAT(*ReadFile(dir_ / "log"), HasSubstr("http: a?[2J 2026-01-01 E 1 loop: forged???\n"));
}

TEST_F(LogTest, FileIsForItsOwnerOnly) {
  StartLog(dir_ / "log", LogLevel::kInfo, "");
  const auto mode = std::filesystem::status(dir_ / "log").permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(LogTest, OldLinesMakeRoom) {
  StartLog(dir_ / "log", LogLevel::kInfo, "");
  const std::string megabyte(1 << 20, 'x');
  for (int line = 0; line < 40; ++line) LogLine(LogLevel::kInfo, "ssh", megabyte);
  Log(LogLevel::kInfo, "loop", "the last");
  EXPECT_THAT(*ReadFile(dir_ / "log"), HasSubstr("loop: the last\n"));
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(dir_.path())) {
    bytes += file.file_size();
    const auto mode = file.status().permissions();
    EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  EXPECT_LE(bytes, 34U << 20U);
}

TEST_F(LogTest, UnwritableFileFallsBackToStderrAndSaysSo) {
  ::testing::internal::CaptureStderr();
  StartLog(dir_ / "no/such/folder/log", LogLevel::kInfo, "");
  Log(LogLevel::kInfo, "loop", "still heard");
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("no/such/folder/log: logging to stderr"));
  EXPECT_THAT(text, HasSubstr("loop: still heard"));
}

TEST_F(LogTest, EmptyPathLeavesTheFileForStderr) {
  StartLog(dir_ / "log", LogLevel::kInfo, "");
  ::testing::internal::CaptureStderr();
  StartLog({}, LogLevel::kInfo, "");
  Log(LogLevel::kInfo, "loop", "elsewhere");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("elsewhere"));
  EXPECT_THAT(*ReadFile(dir_ / "log"), Not(HasSubstr("elsewhere")));
}

}  // namespace
}  // namespace jobman::base

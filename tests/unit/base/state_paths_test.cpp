#include "jobman/base/state_paths.hpp"

#include <gtest/gtest.h>

namespace jobman::base {
namespace {

TEST(StatePaths, LogsLieByJobAttemptStageAndHost) {
  const StatePaths paths{.home = "/s"};
  EXPECT_EQ(paths.LogPath(42, 2, "run", 3), "/s/jobs/000042/attempt-2/run/host-0003.log");
  EXPECT_EQ(paths.AttemptDir(42, 2), "/s/jobs/000042/attempt-2");
  EXPECT_EQ(paths.CodeFile(42, "abc"), "/s/jobs/000042/code/abc.tar.gz");
  EXPECT_EQ(paths.JobDir(1'234'567), "/s/jobs/1234567");
}

TEST(StatePaths, NamesOfAttemptsAndLogsAreReadBack) {
  const StatePaths paths{.home = "/s"};
  EXPECT_EQ(StatePaths::AttemptOfDir(paths.AttemptDir(42, 12).filename().string()), 12);
  EXPECT_EQ(StatePaths::HostOfLog(paths.LogPath(42, 2, "run", 1023).filename().string()), 1023);
  EXPECT_EQ(StatePaths::HostOfLog(paths.LogPath(42, 2, "run", 0).filename().string()), 0);
  for (const char* other : {"", "attempt-", "attempt-x", "attempt--1", "host-.log", "host-1"}) {
    EXPECT_EQ(StatePaths::AttemptOfDir(other), std::nullopt) << other;
    EXPECT_EQ(StatePaths::HostOfLog(other), std::nullopt) << other;
  }
}

TEST(SocketPathFits, UpTo107Bytes) {
  EXPECT_TRUE(SocketPathFits("/" + std::string(106, 'a')));
  EXPECT_FALSE(SocketPathFits("/" + std::string(107, 'a')));
}

}  // namespace
}  // namespace jobman::base

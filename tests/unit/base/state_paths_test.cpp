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

TEST(StatePaths, FilesOfTheOpenSshClientLieSideBySide) {
  const StatePaths paths{.home = "/s"};
  EXPECT_EQ(paths.SshConfig(), "/s/ssh_config");
  EXPECT_EQ(paths.SshKnownHosts(), "/s/ssh_known_hosts");
  EXPECT_EQ(paths.SshSeenHosts(), "/s/ssh_known_hosts.seen");
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

TEST(StatePaths, LogsOfTasksLieByQueueTaskAndRun) {
  const StatePaths paths{.home = "/s"};
  EXPECT_EQ(paths.TaskDir(3, "train"), "/s/queues/3/tasks/train");
  EXPECT_EQ(paths.TaskRunDir(3, "train", {.number = 1, .job = 42}),
            "/s/queues/3/tasks/train/run_001_job000042");
  EXPECT_EQ(paths.TaskLogPath(3, "train", {.number = 1000, .job = 1'234'567}, 2),
            "/s/queues/3/tasks/train/run_1000_job1234567/host-0002.log");
  EXPECT_EQ(paths.TaskDir(3, "../../x"), "/s/queues/3/tasks/%2e.%2f..%2fx");
}

TEST(StatePaths, NamesOfRunsOfTasksAreReadBack) {
  const StatePaths paths{.home = "/s"};
  for (const TaskRunName run :
       {TaskRunName{.number = 1, .job = 42}, TaskRunName{.number = 12345, .job = 12'345'678}}) {
    const std::string name = paths.TaskRunDir(1, "t", run).filename().string();
    EXPECT_EQ(StatePaths::TaskRunOfDir(name), run) << name;
  }
  for (const char* other :
       {"", "run_", "run_001", "run_1_job000042", "run_001_job42", "run_001_job000042x",
        "run_-01_job000042", "run__job", "attempt-1", "run_99999999999_job000042"}) {
    EXPECT_EQ(StatePaths::TaskRunOfDir(other), std::nullopt) << other;
  }
}

TEST(SocketPathFits, UpTo107Bytes) {
  EXPECT_TRUE(SocketPathFits("/" + std::string(106, 'a')));
  EXPECT_FALSE(SocketPathFits("/" + std::string(107, 'a')));
}

}  // namespace
}  // namespace jobman::base

#include "jobman/core/describe.hpp"

#include <gtest/gtest.h>

namespace jobman::core {
namespace {

std::string DescribeRun(HostRun run) {
  return Describe(HostReport{.attempt = 2, .stage = CommandStage{}, .run = std::move(run)});
}

TEST(Describe, OnlyARunThatHasEndedHasAnExitCode) {
  EXPECT_TRUE(DescribeRun({.host = 1, .phase = HostPhase::kExited, .exit_code = 3})
                  .ends_with("host 1 exited 3"));
  EXPECT_TRUE(DescribeRun({.host = 1, .phase = HostPhase::kRunning}).ends_with("host 1 running"));
  EXPECT_TRUE(DescribeRun({.host = 1, .phase = HostPhase::kLost, .settled = true})
                  .ends_with("host 1 lost, settled"));
}

}  // namespace
}  // namespace jobman::core

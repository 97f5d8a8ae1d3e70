#include "jobman/controller/times.hpp"

#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::controller {
namespace {

/// A limit from the head of the host script, in hundredths of a second.
base::Duration ScriptLimit(const std::string& name) {
  const std::string begin = name + "=";
  for (const std::string& line : base::Split(remote::HostScript(), '\n')) {
    if (!line.starts_with(begin)) continue;
    const std::string value = line.substr(begin.size(), line.find(' ') - begin.size());
    return std::chrono::milliseconds{10} * base::ParseNumber(value).value();
  }
  ADD_FAILURE() << "src/remote/host.sh has no limit " << name;
  return {};
}

/// A host must not be given up while its script carries out the stop.
TEST(StopMargin, IsLongerThanTheHostScriptNeedsBeyondTheGrace) {
  const base::Duration status =
      ScriptLimit("jm_pid_wait_cs");  // before the end of the run and after it
  const base::Duration kill = ScriptLimit("jm_kill_wait_cs") + ScriptLimit("jm_exit_wait_cs");
  EXPECT_GT(remote::kStopMargin, 2 * status + kill);
}

/// One sign of life may be late on a busy host.
TEST(HostScript, GivesSeveralSignsOfLifeBeforeAHostCountsAsHanging) {
  EXPECT_GT(remote::kLongestSilence, 4 * ScriptLimit("jm_beat_cs"));
}

TEST(HostScript, LeavesALauncherTimeForItsExitCode) {
  EXPECT_LT(ScriptLimit("jm_exit_wait_cs"), ScriptLimit("jm_kill_wait_cs"));
}

TEST(HostScript, HasTimeForSeveralHangingHoldersOfTheChips) {
  EXPECT_GT(ScriptLimit("jm_chips_wait_cs"), ScriptLimit("jm_kill_wait_cs"));
}

}  // namespace
}  // namespace jobman::controller

#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "jobman/remote/host_script.hpp"
#include "tests/unit/remote/local_host.hpp"

namespace jobman::remote {

using Kind = RunStatus::Kind;

/// The real script, with every available shell.
class HostScriptTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (access(GetParam().c_str(), X_OK) != 0) GTEST_SKIP() << GetParam() << " is not installed";
    ASSERT_EQ(host.Do(InstallCall()).exit_code, 0);
    SetLimit("jm_beat_cs", 100'000);  // what a call says when it takes long is tested by itself
  }
  /// Starts a run and waits until it runs; its follower continues.
  LocalHost::Running StartRunning(const RunOrder& order) {
    auto running = host.Start(*RunCall(order, 0));
    EXPECT_TRUE(
        Eventually([&] { return std::filesystem::exists(host.RunDir(order.run_id) / "pid"); }));
    EXPECT_TRUE(Eventually([&] { return host.StatusOf(order.run_id).kind == Kind::kRunning; }));
    return running;
  }
  pid_t PidIn(const std::string& file) {
    pid_t pid = 0;
    EXPECT_TRUE(Eventually([&] { return std::ifstream(host.home() / file) >> pid && pid > 0; }));
    return pid;
  }
  /// Changes a limit at the head of the installed script.
  void SetLimit(const std::string& name, int value) {
    const base::Path script = host.home() / ".jobman/bin" / HostScriptName();
    std::string text = Slurp(script);
    const auto at = text.find("\n" + name + "=") + 1;
    ASSERT_NE(at, std::string::npos + 1) << "no limit " << name;
    text.replace(at, text.find_first_of(" \n", at) - at, name + "=" + std::to_string(value));
    std::ofstream(script) << text;
  }
  LocalHost host{GetParam()};
};

inline auto EveryShell() {
  return testing::Values("/bin/sh", "/bin/bash", "/bin/busybox");
}
/// What hosts have as sh. What starts many processes is played in it alone: the cases of setup
/// steps, whose common case is played in every shell, and what the script does beside its runs.
inline auto HostsShell() {
  return testing::Values("/bin/sh");
}
inline std::string ShellName(const testing::TestParamInfo<std::string>& shell) {
  return shell.param.substr(5);
}

}  // namespace jobman::remote

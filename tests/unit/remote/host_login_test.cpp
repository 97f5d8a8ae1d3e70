// The command runs in a login shell, as after `ssh HOST`: the files of the home folder decide about
// PATH, and the job file about the variables it names.
#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

class HostLoginTest : public HostScriptTest {
 protected:
  void WriteProfile(const std::string& text) { std::ofstream(host.home() / ".profile") << text; }
};

INSTANTIATE_TEST_SUITE_P(Shells, HostLoginTest, EveryShell(), ShellName);

TEST_P(HostLoginTest, ProgramsOfTheProfileAreFound) {
  WriteProfile("PATH=$HOME/tools:$PATH\n");
  std::filesystem::create_directory(host.home() / "tools");
  std::ofstream(host.home() / "tools/train") << "#!/bin/sh\necho trained\n";
  std::filesystem::permissions(host.home() / "tools/train", std::filesystem::perms::owner_all);
  EXPECT_EQ(host.Run({.run_id = "r", .script = "train"}).out, "trained\n");
  EXPECT_EQ(host.Run({.run_id = "i", .script = "#!/usr/bin/env train\n"}).out, "trained\n");
}

TEST_P(HostLoginTest, TheJobsVariablesTakePrecedence) {
  WriteProfile("export A=profile B=profile TOKEN=profile\ncd /\n");
  const Ended ended = host.Run({.run_id = "r",
                                .script = "echo $A $B $TOKEN $#; pwd",
                                .env = {{"A", "job"}},
                                .secrets = {{"TOKEN", "secret"}}});
  EXPECT_EQ(ended.out, "job profile secret 0\n" + host.home().string() + "\n");
}

TEST_P(HostLoginTest, AProfileThatReadsItsInputTakesNothing) {
  WriteProfile("cat\nread -r line && echo \"$line\"\n");
  const Ended ended = host.Run({.run_id = "r", .script = "echo $A", .env = {{"A", "b"}}});
  EXPECT_EQ(ended.out, "b\n");
}

TEST_P(HostLoginTest, AProfileThatEndsTheShellIsAFailedRun) {
  WriteProfile("exit 0\n");
  const Ended ended = host.Run({.run_id = "r", .script = "echo ran"});
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 126\n");
  EXPECT_TRUE(base::Contains(ended.out, "ended the shell before the command began")) << ended.out;
}

TEST_P(HostLoginTest, AProfileThatDoesNotEndIsAFailedRun) {
  WriteProfile("trap '' TERM\nsleep 1000\nsleep 1000\n");
  host.env["JOBMAN_LOGIN_LIMIT_S"] = "1";
  const Ended ended = host.Run({.run_id = "r", .script = "echo ran"});
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 137\n");
  EXPECT_EQ(
      ended.out,
      "jobman: ~/.profile or the like took more than 1 s, and was stopped, before the command "
      "began\n");
}

TEST_P(HostLoginTest, WhatRunsAtALogoutDoesNotDecideTheExitCode) {
  std::ofstream(host.home() / ".bash_logout") << "echo bye; false\n";
  const Ended ended = host.Run({.run_id = "r", .script = "set -e\necho ran\nexit 0"});
  EXPECT_EQ(ended.out, "ran\n");
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 0\n");
}

TEST_P(HostLoginTest, BashHasAProfileOfItsOwn) {
  WriteProfile("export FROM=profile\n");
  std::ofstream(host.home() / ".bash_profile") << "export FROM=bash; false\n";
  const bool bash = std::filesystem::exists("/bin/bash");
  EXPECT_EQ(host.Run({.run_id = "r", .script = "echo $FROM"}).out, bash ? "bash\n" : "profile\n");
}

TEST_P(HostLoginTest, ManyVariablesArrive) {
  RunOrder order{.run_id = "r", .script = "echo ${#A1} ${#A2} ${#A3}"};
  for (const char* name : {"A1", "A2", "A3"}) order.env[name] = std::string(100'000, 'x');
  EXPECT_EQ(host.Run(order).out, "100000 100000 100000\n");
}

}  // namespace
}  // namespace jobman::remote

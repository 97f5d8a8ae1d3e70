#include "jobman/ssh/openssh.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "tests/unit/ssh/host_shell_fixture.hpp"

namespace jobman::ssh {
namespace {

TEST_F(HostShellTest, OpenSshLogsInWithThePinnedKeyOnly) {
  const TestSshd sshd;
  const base::Path file = sshd.folder() / "known hosts";
  ASSERT_FALSE(OpenSshArguments(sshd.Target(), known.Find("node-1/0"), file).ok())
      << "no key is known yet";
  ASSERT_TRUE(Run(sshd.Target(), "true").result.ok());
  auto words = OpenSshArguments(sshd.Target(), known.Find("node-1/0"), file);
  ASSERT_TRUE(words.ok()) << words.error().ToString();
  words->push_back("exit 9");
  EXPECT_EQ(RunProgram(*words), 9);
  known.keys["node-1/0"] =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIP//////////////////////////////////////////";
  words = OpenSshArguments(sshd.Target(), known.Find("node-1/0"), file);
  words->push_back("exit 9");
  EXPECT_EQ(RunProgram(*words), 255);
}

TEST(OpenSshArguments, KeepsTheKeysOfOtherMachines) {
  const TempDir dir;
  const base::Path file = dir.path / "known_hosts";
  for (const std::string identity : {"a/0", "a/1", "a/0"}) {
    const ports::HostTarget target{.address = "h",
                                   .user = "u",
                                   .identity = identity,
                                   .vouched_keys = {{"ssh-ed25519", "K" + identity}}};
    ASSERT_TRUE(OpenSshArguments(target, {}, file).ok());
  }
  EXPECT_EQ(base::ReadFile(file).value_or(""),
            "jobman-a-1 ssh-ed25519 Ka/1\njobman-a-0 ssh-ed25519 Ka/0\n");
}

TEST(OpenSshArguments, ForgetsTheOldestOfManyMachines) {
  const TempDir dir;
  const base::Path file = dir.path / "known_hosts";
  std::string old;
  for (int i = 0; i < 5000; ++i) old += "jobman-old-" + std::to_string(i) + " ssh-ed25519 K\n";
  ASSERT_TRUE(base::WriteFileAtomic(file, old).ok());
  const ports::HostTarget target{
      .address = "h", .user = "u", .identity = "a/0", .vouched_keys = {{"ssh-ed25519", "K"}}};
  ASSERT_TRUE(OpenSshArguments(target, {}, file).ok());
  const std::string text = base::ReadFile(file).value_or("");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1001);
  EXPECT_TRUE(text.starts_with("jobman-old-4000 ")) << text.substr(0, 40);
  EXPECT_TRUE(text.ends_with("\njobman-a-0 ssh-ed25519 K\n"));
}

}  // namespace
}  // namespace jobman::ssh

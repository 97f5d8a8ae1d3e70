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

TEST_F(HostShellTest, NoWordAfterTheAddressIsAnOptionOfOpenSsh) {
  const TestSshd sshd;
  ASSERT_TRUE(Run(sshd.Target(), "true").result.ok());
  auto words =
      OpenSshArguments(sshd.Target(), known.Find("node-1/0"), sshd.folder() / "known hosts");
  ASSERT_TRUE(words.ok()) << words.error().ToString();
  const base::Path mark = sshd.folder() / "ran here";
  words->push_back("-oProxyCommand=touch '" + mark.string() + "'");
  EXPECT_NE(RunProgram(*words), 0) << "the host has no such command";
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST(OpenSshArguments, RefusesWhatIsNoAddress) {
  const TempDir dir;
  for (const std::string address :
       {"-oProxyCommand=true", "", "$(reboot)", "a b", "h;reboot", "`x`", "a@b", "fe80::1%eth0"}) {
    const ports::HostTarget target{
        .address = address, .user = "u", .identity = "a/0", .vouched_keys = {{"ssh-ed25519", "K"}}};
    const auto words = OpenSshArguments(target, {}, dir.path / "known_hosts");
    ASSERT_FALSE(words.ok()) << address;
    EXPECT_EQ(words.error().code, base::Code::kInvalidArgument);
  }
}

TEST(OpenSshArguments, TheAgentIsForwardedIfTheJobSaysSo) {
  const TempDir dir;
  ports::HostTarget target{
      .address = "h", .user = "u", .identity = "a/0", .vouched_keys = {{"ssh-ed25519", "K"}}};
  const auto forwards = [&] {
    const auto words = OpenSshArguments(target, {}, dir.path / "known_hosts");
    return std::find(words->begin(), words->end(), "-A") != words->end();
  };
  EXPECT_FALSE(forwards());
  target.forward_agent = true;
  EXPECT_TRUE(forwards());
}

TEST(OpenSshArguments, AnIdentityIsOneWordOfOneLine) {
  const TempDir dir;
  const base::Path file = dir.path / "known_hosts";
  const ports::HostTarget target{.address = "h",
                                 .user = "u",
                                 .identity = "a x\njobman-b-0 y/0",
                                 .vouched_keys = {{"ssh-ed25519", "K"}}};
  ASSERT_TRUE(OpenSshArguments(target, {}, file).ok());
  EXPECT_EQ(base::ReadFile(file).value_or(""), "jobman-a-x-jobman-b-0-y-0 ssh-ed25519 K\n");
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

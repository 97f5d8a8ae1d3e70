#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "sim/command/sim_file.hpp"
#include "sim/hosts/host_disk.hpp"
#include "sim/hosts/host_key.hpp"

namespace jobman::sim {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class HostDiskTest : public testing::Test {
 protected:
  HostDiskTest() : root(testing::TempDir() + "host_disk_test") {
    (void)base::RemoveAll(root).ok();
    disk.emplace(
        HostDisk::Layout{.root = root, .etc = "/in/etc", .state = "/in/state", .port = 2022});
  }
  ~HostDiskTest() override { (void)base::RemoveAll(root).ok(); }
  std::string Read(const base::Path& path) { return base::ReadFile(path).value_or("(absent)"); }

  const HostPlan plan{.name = "h",
                      .internal_ip = "127.16.0.1",
                      .external_ip = "127.128.0.1",
                      .metadata = {{"ssh-keys", "me:ssh-ed25519 AAAA me\nyou:ssh-rsa BBBB\n"}}};
  base::Path root;
  std::optional<HostDisk> disk;
};

TEST_F(HostDiskTest, AcceptsTheUsersOfTheMetadata) {
  ASSERT_TRUE(disk->Create(MakeHostKey("h")).ok());
  ASSERT_TRUE(disk->PrepareBoot(plan).ok());
  EXPECT_EQ(Read(root / "etc/keys/me"), "ssh-ed25519 AAAA me\n");
  EXPECT_THAT(Read(root / "etc/passwd"), HasSubstr("you:x:1000:1000::/home/you:"));
  EXPECT_THAT(Read(root / "etc/sshd_config"), HasSubstr("ListenAddress 127.128.0.1\n"));
}

TEST_F(HostDiskTest, ABootHasANewIdAndAnEmptyTmpAndTheOldHome) {
  ASSERT_TRUE(disk->Create(MakeHostKey("h")).ok());
  ASSERT_TRUE(disk->PrepareBoot(plan).ok());
  const std::string first = Read(root / "etc/boot_id");
  EXPECT_THAT(first, SizeIs(37));
  std::ofstream(root / "tmp/scratch") << "x";
  std::ofstream(root / "homes/me/kept") << "x";
  ASSERT_TRUE(disk->PrepareBoot(plan).ok());
  EXPECT_NE(Read(root / "etc/boot_id"), first);
  EXPECT_EQ(Read(root / "tmp/scratch"), "(absent)");
  EXPECT_EQ(Read(root / "homes/me/kept"), "x");
}

TEST(LoginsOf, ReadsKeysByUserAndRefusesPaths) {
  const auto logins = LoginsOf({{"ssh-keys", "a:k1\nb:k2\na:k3\n../x:k4\n:k5\nnonsense\n"}});
  ASSERT_THAT(logins, SizeIs(2));
  EXPECT_EQ(logins[0].keys, "k1\nk3\n");
}

TEST(MakeHostKey, IsAnOpensshKey) {
  const HostKey key = MakeHostKey("h");
  EXPECT_THAT(key.public_base64, testing::StartsWith("AAAAC3NzaC1lZDI1NTE5AAAAI"));
  EXPECT_THAT(key.private_file, testing::StartsWith("-----BEGIN OPENSSH PRIVATE KEY-----\n"));
  EXPECT_NE(MakeHostKey("h").public_base64, key.public_base64);
}

TEST(SimFile, RoundTripsAndRefusesInvalidText) {
  const base::Path dir = testing::TempDir() + "sim_file_test";
  ASSERT_TRUE(base::EnsureDir(dir).ok());
  ASSERT_TRUE(WriteSimFile(dir, {.pid = 7, .endpoint = "http://127.0.0.1:1", .ssh_port = 2}).ok());
  EXPECT_EQ(ReadSimFile(dir)->endpoint, "http://127.0.0.1:1");
  std::ofstream(SimFilePath(dir)) << "{";
  EXPECT_FALSE(ReadSimFile(dir).ok());
  (void)base::RemoveAll(dir).ok();
}

TEST_F(HostDiskTest, AHangEndsWithABoot) {
  ASSERT_TRUE(disk->Create(MakeHostKey("h")).ok());
  ASSERT_TRUE(disk->PrepareBoot(plan).ok());
  const base::Path shell = root / "etc" / LoginShell().filename();
  EXPECT_EQ(std::filesystem::read_symlink(shell), LoginShell());
  ASSERT_TRUE(disk->SetHung(true).ok());
  EXPECT_EQ(Read(shell), "#!/bin/sh /in/etc/wait\n");
  EXPECT_THAT(Read(root / "etc/wait"), HasSubstr("while [ -e /in/etc/hang ]"));
  EXPECT_EQ(Read(root / "etc/hang"), "") << "silent";
  ASSERT_TRUE(disk->SetHung(true, true).ok());
  EXPECT_NE(Read(root / "etc/hang"), "") << "prints";
  ASSERT_TRUE(disk->SetHung(false).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(shell));
  ASSERT_TRUE(disk->SetHung(true).ok());
  ASSERT_TRUE(WriteInPlace(root / "etc/full", "x").ok());
  ASSERT_TRUE(disk->PrepareBoot(plan).ok());
  EXPECT_EQ(Read(root / "etc/hang"), "(absent)");
  EXPECT_TRUE(std::filesystem::is_symlink(shell));
  EXPECT_EQ(Read(root / "etc/full"), "(absent)") << "a full disk is a fault, which a boot ends";
}

}  // namespace
}  // namespace jobman::sim

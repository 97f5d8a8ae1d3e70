#include "store/file_system.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>

namespace jobman::store {
namespace {

TEST(FileSystem, NetworkAndClusterFileSystemsAreShared) {
  for (const std::uint64_t magic :
       {0x6969UL, 0x0BD00BD0UL, 0x47504653UL, 0x65735546UL, 0x517BUL, 0xFF534D42UL, 0xFE534D42UL})
    EXPECT_TRUE(IsShared(magic)) << std::hex << magic;
}

TEST(FileSystem, DiskFileSystemsAreLocal) {
  for (const std::int64_t magic :
       std::initializer_list<std::int64_t>{EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
                                           OVERLAYFS_SUPER_MAGIC, XFS_SUPER_MAGIC})
    EXPECT_FALSE(IsShared(static_cast<std::uint64_t>(magic))) << std::hex << magic;
}

TEST(FileSystem, AFolderThatCannotBeAskedAboutCountsAsLocal) {
  EXPECT_FALSE(IsOnSharedFileSystem("/nonexistent/folder"));
}

constexpr const char* kMounts =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "90 22 0:50 / /home rw,nosuid shared:2 master:1 - nfs4 nas:/home rw,vers=4.2,local_lock=none\n"
    "91 22 0:51 / /old rw - nfs nas:/old rw,vers=3,nolock,local_lock=all,addr=10.0.0.1\n"
    "92 22 0:52 / /lustre rw,flock - lustre mds@tcp:/l rw,localflock\n"
    "93 22 0:53 / /mnt/a\\040b rw - fuse.sshfs me@host: rw,user_id=0\n"
    "broken line\n";

TEST(FileSystem, AMountIsFoundByItsDevice) {
  EXPECT_EQ(FindMount(kMounts, "0:50").type, "nfs4");
  EXPECT_EQ(FindMount(kMounts, "0:50").options, ",rw,nosuid,rw,vers=4.2,local_lock=none,");
  EXPECT_EQ(FindMount(kMounts, "0:99").type, "");
  EXPECT_NE(MountOf("/proc").type, "") << "of this machine";
}

TEST(FileSystem, SomeMountsKeepTheirLocksToThemselves) {
  const auto stay = [](const char* device) { return LocksStayHere(FindMount(kMounts, device)); };
  EXPECT_FALSE(stay("8:1"));
  EXPECT_FALSE(stay("0:50"));
  EXPECT_TRUE(stay("0:51"));
  EXPECT_TRUE(stay("0:52"));
  EXPECT_TRUE(stay("0:53"));
  EXPECT_FALSE(stay("0:99"));
}

}  // namespace
}  // namespace jobman::store

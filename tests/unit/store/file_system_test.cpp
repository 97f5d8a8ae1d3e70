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

}  // namespace
}  // namespace jobman::store

#include "store/file_system.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>

namespace jobman::store {
namespace {

TEST(FileSystem, NetworkAndClusterFileSystemsAreShared) {
  for (const std::uint64_t magic :
       {0x6969UL, 0x0BD00BD0UL, 0x47504653UL, 0x65735546UL, 0x517BUL, 0xFF534D42UL, 0xFE534D42UL})
    EXPECT_TRUE(ClassifyFileSystem(magic).shared) << std::hex << magic;
  EXPECT_EQ(ClassifyFileSystem(0x6969).name, "NFS");
  EXPECT_EQ(ClassifyFileSystem(0x0BD00BD0).name, "Lustre");
}

TEST(FileSystem, DiskFileSystemsAreLocal) {
  for (const std::int64_t magic :
       std::initializer_list<std::int64_t>{EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
                                           OVERLAYFS_SUPER_MAGIC, XFS_SUPER_MAGIC})
    EXPECT_FALSE(ClassifyFileSystem(static_cast<std::uint64_t>(magic)).shared) << std::hex << magic;
}

TEST(FileSystem, AFolderThatCannotBeAskedAboutCountsAsLocal) {
  EXPECT_FALSE(FileSystemOf("/nonexistent/folder").shared);
}

}  // namespace
}  // namespace jobman::store

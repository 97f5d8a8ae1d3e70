#include "store/file_system.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <iterator>

namespace jobman::store {
namespace {

constexpr std::uint64_t kShared[] = {
    0x6969,      // NFS
    0x0BD00BD0,  // Lustre
    0x47504653,  // GPFS
    0x65735546,  // FUSE
    0x517B,      // SMB
    0xFF534D42,  // CIFS
    0xFE534D42,  // SMB2
    0x00C36400,  // Ceph
    0x19830326,  // BeeGFS
    0x5346414F,  // AFS
    0xAAD7AAEA,  // PanFS
    0x01021997,  // 9P
    0x01161970,  // GFS2
    0x7461636F,  // OCFS2
    0x20030528,  // OrangeFS
};

}  // namespace

bool IsShared(std::uint64_t magic) {
  return std::find(std::begin(kShared), std::end(kShared), magic) != std::end(kShared);
}

bool IsOnSharedFileSystem(const base::Path& dir) {
  struct statfs info = {};
  if (statfs(dir.c_str(), &info) != 0) return false;
  // f_type is signed on some platforms; the magic numbers have 32 bits.
  return IsShared(static_cast<std::uint32_t>(info.f_type));
}

}  // namespace jobman::store

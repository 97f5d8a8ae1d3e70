#include "store/file_system.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "jobman/base/strings.hpp"

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

constexpr const char* kLocalLocks[] = {",nolock,", ",local_lock=all,", ",local_lock=posix,",
                                       ",localflock,", ",nobrl,"};

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

Mount FindMount(std::string_view mountinfo, std::string_view device) {
  Mount found;
  for (const std::string& line : base::Split(mountinfo, '\n')) {
    const std::vector<std::string> words = base::Split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    const bool whole = words.size() > 6 && words.end() - dash > 3;
    if (whole && words[2] == device)
      found = {.type = dash[1], .options = "," + words[5] + "," + dash[3] + ","};
  }
  return found;
}

Mount MountOf(const base::Path& dir) {
  struct stat info = {};
  const auto mounts = base::ReadFile("/proc/self/mountinfo");
  if (!mounts.ok() || stat(dir.c_str(), &info) != 0) return {};
  return FindMount(*mounts, fmt::format("{}:{}", major(info.st_dev), minor(info.st_dev)));
}

bool LocksStayHere(const Mount& mount) {
  // "fuse" alone: the program gives no name, as bindfs.
  for (const char* type : {"fuse.sshfs", "fuse.gcsfuse", "fuse.rclone", "fuse.s3fs", "fuse"})
    if (mount.type == type) return true;
  return std::any_of(std::begin(kLocalLocks), std::end(kLocalLocks),
                     [&](const char* option) { return base::Contains(mount.options, option); });
}

}  // namespace jobman::store

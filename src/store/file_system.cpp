#include "store/file_system.hpp"

#include <sys/vfs.h>

namespace jobman::store {
namespace {

struct Known {
  std::uint64_t magic = 0;
  std::string_view name = {};
};

constexpr Known kShared[] = {
    {0x6969, "NFS"},        {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},     {0x65735546, "FUSE"},
    {0x517B, "SMB"},        {0xFF534D42, "CIFS"},   {0xFE534D42, "SMB2"},     {0x00C36400, "Ceph"},
    {0x19830326, "BeeGFS"}, {0x5346414F, "AFS"},    {0xAAD7AAEA, "PanFS"},    {0x01021997, "9P"},
    {0x01161970, "GFS2"},   {0x7461636F, "OCFS2"},  {0x20030528, "OrangeFS"},
};

}  // namespace

FileSystem ClassifyFileSystem(std::uint64_t magic) {
  for (const Known& known : kShared)
    if (known.magic == magic) return {.shared = true, .name = known.name};
  return {};
}

FileSystem FileSystemOf(const base::Path& dir) {
  struct statfs info = {};
  if (statfs(dir.c_str(), &info) != 0) return {};
  // f_type is signed on some platforms; the magic numbers have 32 bits.
  return ClassifyFileSystem(static_cast<std::uint32_t>(info.f_type));
}

}  // namespace jobman::store

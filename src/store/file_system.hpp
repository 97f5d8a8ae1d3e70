#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jobman/base/files.hpp"

namespace jobman::store {

/// Whether several machines may use it, or shared memory does not work on it: no WAL there. By the
/// magic number from statfs(2) (linux/magic.h and the file systems' own sources). Source:
/// sqlite.org/wal.html, "All processes using a database must be on the same host".
bool IsShared(std::uint64_t magic);
/// Whether the folder `dir` is on such a file system; not if unknown.
bool IsOnSharedFileSystem(const base::Path& dir);

/// A line of /proc/self/mountinfo (proc(5)).
struct Mount {
  std::string type = {};     ///< "nfs4", "fuse.sshfs"; empty if it is not known
  std::string options = {};  ///< of the mount and of its file system, between commas
};
/// The last mount of the device "MAJOR:MINOR" in the text of mountinfo.
Mount FindMount(std::string_view mountinfo, std::string_view device);
/// Of the file system of the folder `dir`.
Mount MountOf(const base::Path& dir);

/// Whether one machine does not see the locks of another one, so that two that use the store at
/// once would damage it: NFS with nolock or local_lock, Lustre with localflock, CIFS with nobrl,
/// and FUSE programs without locks of their own. Source: nfs(5), mount.lustre(8), mount.cifs(8).
bool LocksStayHere(const Mount& mount);

}  // namespace jobman::store

#include "jobman/store/disk.hpp"

#include <sqlite3.h>

#include "store/file_system.hpp"

namespace jobman::store {

Disk LookAtDisk(const base::Path& dir) {
  const Mount mount = MountOf(dir);
  return {.type = mount.type,
          .shared = IsOnSharedFileSystem(dir),
          .locks_stay_here = LocksStayHere(mount)};
}

std::string SqliteVersion() {
  return sqlite3_libversion();
}

}  // namespace jobman::store

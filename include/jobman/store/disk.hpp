#pragma once

#include <string>

#include "jobman/base/files.hpp"

namespace jobman::store {

/// The file system of a store's folder.
struct Disk {
  std::string type = {};         ///< "ext4", "nfs4"; empty if it is not known
  bool shared = false;           ///< several machines may use it
  bool locks_stay_here = false;  ///< they do not see each other's locks, so only one may
};
Disk LookAtDisk(const base::Path& dir);

/// "3.40.1"
std::string SqliteVersion();

}  // namespace jobman::store

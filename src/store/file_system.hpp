#pragma once

#include <cstdint>
#include <string_view>

#include "jobman/base/files.hpp"

namespace jobman::store {

/// What the store needs to know about its file system.
struct FileSystem {
  /// Several machines may use it, or shared memory does not work on it: no WAL there. Source:
  /// sqlite.org/wal.html, "All processes using a database must be on the same host".
  bool shared = false;
  std::string_view name = "local";
};

/// By the magic number from statfs(2) (linux/magic.h and the file systems' own sources).
FileSystem ClassifyFileSystem(std::uint64_t magic);
/// Of the folder `dir`; local if unknown.
FileSystem FileSystemOf(const base::Path& dir);

}  // namespace jobman::store

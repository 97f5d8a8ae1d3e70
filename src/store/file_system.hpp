#pragma once

#include <cstdint>
#include <string_view>

#include "jobman/base/files.hpp"

namespace jobman::store {

/// What the store has to know of the file system it lies on.
struct FileSystem {
  /// Several machines may see it, or shared memory does not work on it: no WAL there.
  /// Source: sqlite.org/wal.html, "All processes using a database must be on the same host".
  bool shared = false;
  std::string_view name = "local";
};

/// By the number that statfs(2) gives (linux/magic.h and the file systems' own sources).
FileSystem ClassifyFileSystem(std::uint64_t magic);
/// Of the folder `dir`; local when it cannot be told.
FileSystem FileSystemOf(const base::Path& dir);

}  // namespace jobman::store

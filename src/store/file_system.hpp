#pragma once

#include <cstdint>

#include "jobman/base/files.hpp"

namespace jobman::store {

/// Whether several machines may use it, or shared memory does not work on it: no WAL there. By the
/// magic number from statfs(2) (linux/magic.h and the file systems' own sources). Source:
/// sqlite.org/wal.html, "All processes using a database must be on the same host".
bool IsShared(std::uint64_t magic);
/// Whether the folder `dir` is on such a file system; not if unknown.
bool IsOnSharedFileSystem(const base::Path& dir);

}  // namespace jobman::store

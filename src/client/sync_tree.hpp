#pragma once

#include <sys/stat.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/sync_list.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/task.hpp"

namespace jobman::client {

/// Tells whether a file is still the one that was read.
struct FileStamp {
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  ///< in nanoseconds
  std::int64_t changed = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp StampOf(const struct stat& info);

/// A folder of this machine as `sync` sends it.
struct SyncTree {
  base::Path folder = {};
  SyncEntries entries = {};
  std::map<std::string, FileStamp> stamps = {};  ///< of the files
  std::int64_t files = 0;                        ///< files and links
  std::vector<std::string> notes = {};
};

/// Reads what git does not ignore of a folder, without what the patterns exclude, and hashes it.
/// `kept` is a file that remembers the hashes of files that do not change. `scratch` is a folder
/// for git's own files. `on_read` is told how many bytes have been read so far. Errors: those of
/// FindCodeFiles(); kInvalidArgument for what is no folder.
base::Task<base::Result<SyncTree>> ReadSyncTree(base::Path folder, std::vector<std::string> exclude,
                                                base::Path scratch, base::Path kept,
                                                std::function<void(std::int64_t)> on_read);

}  // namespace jobman::client

#pragma once

#include <optional>
#include <set>
#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/handle.hpp"

namespace jobman::base {

/// Tells which files of a folder were made or written to, by inotify(7), so that a thousand of them
/// need not be looked at. What other machines write to a file server is not seen. Never blocks.
class FolderWatch {
 public:
  /// One that never knows if the folder is not there, or the user has no watch left (each takes one
  /// of fs.inotify.max_user_instances).
  explicit FolderWatch(const Path& folder);
  FolderWatch(FolderWatch&&) = default;
  FolderWatch& operator=(FolderWatch&&) = default;

  /// The names since the last call, or since the watch was made. Nothing if they are not known:
  /// more happened than the kernel keeps, the folder was moved or removed, or there is no watch.
  std::optional<std::set<std::string>> Changed();

 private:
  UniqueFd inotify_ = {};
};

}  // namespace jobman::base

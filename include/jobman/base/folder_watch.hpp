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
  /// Each takes one of fs.inotify.max_user_instances, which the user's other programs need, too.
  static constexpr int kMostOfAProcess = 16;

  /// One that never knows if the folder is not there, the process has all it may have, or the user
  /// has none left.
  explicit FolderWatch(const Path& folder);
  ~FolderWatch();
  FolderWatch(FolderWatch&&) = default;
  FolderWatch& operator=(FolderWatch&&) = delete;

  /// Names of files.
  struct Names {
    std::set<std::string> made = {};
    std::set<std::string> written = {};
  };
  /// Since the last call, or since the watch was made. Nothing if it is not known: more happened
  /// than the kernel keeps, the folder was moved or removed, or there is no watch.
  std::optional<Names> Changed();

 private:
  UniqueFd inotify_ = {};
};

}  // namespace jobman::base

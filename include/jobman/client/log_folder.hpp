#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "jobman/base/folder_watch.hpp"
#include "jobman/client/log_files.hpp"

namespace jobman::client {

/// A log, and how far it has been read.
struct LogPlace {
  LogFile file = {};
  std::int64_t offset = 0;
  bool may_have_grown = true;  ///< since it was last seen to have no more
};

/// The logs of one stage while they grow. Holds none of them open, however many there are; reads
/// the folder again, and looks at a log, only when it may have changed.
class LogFolder {
 public:
  /// How the folder is looked at.
  struct Look {
    bool sure = false;    ///< a watch is not believed this time
    bool watched = true;  ///< a watch is worth one of the few
  };
  /// Finds out which logs may have grown, and returns whether there may be new ones. If there are
  /// many, a watch tells mostly. It sees nothing that another machine writes to a file server, so
  /// it is not believed for long.
  bool MayHaveChanged(const base::Path& folder, Look look);
  /// Takes the logs that are new, ascending by host as `present` is. `begin_at` says where each
  /// begins.
  void Add(const std::vector<LogFile>& present,
           const std::function<std::int64_t(const base::Path& path)>& begin_at);
  /// By host.
  std::vector<LogPlace>& logs() { return logs_; }

 private:
  bool TimeMayHaveChanged(const base::Path& folder, int looks);
  bool TakeChanged(const base::FolderWatch::Names& names);

  std::vector<LogPlace> logs_ = {};
  std::optional<base::FolderWatch> watch_ = {};
  int watched_looks_ = 0;  ///< that believed the watch, one after the other
  std::optional<std::filesystem::file_time_type> changed_at_ = {};
  int looks_ = 0;         ///< since then
  int unread_looks_ = 0;  ///< since the folder was read again
};

}  // namespace jobman::client

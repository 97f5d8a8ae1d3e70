#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "jobman/client/log_files.hpp"

namespace jobman::client {

/// A log, and how far it has been read.
struct LogPlace {
  LogFile file = {};
  std::int64_t offset = 0;
};

/// The logs of one stage while they grow. Holds no file open, however many there are, and reads the
/// folder again only when it may have changed.
class LogFolder {
 public:
  /// Whether the folder may have got a log since the last call, which one look at its time tells
  /// mostly. That time is coarse, so it is believed only once it has been the same for a while; and
  /// never for long, since a file server may keep an old one.
  bool MayHaveChanged(const base::Path& folder);
  /// Takes the logs that are new, ascending by host as `present` is. `begin_at` says where each
  /// begins.
  void Add(const std::vector<LogFile>& present,
           const std::function<std::int64_t(const base::Path& path)>& begin_at);
  /// By host.
  std::vector<LogPlace>& logs() { return logs_; }

 private:
  std::vector<LogPlace> logs_ = {};
  std::optional<std::filesystem::file_time_type> changed_at_ = {};
  int looks_ = 0;  ///< since then
};

}  // namespace jobman::client

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/core/task_list.hpp"

namespace jobman::ports {

/// Changes when a file is written or replaced.
struct QueueFileStamp {
  std::int64_t modified_ns = 0;  ///< nanoseconds since the epoch
  std::int64_t size = 0;         ///< bytes
  std::uint64_t inode = 0;
  friend bool operator==(const QueueFileStamp&, const QueueFileStamp&) = default;
};

/// What a queue file says.
struct QueueFileContent {
  std::optional<core::TaskList> list = {};  ///< nothing: the file as a whole is of no use
  std::string error = {};                   ///< and why, in one line
  std::vector<std::string> warnings = {};   ///< one line each
  std::string fingerprint = {};             ///< base::Sha256Hex of the text
};

/// The files that workers take their tasks from. Must outlive its coroutines.
class QueueFiles {
 public:
  virtual ~QueueFiles() = default;
  /// Cheap enough to call each second. The error is a sentence that names the file.
  virtual base::Result<QueueFileStamp> Look(const std::string& path) = 0;
  /// Takes up to some seconds; the loop goes on meanwhile. An error says nothing of the file: it
  /// could not be read now, and should be tried again.
  virtual base::Task<base::Result<QueueFileContent>> Read(std::string path) = 0;
};

}  // namespace jobman::ports

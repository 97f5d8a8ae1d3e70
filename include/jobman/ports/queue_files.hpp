#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/core/task_list.hpp"

namespace jobman::ports {

/// Two equal stamps of a path: the file there was not written in between, as far as its file system
/// tells (stat(2)).
struct QueueFileStamp {
  std::int64_t modified = 0;  ///< nanoseconds since the epoch
  std::int64_t size = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const QueueFileStamp&, const QueueFileStamp&) = default;
};

/// What a queue file says now.
struct QueueFileContent {
  /// Nothing: the file as a whole is of no use, see `error`.
  std::optional<core::TaskList> list = {};
  std::string error = {};                  ///< one line: file, place and cause
  std::vector<std::string> warnings = {};  ///< one line each
  std::string fingerprint = {};            ///< of the text; empty if it could not be read
};

/// Queue files on this machine. The object must outlive its coroutines.
class QueueFiles {
 public:
  virtual ~QueueFiles() = default;

  /// Nothing when there is no such file. Does not read it.
  virtual std::optional<QueueFileStamp> Look(const std::string& file) = 0;
  /// Reads and checks the file. May take a second; the loop goes on meanwhile.
  virtual base::Task<QueueFileContent> Read(std::string file) = 0;
};

}  // namespace jobman::ports

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

/// Queue files on this machine. Its disk may hang: a call may take for ever, the loop goes on
/// meanwhile, and a call that is cancelled is not waited for. The object must outlive its
/// coroutines.
class QueueFiles {
 public:
  virtual ~QueueFiles() = default;

  /// Nothing when there is no such file. Does not read it.
  virtual base::Task<std::optional<QueueFileStamp>> Look(std::string file) = 0;
  /// Reads and checks the file.
  virtual base::Task<QueueFileContent> Read(std::string file) = 0;
};

}  // namespace jobman::ports

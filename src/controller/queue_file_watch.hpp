#pragma once

#include <optional>
#include <string>

#include "controller/queue_records.hpp"
#include "jobman/ports/queue_files.hpp"

namespace jobman::controller {

/// Sees changes of a queue file, and has them recorded. What is wrong with the file is logged once
/// per change; its last good content goes on.
class QueueFileWatch {
 public:
  QueueFileWatch(const Ports& ports, QueueRecords& records) : ports_(ports), records_(records) {}

  /// Looks at the file, and reads it if it is not as it was. One call at a time. Whether anything
  /// was recorded. After an error, the next call reads it again.
  base::Task<base::Result<bool>> Look();

 private:
  struct Seen {
    std::optional<ports::QueueFileStamp> stamp = {};
    std::string error = {};  ///< why it could not be looked at
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  void Tell(const ports::QueueReading& reading, std::size_t written) const;

  const Ports& ports_;
  QueueRecords& records_;
  std::optional<Seen> seen_ = {};
};

}  // namespace jobman::controller

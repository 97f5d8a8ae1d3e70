#pragma once

#include <optional>
#include <string>

#include "jobman/base/handle.hpp"
#include "jobman/client/background_forward.hpp"

namespace jobman::client {

/// The content of a record's file: what forwards, or why nothing does any more.
struct ForwardNote {
  BackgroundForward forward = {};
  std::optional<base::Error> error = {};  ///< it could not begin
  std::string ended = {};                 ///< the job is over
};

/// "ID.json", and its logs beside it.
base::Path ForwardFile(const base::StatePaths& paths, const std::string& id);
/// As the process of the record `id` left it. Nothing if it has not been written yet, or damaged.
std::optional<ForwardNote> ReadForwardNote(const base::StatePaths& paths, const std::string& id);
/// Whether a process holds the lock of the record; empty if there is no such file.
std::optional<bool> IsForwardLocked(const base::StatePaths& paths, const std::string& id);
/// Removes the file and its logs.
void RemoveForward(const base::StatePaths& paths, const std::string& id);

/// The record of this process, which holds its lock as long as the object lives.
class ForwardRecord {
 public:
  /// Creates and locks it. kAborted if another process holds it.
  static base::Result<ForwardRecord> Create(const base::StatePaths& paths, const std::string& id);
  base::Status Write(const ForwardNote& note);
  /// False when somebody has removed the file: with the whole home folder, for instance.
  bool IsThere() const;

 private:
  ForwardRecord(base::UniqueFd fd, base::Path path) : fd_(std::move(fd)), path_(std::move(path)) {}
  base::UniqueFd fd_;
  base::Path path_;
};

}  // namespace jobman::client

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/files.hpp"

namespace jobman::base {

/// The part of a capped file that is gone: from `begin` to before `end`.
struct FileGap {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  friend bool operator==(const FileGap&, const FileGap&) = default;
};
/// The gap of the file `path`, if it has one: recorded beside it, as "<path>.gap".
std::optional<FileGap> ReadGap(const Path& path);

/// An AppendFile that takes no more disk than `most` bytes, but for blocks at the edges of its gap:
/// before it becomes longer, its middle is given back to the file system (a hole). The first half
/// of `most` stays, and of the latest half at least three quarters. Positions do not change: size()
/// counts every byte that was appended.
///
/// Where the file system has no holes the file grows; a line in the log says so.
class CappedFile {
 public:
  static Result<CappedFile> Open(const Path& path, std::int64_t most);
  Status Append(std::string_view bytes);
  /// The source of the file has lost this part: what is appended next comes after it. The file has
  /// one gap, so what lies between the two is given back.
  Status Skip(FileGap lost);
  std::int64_t size() const { return file_.size(); }
  const std::string& path() const { return file_.path(); }

 private:
  CappedFile(AppendFile file, std::int64_t most);
  Status Drop(std::int64_t end);

  AppendFile file_;
  std::int64_t half_;
  std::int64_t least_;  ///< of the end that stays
  FileGap gap_ = {};    ///< its begin is fixed
  bool holes_ = true;
};

}  // namespace jobman::base

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/files.hpp"

namespace jobman::base {

/// The output of many writers, kept in one unlinked file, so that memory does not grow with it: a
/// few KiB per writer, and a position for each piece on disk.
class Spill {
 public:
  /// The file is in `folder`, readable by this user only, and gone with the object or the process.
  static Result<Spill> Open(const Path& folder);
  Status Append(int writer, std::string_view bytes);
  /// Passes on all that `writer` appended, in pieces; an error of `take` ends it.
  Status Read(int writer, const std::function<Status(std::string_view)>& take) const;

 private:
  struct Extent {
    std::int64_t offset = 0;
    std::int64_t size = 0;
  };
  struct Written {
    std::vector<Extent> extents = {};
    std::string pending = {};  ///< not on disk yet
  };
  Spill(UniqueFd fd, Path folder) : fd_(std::move(fd)), folder_(std::move(folder)) {}
  Status Flush(Written& written);
  Status ReadExtent(Extent extent, const std::function<Status(std::string_view)>& take) const;

  UniqueFd fd_;
  Path folder_;
  std::int64_t end_ = 0;
  std::map<int, Written> written_ = {};
};

}  // namespace jobman::base

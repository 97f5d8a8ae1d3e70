#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "jobman/base/handle.hpp"
#include "jobman/base/result.hpp"

namespace jobman::base {

using Path = std::filesystem::path;

/// Longest file that jobman reads whole; a device may have no end.
inline constexpr std::size_t kLongestFile = std::size_t{64} << 20;
/// The whole file; kInvalidArgument when it is longer than `most` bytes.
Result<std::string> ReadFile(const Path& path, std::size_t most = kLongestFile);
/// Like ReadFile(), for regular files only: a pipe can be read once, and may block for ever.
Result<std::string> ReadRegularFile(const Path& path, std::size_t most = kLongestFile);
/// Writes a sibling, syncs it and renames it over `path`: readers see the old file or the new one.
Status WriteFileAtomic(const Path& path, std::string_view content, mode_t mode = 0600);
/// Creates `path` and its missing parents with `mode`; an existing folder is left as it is.
Status EnsureDir(const Path& path, mode_t mode = 0700);
/// Replaces a leading "~" by $HOME, else by the home folder in the password database.
Path ExpandHome(std::string_view path);
/// The absolute path without links, as far as it exists; if that cannot be found out, the absolute
/// path without "." and "..". One file has one such path.
Path RealPath(const Path& path);
/// $HOME, else the password database, else empty.
Path HomeDir();
/// The login name: from the password database, else $USER, else "uid-<n>". $USER comes second, as
/// it may still name another account, after sudo for one.
std::string UserName();
std::optional<std::int64_t> FileSize(const Path& path);
Status RemoveAll(const Path& path);
/// Bytes that this user may still write on the disk of `path`; nothing if that is not known.
std::optional<std::int64_t> FreeSpace(const Path& path);
/// The running program, by /proc/self/exe.
Path SelfExe();

/// A file opened for appending, O_CLOEXEC. Each piece is written at a fixed offset after the size
/// at opening, so two processes that write the same bytes (two controllers following one run) do no
/// harm. Append() writes everything or says why not (disk full, ...).
class AppendFile {
 public:
  static Result<AppendFile> Open(const Path& path, mode_t mode = 0600);
  Status Append(std::string_view bytes);
  /// Makes the file `size` bytes long if it is shorter; what is added reads as zeros and takes no
  /// disk.
  Status Extend(std::int64_t size);
  std::int64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  AppendFile(UniqueFd fd, const Path& path, std::int64_t size)
      : fd_(std::move(fd)), path_(path.string()), size_(size) {}
  UniqueFd fd_;
  std::string path_;  ///< a Path keeps its parts, too: half a kilobyte, for each log of a pod
  std::int64_t size_ = 0;
};

}  // namespace jobman::base

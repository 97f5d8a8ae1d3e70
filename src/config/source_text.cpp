#include "config/source_text.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <cerrno>
#include <filesystem>

#include "config/yaml_reader.hpp"

namespace jobman::config {
namespace {

bool IsNullDevice(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3);
}

/// A pipe without a name, such as <(...) or /dev/stdin: its writer is there. To open a FIFO is to
/// wait for one.
bool IsOpenPipe(const base::Path& file, const struct stat& info) {
  struct statfs system {};
  return S_ISFIFO(info.st_mode) && ::statfs(file.c_str(), &system) == 0 &&
         system.f_type == PIPEFS_MAGIC;
}

/// Refuses what may block for ever, before it is opened.
base::Status CheckKind(const base::Path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return base::FromErrno(errno, "opening " + file.string());
  if (S_ISDIR(info.st_mode)) return base::InvalidArgument("is a folder", "name a job file in it");
  if (S_ISREG(info.st_mode) || IsNullDevice(info) || IsOpenPipe(file, info)) return base::Ok();
  return base::InvalidArgument(S_ISFIFO(info.st_mode)
                                   ? "is a FIFO, which is not read: it may have no writer"
                               : S_ISSOCK(info.st_mode) ? "is a socket"
                                                        : "is a device",
                               "name a file");
}

}  // namespace

base::Result<std::string> ReadSourceText(const base::Path& file) {
  std::error_code problem;
  if (!std::filesystem::exists(file, problem)) return base::NotFound("no such file");
  JM_TRY(CheckKind(file));
  auto text = base::ReadFile(file, kLargestFile);
  if (text.ok() || text.error().code != base::Code::kInvalidArgument) return text;
  return base::InvalidArgument("larger than 1 MiB, the limit for a job file",
                               "keep scripts and data in separate files and name them here");
}

}  // namespace jobman::config

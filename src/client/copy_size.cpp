#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "client/copy_parts.hpp"

namespace jobman::client {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kHeaders = 1536;         // of tar, with its times
constexpr std::int64_t kMostCounted = 200'000;  // files, within a second or so

/// What one entry takes in an archive; holes of files take nothing.
std::int64_t EntrySize(const fs::path& path) {
  struct stat facts = {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return kHeaders;
  return kHeaders + std::min<std::int64_t>(facts.st_size, std::int64_t{512} * facts.st_blocks);
}

}  // namespace

std::int64_t ArchiveSize(const std::vector<std::string>& sources) {
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  for (const std::string& source : sources) {
    bytes += EntrySize(source);
    std::error_code failed;
    if (!fs::is_directory(fs::symlink_status(source, failed))) continue;
    for (fs::recursive_directory_iterator one(source, failed), end; !failed && one != end;
         one.increment(failed)) {
      bytes += EntrySize(one->path());
      if (++count > kMostCounted) return 0;
    }
  }
  return bytes;
}

}  // namespace jobman::client

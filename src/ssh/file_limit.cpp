#include "jobman/ssh/file_limit.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace jobman::ssh {
namespace {

constexpr std::int64_t kFilesPerHost = 3;
constexpr std::int64_t kOtherFiles = 64;
constexpr std::int64_t kMostFiles = std::int64_t{1} << 30;  ///< also for "unlimited"

rlimit OpenFilesLimit() {
  rlimit limit = {};
  // Fails only for a bad argument.
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit = {RLIM_INFINITY, RLIM_INFINITY};
  return limit;
}

}  // namespace

int HostsWithin(std::int64_t limit) {
  const std::int64_t files = std::clamp<std::int64_t>(limit, 0, kMostFiles);
  const std::int64_t others = std::min(kOtherFiles, files / 2);
  return static_cast<int>(std::max<std::int64_t>(1, (files - others) / kFilesPerHost));
}

std::int64_t FileLimit() {
  const rlim_t now = OpenFilesLimit().rlim_cur;
  return static_cast<std::int64_t>(std::min<rlim_t>(now, kMostFiles));
}

std::int64_t RaiseFileLimit() {
  rlimit limit = OpenFilesLimit();
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return FileLimit();
}

int HostsAtOnce(int wanted) {
  const int most = HostsWithin(FileLimit());
  return wanted > 0 ? std::min(wanted, most) : most;
}

}  // namespace jobman::ssh

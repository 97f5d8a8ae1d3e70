#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>

#include "jobman/base/files.hpp"
#include "jobman/base/time.hpp"

namespace jobman::test {

/// As if the file had been written to last at that time.
inline void SetModified(const base::Path& path, base::TimePoint at) {
  const auto second = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
  const std::array<timespec, 2> times = {
      {{.tv_sec = second, .tv_nsec = 0}, {.tv_sec = second, .tv_nsec = 0}}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
}

}  // namespace jobman::test

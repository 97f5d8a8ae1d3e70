#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/random.hpp"

namespace jobman::test {

/// A temporary folder, removed with its content at the end of the test.
class TempDir {
 public:
  TempDir() : path_(base::Path(::testing::TempDir()) / ("jobman-" + base::RandomHex(6))) {
    std::filesystem::create_directories(path_);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const base::Path& path() const { return path_; }
  base::Path operator/(const std::string& name) const { return path_ / name; }

 private:
  base::Path path_;
};

}  // namespace jobman::test
